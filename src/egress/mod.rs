//! Resolves one world into the effective model, each value traced to the lines that made it so.

pub mod client;
pub mod effective;
pub mod facts;
pub mod forecast;
pub mod host;
pub mod http_match;
pub mod http_rule;
pub mod namespace;
pub mod protocol;
pub mod registry;
pub mod scope;
pub mod service;
pub mod settings;
pub mod sidecar;
pub mod virtual_service;
pub mod visibility;
