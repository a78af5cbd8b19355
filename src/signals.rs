//! The signals that end what is under way, as far as whoever started the
//! program lets them.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits for signals that end what is under way.
pub(crate) struct Ends(Vec<(i32, Signal)>);

impl Ends {
    /// Listens to these from now on. One that the program was started to ignore,
    /// as by `nohup`, stays ignored. Must be called within tokio.
    ///
    /// # Errors
    /// When the system lets nobody listen.
    pub(crate) fn listen(kinds: &[SignalKind]) -> io::Result<Self> {
        let ignored = ignored();
        let heard = kinds
            .iter()
            .map(SignalKind::as_raw_value)
            .filter(|number| !holds(ignored, *number));
        let listen = |number| Ok((number, signal(SignalKind::from_raw(number))?));
        heard.map(listen).collect::<io::Result<_>>().map(Self)
    }

    /// Waits for one of them, and gives its number.
    pub(crate) async fn recv(&mut self) -> i32 {
        poll_fn(|context| {
            for (number, signal) in &mut self.0 {
                if signal.poll_recv(context).is_ready() {
                    return Poll::Ready(*number);
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// The signals that are ignored now, a bit each; none where the system does not
/// tell, which Linux alone does.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status");
    status.map_or(0, |status| ignored_in(&status))
}

fn ignored_in(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or_default()
}

/// Whether the signal of this number is among these.
fn holds(signals: u64, number: i32) -> bool {
    let bit = u32::try_from(number).ok().and_then(|n| n.checked_sub(1));
    let bit = bit.and_then(|bit| 1_u64.checked_shl(bit));
    bit.is_some_and(|bit| signals & bit != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_read_from_the_systems_words() {
        let status = "Name:\tibid\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\n";
        let ignored = ignored_in(status);
        let held: Vec<i32> = (0..=65).filter(|n| holds(ignored, *n)).collect();
        assert_eq!(held, [1, 13]);
    }

    #[test]
    fn where_nothing_is_told_nothing_is_ignored() {
        for status in ["", "SigIgn:\n", "SigIgn:\tnone\n"] {
            assert_eq!(ignored_in(status), 0, "{status:?}");
        }
    }
}
