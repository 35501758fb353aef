//! The mesh configuration: where files carry it, and which one holds in a world.

use std::sync::LazyLock;

use super::revision::UNNAMED;
use crate::diag::{Diagnostic, Severity};
use crate::istio::mesh::MeshConfig;
use crate::manifest::{State, classify};
use crate::source::Span;
use crate::yaml::{Kind, Node, SyntaxError, embedded};

/// A mesh configuration that a file carries.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundMesh {
    pub config: MeshConfig,
    /// The revision of the control plane that reads it, where its place says so.
    pub revision: Option<Box<str>>,
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
            revision: None,
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
            revision: None,
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
const OF_OTHERS: &str =
    "no mesh configuration among the files is for this revision, so Istio's defaults hold";
const SEVERAL: &str =
    "several mesh configurations are among the files and none is the one, so Istio's defaults hold";

impl<'a> Mesh<'a> {
    /// The one that holds for a revision where these are found.
    pub(super) fn of_revision(found: &[&'a FoundMesh], revision: &str) -> Self {
        let is_for_it = |it: &&FoundMesh| it.revision.as_deref().is_none_or(|own| own == revision);
        match found.iter().copied().any(|it| is_for_it(&it)) {
            true => Self::choose(found.iter().copied().filter(is_for_it)),
            false => Self::default_because(OF_OTHERS),
        }
    }

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
    match text(root, &["kind"]).as_deref() {
        None => in_values(root),
        Some("ConfigMap") => in_config_map(root),
        Some(_) => in_operator(root),
    }
}

fn in_values(root: Node<'_>) -> Option<FoundMesh> {
    if let Some(own) = find(root, &["meshConfig"]) {
        return FoundMesh::read(own);
    }
    // Values of a chart that has Istio's as a part.
    let parts = root.entries().map(|entry| entry.value);
    let parts = parts.filter(|part| part.kind() == Kind::Map);
    let mut parts = parts.filter_map(|part| find(part, &["meshConfig"]));
    let only = parts.next().filter(|_| parts.next().is_none())?;
    FoundMesh::read(only)
}

/// Its name says for which revision it is. Source: `getMeshConfigMapName` in `pilot/pkg/bootstrap/mesh.go`.
fn in_config_map(root: Node<'_>) -> Option<FoundMesh> {
    let name = text(root, &["metadata", "name"])?;
    let revision = match &*name {
        "istio" => UNNAMED,
        name => name.strip_prefix("istio-")?,
    };
    let mesh = find(root, &["data", "mesh"])?;
    let inner = embedded(mesh)?;
    let found = match inner.errors().first() {
        Some(_) if classify(&mesh.as_str()?, None) == State::Template => return None,
        Some(fault) => FoundMesh::unreadable(fault),
        None => FoundMesh::read(inner.documents(root.source()).next()?.root)?,
    };
    Some(FoundMesh {
        revision: Some(revision.into()),
        ..found
    })
}

fn in_operator(root: Node<'_>) -> Option<FoundMesh> {
    let values = &["spec", "values", "meshConfig"];
    let mesh = find(root, &["spec", "meshConfig"]).or_else(|| find(root, values))?;
    Some(FoundMesh {
        revision: text(root, &["spec", "revision"]).map(Into::into),
        ..FoundMesh::read(mesh)?
    })
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
