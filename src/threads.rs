//! What all threads of the program share: how they lock, and where work goes
//! that nobody waits for at the keyboard.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// How many threads look after files.
const BACKGROUND_THREADS: usize = 2;

/// Few threads of their own, so that a search, which has all of rayon's
/// others, never queues behind a disk. `None` where the system gives none.
static BACKGROUND: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    ThreadPoolBuilder::new()
        .num_threads(BACKGROUND_THREADS)
        .thread_name(|at| format!("background-{at}"))
        .build()
        .ok()
});

/// Runs parallel work on the background threads and waits for it. The work
/// must take no lock: while it waits for a part of itself, its thread may take
/// up other work of this kind.
pub(crate) fn in_background<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match &*BACKGROUND {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Has the background threads do one thing while this thread does another, and
/// waits for both. What this thread does must not wait for the background
/// threads.
pub(crate) fn beside_background<T: Send + Default, U>(
    work: impl FnOnce() -> T + Send,
    here: impl FnOnce() -> U,
) -> (T, U) {
    let Some(pool) = &*BACKGROUND else {
        return (work(), here());
    };
    let mut made = T::default();
    let done = pool.in_place_scope(|scope| {
        scope.spawn(|_| made = work());
        here()
    });
    (made, done)
}

/// Locks, whatever became of a thread that held it: what locks guard here is
/// whole between any two statements.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn background_work_has_threads_of_its_own() {
        let name = || std::thread::current().name().map(str::to_owned);
        let name = in_background(name).unwrap_or_default();
        assert!(name.starts_with("background"), "{name:?}");
        assert_eq!(
            in_background(rayon::current_num_threads),
            BACKGROUND_THREADS
        );
    }

    #[test]
    fn work_here_goes_on_while_the_background_is_busy() {
        let (tell, told) = std::sync::mpsc::channel();
        // Neither could end if one waited for the other.
        let (there, here) = beside_background(
            move || told.recv().unwrap_or_default(),
            move || tell.send("from here"),
        );
        assert_eq!((there, here), ("from here", Ok(())));
    }
}
