//! Decodes trees into typed resources, reporting wrong shapes and what admission would refuse.

mod admission;
mod alike;
mod api;
pub mod decode;
pub mod envoy_filter;
pub mod gateway_api;
pub mod mesh;
pub mod placeholder;
pub mod proxy;
mod read;
pub mod resource;
pub mod route;
mod schema;
pub mod service;
pub mod traffic;
pub mod value;
pub mod version;
mod wording;
pub mod workload_group;

pub use decode::{Items, List, Map, Rare};
pub use mesh::MeshConfig;
pub use placeholder::touches;
pub use read::{Decoded, Reader, check_patch, follows_from, read};
pub use resource::{INJECT, Meta, Misspelt, Namespace, Object, Resource, Spec};
pub use value::{Duration, IntOrString};
pub use version::IstioVersion;
