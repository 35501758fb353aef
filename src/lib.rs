//! egress-lint: what Istio egress will do, before it is applied.

pub mod config;
pub mod diag;
pub mod egress;
pub mod output;
pub mod source;
