//! Reading in tests: whatever is read, its capture must be that of the whole.

use std::path::Path;

use super::{ForeignCapture, ForeignSession, SourceError, detect};
use crate::reference::projection::capture;

/// Reads the session in a file, in both ways.
pub(super) fn read_file(path: &Path) -> Result<ForeignSession, SourceError> {
    agreed(detect::read_file(path), detect::capture_file(path))
}

/// The whole session, of which the capture must be the same as what was
/// captured at once.
pub(super) fn agreed(
    whole: Result<ForeignSession, SourceError>,
    captured: Result<ForeignCapture, SourceError>,
) -> Result<ForeignSession, SourceError> {
    match (&whole, captured) {
        (Ok(whole), Ok(captured)) => {
            assert_eq!(captured.session.capture, capture(&whole.session));
            assert_eq!(captured.session.title.as_ref(), whole.session.title());
            assert_eq!(captured.tool, whole.tool);
            assert_eq!(captured.is_subagent, whole.is_subagent);
            assert_eq!(captured.notices, whole.notices);
        }
        (Err(whole), Err(captured)) => assert_eq!(captured.to_string(), whole.to_string()),
        (whole, captured) => panic!("read {whole:?}, captured {captured:?}"),
    }
    whole
}
