//! Naming a session that is not open.

use std::sync::Mutex;

use super::sessions::{Slot, note};
use super::{Done, Runtime, Services, failure};
use crate::chat::Notice;
use crate::library::Library;
use crate::session::{Millis, NewEvent, SessionId, Title, TitleSource};
use crate::store::{Home, SessionWriter, StoreError};

impl Runtime {
    /// Gives a session that is not open here a title. Nobody else may have it
    /// open either.
    pub(super) fn rename(&self, id: SessionId, title: String) {
        let Services { home, library, .. } = self.services.clone();
        let done = self.done.clone();
        self.in_order.run(move || {
            let told = match rename(&home, &library, &id, &title) {
                Ok(title) => Notice::Info(format!("renamed to \u{201c}{title}\u{201d}")),
                Err(error) => Notice::Failed(failure(error.code(), error)),
            };
            let _ = done.blocking_send(Done::Notice(told));
            let _ = done.blocking_send(Done::LibraryChanged);
        });
    }
}

/// Writes a title that a person chose to a stored session. Gives it as it
/// stands there.
fn rename(
    home: &Home,
    library: &Library,
    id: &SessionId,
    title: &str,
) -> Result<String, StoreError> {
    let (mut writer, _) = SessionWriter::open(home, id)?;
    let named = Title::event(title, TitleSource::Person);
    writer.append(NewEvent::plain(Millis::now(), named))?;
    let title = writer.session().display_title().unwrap_or_default();
    note(library, home, &Mutex::new(Slot::Stored(Box::new(writer))));
    Ok(title)
}
