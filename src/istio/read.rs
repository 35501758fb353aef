//! From the root of a document to the resources in it.

use std::collections::HashSet;

use super::alike::told_once;
use super::api::Head;
use super::decode::{Decode, Decoder, Texts};
use super::placeholder::touches;
use super::resource::{Doubts, Meta, Misspelt, Object, Resource, Spec};
use super::schema::Meant;
use super::version::IstioVersion;
use super::{admission, api, gateway_api, schema};
use crate::diag::Diagnostic;
use crate::source::Span;
use crate::yaml::Node;

/// What one document holds.
#[derive(Debug, Default)]
pub struct Decoded {
    /// In their order; the items of a `List` stand here by themselves.
    pub resources: Vec<Resource>,
    pub diagnostics: Vec<Diagnostic>,
    /// How many objects are of Istio's kinds of which nothing is said.
    pub unjudged: usize,
}

/// Reads the documents of a file, one after the other.
#[derive(Debug)]
pub struct Reader {
    version: IstioVersion,
    /// Fields that are misspelt are read as what they mean.
    as_meant: bool,
    texts: Texts,
}

impl Reader {
    /// If `as_meant`, a field that is misspelt is said to be so, and read as what it means: as if that were mended, so
    /// that nothing is said of what follows from it. Otherwise it is not there, as in the cluster.
    pub fn new(version: IstioVersion, as_meant: bool) -> Self {
        Self {
            version,
            as_meant,
            texts: Texts::default(),
        }
    }

    /// Reads the resources of a document as Istio would admit them. Other kinds give nothing.
    pub fn read(&mut self, root: Node<'_>) -> Decoded {
        let mut out = Decoded::default();
        self.object(root, &mut out);
        out
    }

    fn object(&mut self, root: Node<'_>, out: &mut Decoded) {
        let Some(head) = Head::of(root) else { return };
        let Some(items) = head.items(root) else {
            return self.single(root, &head, out);
        };
        // `kubectl` unfolds lists in lists too.
        for item in items {
            self.object(item, out);
        }
    }

    fn single(&mut self, root: Node<'_>, head: &Head<'_>, out: &mut Decoded) {
        let fault = head.fault();
        let Some(kind) = ours(head) else {
            out.unjudged += usize::from(fault.is_none() && head.group().ends_with("istio.io"));
            out.diagnostics.extend(fault);
            return;
        };
        let verdict = if head.is_istio() {
            schema::check(head.kind_node, root, self.version)
        } else {
            schema::Verdict::default()
        };
        let mut findings = verdict.findings;
        findings.extend(fault);
        let mut decoder = Decoder {
            dropped: verdict.dropped,
            ..Decoder::default()
        };
        let doubts = Doubts::lacking(verdict.lacking);
        let mut resource = self.resource(root, head, kind, &mut decoder, doubts.clone());
        let is_quoted = is_refused(&findings) && !decoder.quoted.is_empty();
        let is_faulty = !verdict.meant.is_empty() || is_quoted;
        let mended = (self.as_meant && is_faulty)
            .then(|| {
                decoder.read_as(&verdict.meant);
                let mut mended = self.resource(root, head, kind, &mut decoder, doubts);
                mended.read_as_meant(disjoint(
                    &verdict.meant,
                    std::mem::take(&mut decoder.quoted),
                ));
                mended
            })
            .filter(|it| !it.meant().is_empty());
        if let Some(mended) = mended {
            let mut written = findings.clone();
            self.admit(&resource, &verdict.misspelt, &mut written);
            resource = mended;
            self.admit(&resource, &verdict.misspelt, &mut findings);
            // For what is as good as mended the model has the object.
            let mut others = findings.iter().filter(|it| !touches(it, resource.meant()));
            let is_refused = others.any(|it| it.refused_by.is_some());
            blame_spelling(&mut findings, &written);
            resource.refused = is_refused;
        } else {
            resource.refused = self.admit(&resource, &verdict.misspelt, &mut findings);
        }
        if resource.refused {
            resource.spec.keep_hosts();
            // What is not admitted is not admitted with a warning.
            findings.retain(|finding| !admission::WARNINGS.contains(&finding.rule));
        }
        out.diagnostics.append(&mut told_once(findings));
        let object = &mut *resource;
        object.meta.keep_asked(&object.spec);
        out.resources.push(resource);
    }

