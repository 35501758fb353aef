//! The mesh configuration: where files carry it, and which one holds in a world.

use std::sync::LazyLock;

use crate::diag::{Diagnostic, Severity};
use crate::istio::mesh::MeshConfig;
use crate::manifest::{State, classify};
use crate::source::Span;
use crate::yaml::{Kind, Node, SyntaxError, embedded};

/// A mesh configuration that a file carries.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundMesh {
    pub config: MeshConfig,
    /// The map that holds its fields.
    pub span: Span,
    /// Values that something will be put in the place of.
    pub placeholders: Vec<Span>,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
}

impl FoundMesh {
    /// One that stands as text in a ConfigMap, and is no YAML.
    fn unreadable(fault: &SyntaxError) -> Self {
        let message = format!("the mesh configuration is not YAML: {}", fault.message);
        let mut finding = Diagnostic::new("yaml-syntax", Severity::Error, fault.span, message);
        finding.help = Some(IGNORED.into());
        Self {
            config: MeshConfig::default(),
            span: fault.span,
            placeholders: Vec::new(),
            diagnostics: vec![finding],
        }
    }

    /// Reads it from the map that holds its fields; `None` where the node is no map.
    pub fn read(node: Node<'_>) -> Option<Self> {
        let read = MeshConfig::read(node)?;
        Some(Self {
            config: read.config,
            span: node.span(),
            placeholders: read.placeholders,
            diagnostics: read.diagnostics,
        })
    }
}

/// What becomes of a mesh configuration that is no YAML. Source: `pkg/config/mesh/meshwatcher`.
const IGNORED: &str =
    "correct it: istiod ignores all of it, and keeps the one that it had, or Istio's defaults";

/// Where the mesh configuration of a world is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshOrigin {
    Lines(Span),
    /// Istio's defaults hold, and why.
    Default(&'static str),
}

/// The mesh configuration that holds in a world.
#[derive(Clone, Copy, Debug)]
pub struct Mesh<'a> {
    pub config: &'a MeshConfig,
    pub origin: MeshOrigin,
}

impl std::ops::Deref for Mesh<'_> {
    type Target = MeshConfig;

    fn deref(&self) -> &MeshConfig {
        self.config
    }
}

static DEFAULT: LazyLock<MeshConfig> = LazyLock::new(MeshConfig::default);

const NONE: &str = "no mesh configuration is among the files, so Istio's defaults hold";
const SEVERAL: &str =
    "several mesh configurations are among the files and none is the one, so Istio's defaults hold";

impl<'a> Mesh<'a> {
    /// The one that holds where these are found.
    pub(super) fn choose(mut found: impl Iterator<Item = &'a FoundMesh>) -> Self {
        match (found.next(), found.next()) {
            (Some(one), None) => Self::of(one),
            (None, _) => Self::default_because(NONE),
            (Some(_), Some(_)) => Self::default_because(SEVERAL),
        }
    }

    pub(super) fn of(found: &'a FoundMesh) -> Self {
        Self {
            config: &found.config,
            origin: MeshOrigin::Lines(found.span),
        }
    }

    fn default_because(reason: &'static str) -> Self {
        Self {
            config: &DEFAULT,
            origin: MeshOrigin::Default(reason),
        }
    }
}

/// The mesh configuration that a document carries, if it is one of those that do: the ConfigMap `istio` or
/// `istio-<revision>`, an `IstioOperator`, an operator's `spec.values`, or Helm values.
pub fn find_mesh(root: Node<'_>) -> Option<FoundMesh> {
    if root.kind() != Kind::Map {
        return None;
    }
    let Some(kind) = text(root, &["kind"]) else {
        return find(root, &["meshConfig"]).and_then(read).or_else(|| {
            // Values of a chart that has Istio's as a part.
            let mut parts = root
                .entries()
                .filter(|entry| entry.value.kind() == Kind::Map)
                .filter_map(|entry| find(entry.value, &["meshConfig"]));
            let only = parts.next()?;
            parts.next().is_none().then(|| read(only)).flatten()
        });
    };
    if kind == "ConfigMap" {
        let name = text(root, &["metadata", "name"])?;
        if name != "istio" && !name.starts_with("istio-") {
            return None;
        }
        let mesh = find(root, &["data", "mesh"])?;
        let inner = embedded(mesh)?;
        if let Some(fault) = inner.errors().first() {
            let text = mesh.as_str()?;
            let filled_in = classify(&text, None) == State::Template;
            return (!filled_in).then(|| FoundMesh::unreadable(fault));
        }
        let document = inner.documents(root.source()).next()?;
        return read(document.root);
    }
    [
        &["spec", "meshConfig"][..],
        &["spec", "values", "meshConfig"],
    ]
    .into_iter()
    .find_map(|path| find(root, path))
    .and_then(read)
}

/// Follows the keys; `None` where one is missing or null.
fn find<'t>(root: Node<'t>, path: &[&str]) -> Option<Node<'t>> {
    let mut at = root;
    for key in path {
        at = at.get(key)?.value;
    }
    (!at.is_null()).then_some(at)
}

fn text<'t>(root: Node<'t>, path: &[&str]) -> Option<std::borrow::Cow<'t, str>> {
    find(root, path)?.as_str()
}

fn read(node: Node<'_>) -> Option<FoundMesh> {
    FoundMesh::read(node)
}
