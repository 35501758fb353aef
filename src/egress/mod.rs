//! Resolves one world into the effective model, each value traced to the lines that made it so.

pub mod client;
pub mod cluster;
mod connection_pool;
pub mod destination_rule;
pub mod effective;
pub mod endpoint;
pub mod facts;
pub mod forecast;
pub mod host;
pub mod http_match;
pub mod http_rule;
mod load_balancer;
mod locality;
pub mod mesh;
pub mod model;
pub mod namespace;
mod outlier;
pub mod policy;
pub mod protocol;
pub mod registry;
pub mod scope;
pub mod service;
pub mod settings;
pub mod sidecar;
mod tls;
pub mod virtual_service;
pub mod visibility;
