//! Owns file contents and turns byte spans into lines, columns and snippets.

mod discover;
mod file;
mod prefilter;
mod read;
mod span;

pub use discover::{Discovery, Found, Input, Problem, Role, Search, shown_path};
pub use file::{SourceFile, Sources};
pub use prefilter::matters;
pub use read::{Content, LARGEST, ReadError, read, read_stream};
pub use span::{FileId, Position, Span, Spanned};
