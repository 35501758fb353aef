//! Turns text into a tree whose every node has a byte span, as Kubernetes reads it.
//!
//! Kubernetes cuts a file into documents by its lines ([`split()`]), reads each with go-yaml v2 and turns it into JSON.
//! Where that differs from the YAML specification, Kubernetes is right here.

mod arena;
mod build;
mod bytes;
pub mod change;
pub mod debug;
mod embedded;
mod fault;
mod gap;
mod json;
mod map;
mod node;
mod place;
mod prepare;
mod scalar;
mod split;
mod stream;
mod tag;
mod tree;
mod value;
mod written;

pub use embedded::embedded;
pub use fault::{Notice, NoticeKind, SyntaxError};
pub use node::{Entries, Entry, Items, Kind, Node};
pub use place::Place;
pub use scalar::Scalar;
pub use split::{Chunk, split};
pub use tree::{Comment, Document, Style, Tree};
pub use value::Value;
