//! Splits the resources into worlds (what one control plane of one cluster sees) and finds the mesh config of each.

mod duplicate;
mod file;
mod gather;
mod identity;
mod mesh;
mod name;
mod namespace;
mod plan;
mod revision;
mod rivals;
mod split;
mod worlds;

pub use file::File;
pub use mesh::{FoundMesh, Mesh, MeshOrigin, find_mesh};
pub use namespace::assign_namespaces;
pub use revision::assign_revisions;
pub use split::{NamedWorld, Options, split};
pub use worlds::{World, Worlds};