    fn resource(
        &mut self,
        root: Node<'_>,
        head: &Head<'_>,
        kind: Read,
        decoder: &mut Decoder,
        mut doubts: Doubts,
    ) -> Resource {
        decoder.texts = std::mem::take(&mut self.texts);
        let spec = root.get("spec");
        let decoded = kind(spec.as_ref().map(|entry| entry.value), decoder);
        let meta = root
            .get("metadata")
            .and_then(|entry| Meta::decode(entry.value, decoder))
            .unwrap_or_default();
        self.texts = std::mem::take(&mut decoder.texts);
        doubts.placeholders = std::mem::take(&mut decoder.placeholders);
        doubts.placeholders.sort_unstable();
        Resource::from(Object {
            span: root.span(),
            kind: head.kind_node.span(),
            spec_key: spec.map_or(head.kind_node.span(), |entry| entry.key.span()),
            given: None,
            meta,
            spec: decoded,
            doubts: doubts.kept(),
            refused: false,
        })
    }

    /// Adds what admission says to what the schema says. Whether the object is refused.
    fn admit(
        &self,
        resource: &Resource,
        misspelt: &[(Span, Option<Box<str>>)],
        findings: &mut Vec<Diagnostic>,
    ) -> bool {
        let (mut follows, others): (Vec<_>, Vec<_>) = std::mem::take(findings)
            .into_iter()
            .partition(|it| is_misspelt(resource.misspelt(), it));
        *findings = others;
        // What the API server refuses, it refuses first.
        let place = |finding: &Diagnostic| (finding.span, finding.extras().absent.clone());
        let said: HashSet<_> = findings
            .iter()
            .filter(|it| it.refused_by.is_some())
            .map(place)
            .chain(misspelt.iter().cloned())
            .collect();
        let (later, mut refused): (Vec<_>, Vec<_>) = admission::check(resource, self.version)
            .into_iter()
            .filter(|it| !said.contains(&place(it)) && !touches(it, resource.meant()))
            .partition(|it| follows_from(resource.misspelt(), it));
        follows.extend(later);
        findings.append(&mut refused);
        findings.retain(|finding| !touches(finding, resource.placeholders()));
        let mut by_spelling = false;
        for follow in follows.iter().filter(|it| it.refused_by.is_some()) {
            blame(findings, resource.misspelt(), follow);
            by_spelling = true;
        }
        by_spelling || is_refused(findings)
    }
}

/// Reads the resources of one document, as they are in the cluster.
pub fn read(root: Node<'_>, version: IstioVersion) -> Decoded {
    Reader::new(version, false).read(root)
}

/// What is wrong with the values of a patch; what it leaves out stands elsewhere.
pub fn check_patch(root: Node<'_>, version: IstioVersion) -> Vec<Diagnostic> {
    match Head::of(root) {
        Some(head) if head.is_istio() => schema::check_values(head.kind_node, root, version),
        _ => Vec::new(),
    }
}

/// Whether a field is missing only because it is misspelt, which is said there.
pub fn follows_from(misspelt: &[Misspelt], finding: &Diagnostic) -> bool {
    misspelt.iter().any(|it| causes(it, finding))
}

/// Whether the API server refuses the object for want of just such a field.
fn is_misspelt(misspelt: &[Misspelt], finding: &Diagnostic) -> bool {
    let is_it = |it: &Misspelt| {
        it.key == finding.span && finding.extras().absent.as_deref() == Some(it.field)
    };
    finding.refused_by.is_some() && misspelt.iter().any(is_it)
}

fn causes(misspelt: &Misspelt, finding: &Diagnostic) -> bool {
    let absent = finding.extras().absent.as_deref();
    let field = misspelt.field;
    let here = misspelt.key == finding.span && absent.is_none_or(|absent| absent == field);
    here || absent == Some(field) && misspelt.object.contains(finding.span)
}

