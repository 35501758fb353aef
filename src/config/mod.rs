//! Finds and validates `egress-lint.yaml`, keeping spans, without knowing which rules exist.

pub mod annotations;
mod builtin;
mod deserialize;
mod duration;
mod facts;
mod file;
mod globs;
mod hosts;
mod load;
mod mesh;
mod place;
mod read;
mod schema;
mod settings;
mod value;
mod worlds;

pub use deserialize::{ReadError, read};
pub use facts::{Class, Fact, HostFacts, Origin};
pub use globs::PathGlobs;
pub use hosts::Hosts;
pub use load::{Choice, Loaded, load};
pub use mesh::MeshSource;
pub use place::Place;
pub use read::{Parsed, document, parse};
pub use schema::schema;
pub use settings::{Config, FailOn, Level, RuleSettings, WorldGlobs};
pub use value::{Value, ValueKind};
pub use worlds::unmatched;

/// The rule of every diagnostic about the configuration and about facts in annotations.
pub const RULE: &str = "config";
