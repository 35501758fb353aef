//! From the root of a document to the resources in it.

use std::collections::HashSet;
use std::sync::Arc;

use super::decode::{Decode, Decoder};
use super::resource::{Meta, Namespace, Resource, Spec};
use super::version::IstioVersion;
use super::{admission, schema};
use crate::diag::Diagnostic;
use crate::source::Span;
use crate::yaml::{Entry, Kind, Node};

/// What one document holds.
#[derive(Debug, Default)]
pub struct Decoded {
    /// In their order; the items of a `List` stand here by themselves.
    pub resources: Vec<Resource>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the resources of a document as Istio `version` would admit them. Other kinds give nothing.
pub fn read(root: Node<'_>, version: IstioVersion) -> Decoded {
    let mut out = Decoded::default();
    object(root, version, &mut out);
    out
}

fn object(root: Node<'_>, version: IstioVersion, out: &mut Decoded) {
    let Some(head) = Head::of(root) else { return };
    if let Some(items) = head.list_items(root) {
        // A `List` holds objects, never lists.
        for item in items {
            if let Some(head) = Head::of(item) {
                single(item, &head, version, out);
            }
        }
        return;
    }
    single(root, &head, version, out);
}

fn single(root: Node<'_>, head: &Head<'_>, version: IstioVersion, out: &mut Decoded) {
    let Some(kind) = head.known() else { return };
    let istio = head.group == "networking.istio.io";
    let mut verdict = if istio {
        schema::check(head.kind.value, root, version)
    } else {
        schema::Verdict::default()
    };
    let mut decoder = Decoder {
        dropped: std::mem::take(&mut verdict.dropped),
        ..Decoder::default()
    };
    let spec_entry = root.get("spec");
    let spec = kind(spec_entry.as_ref().map(|entry| entry.value), &mut decoder);
    let meta = root
        .get("metadata")
        .and_then(|entry| Meta::decode(entry.value, &mut decoder))
        .unwrap_or_default();
    decoder.placeholders.sort_unstable();
    let mut resource = Resource {
        span: root.span(),
        kind: head.kind.value.span(),
        spec_key: spec_entry.map_or(head.kind.value.span(), |entry| entry.key.span()),
        namespace: Namespace {
            name: meta
                .namespace
                .as_ref()
                .map(|it| Arc::from(it.value.as_str())),
            because: meta.namespace.as_ref().map(|it| it.span),
        },
        meta,
        spec,
        placeholders: decoder.placeholders,
        refused: false,
    };
    let mut findings = verdict.findings;
    // What the API server refuses, it refuses first.
    let place = |finding: &Diagnostic| (finding.span, finding.absent.clone());
    let refused: HashSet<_> = findings
        .iter()
        .filter(|it| it.refused_by.is_some())
        .map(place)
        .collect();
    findings.extend(
        admission::check(&resource, version)
            .into_iter()
            .filter(|it| !refused.contains(&place(it))),
    );
    findings.retain(|finding| !touches(finding, &resource.placeholders));
    resource.refused = findings.iter().any(|finding| finding.refused_by.is_some());
    out.diagnostics.append(&mut findings);
    out.resources.push(resource);
}

type ReadSpec = fn(Option<Node<'_>>, &mut Decoder) -> Spec;

/// `apiVersion` and `kind`.
struct Head<'t> {
    group: String,
    kind: Entry<'t>,
    kind_name: String,
}

impl<'t> Head<'t> {
    fn of(root: Node<'t>) -> Option<Self> {
        if root.kind() != Kind::Map {
            return None;
        }
        let api_version = root.get("apiVersion")?;
        let api_version = api_version.value.as_str()?;
        let group = api_version
            .rsplit_once('/')
            .map_or("", |(group, _)| group)
            .to_owned();
        let kind = root.get("kind")?;
        let kind_name = kind.value.as_str()?.into_owned();
        Some(Self {
            group,
            kind,
            kind_name,
        })
    }

    fn list_items(&self, root: Node<'t>) -> Option<impl Iterator<Item = Node<'t>> + use<'t>> {
        let items = root.get("items")?.value;
        (self.kind_name.ends_with("List") && items.kind() == Kind::List).then(|| items.items())
    }

