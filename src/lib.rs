//! egress-lint: what Istio egress will do, before it is applied.

pub mod baseline;
pub mod calls;
pub mod cli;
pub mod config;
pub mod diag;
pub mod egress;
pub mod engine;
pub mod fix;
pub mod istio;
pub mod manifest;
pub mod output;
pub mod rules;
pub mod source;
pub mod suppress;
pub mod world;
pub mod yaml;
