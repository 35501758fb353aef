//! Finds and validates `egress-lint.yaml`, keeping spans, without knowing which rules exist.

pub mod annotations;
mod builtin;
mod duration;
mod facts;
mod globs;
mod hosts;
mod place;
mod settings;
mod value;

pub use facts::{Class, Fact, HostFacts, Origin};
pub use globs::PathGlobs;
pub use hosts::Hosts;
pub use place::Place;
pub use settings::{Config, FailOn, Level, MeshSource, RuleSettings, WorldGlobs};
pub use value::{Value, ValueKind};

/// The rule of every diagnostic about the configuration and about facts in annotations.
pub const RULE: &str = "config";
