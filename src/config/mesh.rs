//! Where the MeshConfig of the configuration stands.

use crate::source::{FileId, Sources, Span, Spanned};
use crate::yaml::{Node, Tree};

/// Its text is kept among the sources, its tree is not: this module does not know what the fields mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeshSource {
    /// `mesh-config: mesh.yaml`, which has been read and is YAML.
    File { path: Spanned<String>, file: FileId },
    /// `mesh-config: {…}`: the map in the configuration.
    Inline { file: FileId, span: Span },
}

impl MeshSource {
    /// The file that it stands in.
    pub fn file(&self) -> FileId {
        match self {
            MeshSource::File { file, .. } | MeshSource::Inline { file, .. } => *file,
        }
    }

    /// Hands over the node of the map; `None` where the file holds nothing.
    pub fn read<T>(&self, sources: &Sources, read: impl FnOnce(Node<'_>) -> T) -> Option<T> {
        let file = self.file();
        let text = sources.get(file).text.as_str();
        let tree = Tree::parse(file, text);
        let root = tree.documents(text).next()?.root;
        match self {
            MeshSource::File { .. } => Some(read(root)),
            MeshSource::Inline { .. } => root.get("mesh-config").map(|entry| read(entry.value)),
        }
    }
}