    fn known(&self) -> Option<ReadSpec> {
        Some(match (self.group.as_str(), self.kind_name.as_str()) {
            ("networking.istio.io", "ServiceEntry") => {
                |node, decoder| Spec::ServiceEntry(boxed(node, decoder))
            }
            ("networking.istio.io", "VirtualService") => {
                |node, decoder| Spec::VirtualService(boxed(node, decoder))
            }
            ("networking.istio.io", "DestinationRule") => {
                |node, decoder| Spec::DestinationRule(boxed(node, decoder))
            }
            ("networking.istio.io", "Sidecar") => {
                |node, decoder| Spec::Sidecar(boxed(node, decoder))
            }
            ("networking.istio.io", "Gateway") => {
                |node, decoder| Spec::Gateway(boxed(node, decoder))
            }
            ("networking.istio.io", "EnvoyFilter") => {
                |node, decoder| Spec::EnvoyFilter(boxed(node, decoder))
            }
            ("networking.istio.io", "WorkloadEntry") => {
                |node, decoder| Spec::WorkloadEntry(boxed(node, decoder))
            }
            ("networking.istio.io", "WorkloadGroup") => {
                |node, decoder| Spec::WorkloadGroup(boxed(node, decoder))
            }
            ("", "Service") => |node, decoder| Spec::Service(boxed(node, decoder)),
            ("", "Namespace") => |_, _| Spec::Namespace,
            _ => return None,
        })
    }
}

fn boxed<T: Decode + Default>(node: Option<Node<'_>>, decoder: &mut Decoder) -> Box<T> {
    Box::new(
        node.and_then(|node| T::decode(node, decoder))
            .unwrap_or_default(),
    )
}

/// Whether a finding rests on a value that is unknown. `places` are sorted.
fn touches(finding: &Diagnostic, places: &[Span]) -> bool {
    finding.spans().any(|span| {
        let next = places.partition_point(|place| place.end <= span.start);
        places.get(next).is_some_and(|place| place.start < span.end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;
    use crate::yaml::Tree;

    fn decode(text: &str) -> Decoded {
        let tree = Tree::parse(FileId(0), text);
        let mut out = Decoded::default();
        for document in tree.documents(text) {
            let mut one = read(document.root, IstioVersion::default());
            out.resources.append(&mut one.resources);
            out.diagnostics.append(&mut one.diagnostics);
        }
        out
    }

    #[test]
    fn items_of_a_list_are_resources_of_their_own() {
        let out = decode(
            "apiVersion: v1\nkind: List\nitems:\n\
             - apiVersion: networking.istio.io/v1\n  kind: ServiceEntry\n  metadata: {name: a}\n  \
             spec: {hosts: [a.example], resolution: DNS}\n\
             - apiVersion: v1\n  kind: Service\n  metadata: {name: b, namespace: other}\n  spec: {ports: [{port: 80}]}\n\
             - apiVersion: apps/v1\n  kind: Deployment\n",
        );
        let names: Vec<_> = out
            .resources
            .iter()
            .map(|it| (it.spec.kind(), it.name(), it.namespace()))
            .collect();
        assert_eq!(
            names,
            [("ServiceEntry", "a", None), ("Service", "b", Some("other"))]
        );
        assert!(out.diagnostics.is_empty(), "{:?}", out.diagnostics);
    }

    #[test]
    fn a_placeholder_is_there_and_nothing_is_said_about_it() {
        let out = decode(
            "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: a}\n\
             spec: {hosts: '${HOSTS}', ports: [{number: {port}, name: http}], resolution: <type>}\n",
        );
        assert!(out.diagnostics.is_empty(), "{:?}", out.diagnostics);
        let [resource] = &out.resources[..] else {
            panic!()
        };
        assert_eq!(resource.placeholders.len(), 3);
        assert!(!resource.refused);
        let Spec::ServiceEntry(entry) = &resource.spec else {
            panic!()
        };
        assert!(entry.hosts.as_ref().is_some_and(|hosts| hosts.is_empty()));
    }
}
