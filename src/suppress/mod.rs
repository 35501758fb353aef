//! Decides which findings are silenced, by what, and which silencers did nothing.

mod comment;
mod names;
mod silencers;

pub use comment::{CommentSilencer, Comments, MARK, read_comments};
pub use silencers::{Rules, Silencers};

/// The rule of findings about silencers.
pub const RULE: &str = "unused-ignore";
