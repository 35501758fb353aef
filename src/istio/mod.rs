//! Decodes trees into typed resources, reporting wrong shapes and what admission would refuse.

mod admission;
pub mod decode;
pub mod envoy_filter;
pub mod mesh;
mod nearest;
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
pub mod workload_group;

pub use decode::{Items, List, Map};
pub use mesh::MeshConfig;
pub use read::{Decoded, read};
pub use resource::{Meta, Namespace, Resource, Spec};
pub use value::{Duration, IntOrString};
pub use version::IstioVersion;