/// An unknown field for want of which the object is refused says by whom.
fn blame(findings: &mut [Diagnostic], misspelt: &[Misspelt], follow: &Diagnostic) {
    let objects = misspelt.iter().filter(|it| causes(it, follow));
    let objects: Vec<Span> = objects.map(|it| it.object).collect();
    let cause = findings.iter_mut().find(|finding| {
        finding.rule == SPELLING && objects.iter().any(|it| it.contains(finding.span))
    });
    if let Some(cause) = cause.filter(|it| it.refused_by.is_none()) {
        cause.refused_by = follow.refused_by;
    }
}

fn is_refused(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|it| it.refused_by.is_some())
}

/// The places of what is read as meant, sorted: a quoted number may stand in a field that is misspelt.
fn disjoint(fields: &[Meant], quoted: Vec<Span>) -> Vec<Span> {
    let mut places: Vec<Span> = fields.iter().map(|it| it.entry).collect();
    places.extend(quoted);
    places.sort_unstable();
    places.dedup_by(|later, first| first.contains(*later));
    places
}

/// What is read as meant is still refused for its spelling: one of the fields says by whom.
fn blame_spelling(findings: &mut [Diagnostic], written: &[Diagnostic]) {
    if findings.iter().any(|it| it.refused_by.is_some()) {
        return;
    }
    let mut blamed = written.iter().filter(|it| it.refused_by.is_some());
    let Some(first) = blamed.next() else { return };
    let spellings = || written.iter().filter(|it| it.rule == SPELLING);
    let own = spellings().find(|it| it.refused_by.is_some());
    let Some(cause) = own.or_else(|| spellings().next()) else {
        return;
    };
    let cause = findings
        .iter_mut()
        .find(|it| it.rule == SPELLING && it.span == cause.span);
    if let Some(cause) = cause {
        cause.refused_by = first.refused_by;
    }
}

/// Says that a field is unknown, and what it may mean.
const SPELLING: &str = "unknown-field";

type Read = fn(Option<Node<'_>>, &mut Decoder) -> Spec;

/// How the kind is read, if it is one of those that egress depends on.
fn ours(head: &Head<'_>) -> Option<Read> {
    Some(match (head.group(), &*head.kind) {
        (api::GROUP, "ServiceEntry") => |node, decoder| Spec::ServiceEntry(boxed(node, decoder)),
        (api::GROUP, "VirtualService") => {
            |node, decoder| Spec::VirtualService(boxed(node, decoder))
        }
        (api::GROUP, "DestinationRule") => {
            |node, decoder| Spec::DestinationRule(boxed(node, decoder))
        }
        (api::GROUP, "Sidecar") => |node, decoder| Spec::Sidecar(boxed(node, decoder)),
        (api::GROUP, "Gateway") => |node, decoder| Spec::Gateway(boxed(node, decoder)),
        (api::GROUP, "EnvoyFilter") => |node, decoder| Spec::EnvoyFilter(boxed(node, decoder)),
        (api::GROUP, "WorkloadEntry") => |node, decoder| Spec::WorkloadEntry(boxed(node, decoder)),
        (api::GROUP, "WorkloadGroup") => |node, decoder| Spec::WorkloadGroup(boxed(node, decoder)),
        ("", "Service") => |node, decoder| Spec::Service(boxed(node, decoder)),
        (gateway_api::GROUP, "HTTPRoute") => |node, decoder| Spec::HttpRoute(boxed(node, decoder)),
        (gateway_api::GROUP, "GRPCRoute") => |node, decoder| Spec::GrpcRoute(boxed(node, decoder)),
        (gateway_api::GROUP, "Gateway") => |node, decoder| Spec::KubeGateway(boxed(node, decoder)),
        (gateway_api::GROUP, "BackendTLSPolicy") => {
            |node, decoder| Spec::BackendTlsPolicy(boxed(node, decoder))
        }
        ("", "Namespace") => |_, _| Spec::Namespace,
        _ => return None,
    })
}

fn boxed<T: Decode + Default>(node: Option<Node<'_>>, decoder: &mut Decoder) -> Box<T> {
    Box::new(
        node.and_then(|node| T::decode(node, decoder))
            .unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests;
