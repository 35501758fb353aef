//! Applies the edits of a report until nothing changes.

mod converge;
mod diff;
mod edits;
mod write;

pub use converge::{Fixed, MOST_ROUNDS, Seen, Texts, converge};
pub use diff::diff;
pub use edits::{Edited, apply};
pub use write::{WriteError, write};
