//! Resolves one world into the effective model, each value traced to the lines that made it so.

pub mod client;
pub mod facts;
pub mod host;
pub mod namespace;
pub mod protocol;
