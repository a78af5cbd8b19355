//! What is read once for many files.

use super::codex::Listings;
use super::database::Databases;

/// One round over many files. What several of them need is read once for all:
/// databases stay open, and the folders in which Codex keeps the beginnings of
/// its sessions are listed once. What is told is of the moment when it was first
/// asked, or later, so whoever needs the present begins another round.
#[derive(Default)]
pub struct Round {
    pub(super) databases: Databases,
    pub(super) listings: Listings,
}
