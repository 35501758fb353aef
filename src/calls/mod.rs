//! Reads calls, as `trace --calls` and egress tests spell them.

mod read;
mod schema;

pub use read::{read, read_call};
pub use schema::schema;
