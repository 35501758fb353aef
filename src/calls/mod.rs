//! Reads calls, as `trace --calls` and egress tests spell them.

mod read;

pub use read::{read, read_call};
