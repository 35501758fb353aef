//! Owns file contents and turns byte spans into lines, columns and snippets.

mod file;
mod span;

pub use file::{SourceFile, Sources};
pub use span::{FileId, Position, Span, Spanned};
