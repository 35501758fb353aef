//! `apiVersion` and `kind`: which of them there are.

use std::borrow::Cow;

use super::wording::nearest;
use crate::diag::{Diagnostic, Edit, Fix, RefusedBy, Safety, Severity};
use crate::source::Span;
use crate::yaml::{Kind, Node};

pub(super) const GROUP: &str = "networking.istio.io";

/// The kinds of the group and their versions, newest first. Source: the CRDs of 1.24 to 1.32.
const KINDS: [(&str, &[&str]); 9] = [
    ("DestinationRule", &["v1", "v1beta1", "v1alpha3"]),
    ("EnvoyFilter", &["v1alpha3"]),
    ("Gateway", &["v1", "v1beta1", "v1alpha3"]),
    ("ProxyConfig", &["v1beta1"]),
    ("ServiceEntry", &["v1", "v1beta1", "v1alpha3"]),
    ("Sidecar", &["v1", "v1beta1", "v1alpha3"]),
    ("VirtualService", &["v1", "v1beta1", "v1alpha3"]),
    ("WorkloadEntry", &["v1", "v1beta1", "v1alpha3"]),
    ("WorkloadGroup", &["v1", "v1beta1", "v1alpha3"]),
];

/// Istio's kinds in its other groups, and how their `apiVersion` reads. Source: the same.
const ELSEWHERE: [(&str, &str); 5] = [
    ("AuthorizationPolicy", "security.istio.io/v1"),
    ("PeerAuthentication", "security.istio.io/v1"),
    ("RequestAuthentication", "security.istio.io/v1"),
    ("Telemetry", "telemetry.istio.io/v1"),
    ("WasmPlugin", "extensions.istio.io/v1alpha1"),
];

/// What an object says that it is.
pub(super) struct Head<'t> {
    api_version: Cow<'t, str>,
    version_node: Node<'t>,
    pub(super) kind: Cow<'t, str>,
    pub(super) kind_node: Node<'t>,
}

impl<'t> Head<'t> {
    /// `None` for what is no object of the Kubernetes API.
    pub(super) fn of(root: Node<'t>) -> Option<Self> {
        if root.kind() != Kind::Map {
            return None;
        }
        let version_node = root.get("apiVersion")?.value;
        let kind_node = root.get("kind")?.value;
        Some(Self {
            api_version: version_node.as_str()?,
            version_node,
            kind: kind_node.as_str()?,
            kind_node,
        })
    }

    pub(super) fn group(&self) -> &str {
        self.api_version
            .rsplit_once('/')
            .map_or("", |(group, _)| group)
    }

    fn version(&self) -> &str {
        let parts = self.api_version.rsplit_once('/');
        parts.map_or(&self.api_version, |(_, version)| version)
    }

    pub(super) fn is_istio(&self) -> bool {
        self.group() == GROUP
    }

    /// The items of a `List`, or of a `ServiceEntryList` and the like.
    pub(super) fn items(&self, root: Node<'t>) -> Option<impl Iterator<Item = Node<'t>> + use<'t>> {
        let items = root.get("items")?.value;
        (self.kind.ends_with("List") && items.kind() == Kind::List).then(|| items.items())
    }

    /// What the API server says when it does not have the kind in this version.
    pub(super) fn fault(&self) -> Option<Diagnostic> {
        if !self.is_istio() {
            return self.foreign_group();
        }
        let Some((kind, versions)) = KINDS.iter().find(|(kind, _)| *kind == self.kind) else {
            return Some(self.unknown_kind());
        };
        if versions.contains(&self.version()) {
            return None;
        }
        let newest = versions.first()?;
        let meant = nearest(self.version(), versions).unwrap_or(newest);
        let text = format!("{GROUP}/{meant}");
        let finding = refusal(
            self.version_node.span(),
            format!("`{kind}` has no version `{}` in `{GROUP}`", self.version()),
        );
        Some(write_instead(finding, self.version_node, &text))
    }

    fn unknown_kind(&self) -> Diagnostic {
        let finding = refusal(
            self.kind_node.span(),
            format!("`{GROUP}` has no kind `{}`", self.kind),
        );
        if let Some((_, version)) = ELSEWHERE.iter().find(|(kind, _)| *kind == self.kind) {
            return write_instead(finding, self.version_node, version);
        }
        let names: Vec<&str> = KINDS.iter().map(|(kind, _)| *kind).collect();
        match nearest(&self.kind, &names) {
            Some(name) => write_instead(finding, self.kind_node, name),
            None => finding,
        }
    }

    /// A group that looks like Istio's, for a kind of Istio's.
    fn foreign_group(&self) -> Option<Diagnostic> {
        let (_, versions) = KINDS.iter().find(|(kind, _)| *kind == self.kind)?;
        nearest(self.group(), &[GROUP])?;
        let version = versions
            .iter()
            .find(|version| **version == self.version())
            .or(versions.first())?;
        let finding = refusal(
            self.version_node.span(),
            format!(
                "`{}` is a kind of `{GROUP}`, not of `{}`",
                self.kind,
                self.group()
            ),
        );
        Some(write_instead(
            finding,
            self.version_node,
            &format!("{GROUP}/{version}"),
        ))
    }
}

fn refusal(span: Span, message: String) -> Diagnostic {
    Diagnostic::new("refused", Severity::Error, span, message).refused_by(RefusedBy::Schema)
}

fn write_instead(finding: Diagnostic, node: Node<'_>, text: &str) -> Diagnostic {
    let help = format!("write `{text}`");
    finding.help(help.clone()).fix(Fix {
        safety: Safety::Safe,
        message: help,
        edits: vec![Edit {
            span: node.span(),
            text: text.to_owned(),
        }],
    })
}
