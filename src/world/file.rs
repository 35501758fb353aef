//! One file of a tree, decoded.

use super::mesh::FoundMesh;
use crate::istio::Resource;
use crate::manifest::Kinds;
use crate::source::FileId;

/// What a file brings into a cluster. Patches, fragments and templates bring nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    pub id: FileId,
    /// Where it lies, so that paths can part: [`crate::manifest::place`].
    pub place: String,
    /// Their namespaces have been assigned.
    pub resources: Vec<Resource>,
    pub meshes: Vec<FoundMesh>,
    /// What its templates would make.
    pub templates: Kinds,
    /// A part of it could not be read, so nobody can say that something is not in it.
    pub broken: bool,
}

impl File {
    /// Whether a world is another one without it.
    pub(super) fn brings_anything(&self) -> bool {
        self.broken
            || !self.resources.is_empty()
            || !self.meshes.is_empty()
            || !self.templates.is_empty()
    }
}
