//! One object of a manifest.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use smol_str::SmolStr;

use super::decode::{Decode, Decoder, Map};
use super::gateway_api::{BackendTlsPolicy, KubeGateway, KubeRoute};
use super::proxy::{Gateway, Sidecar};
use super::route::VirtualService;
use super::service::{KubeService, ServiceEntry, WorkloadEntry};
use super::traffic::DestinationRule;
use crate::diag::ResourceRef;
use crate::source::{Span, Spanned};
use crate::yaml::{Kind, Node};

/// The label, or annotation, that says of a pod whether it gets a sidecar.
pub const INJECT: &str = "sidecar.istio.io/inject";

/// The label that says which control plane an object is for, or which one injects the pods of a namespace.
pub const REVISION: &str = "istio.io/rev";

/// The namespace that something else gives to objects. An unknown one may equal any other: nothing invisible is concluded
/// from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Namespace {
    /// `None`: no file and no setting tells it.
    pub name: Option<SmolStr>,
    /// The line that sets it, in a kustomization or in the configuration; none for an option.
    pub because: Option<Span>,
}

/// What of an object is not what stands there.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Doubts {
    pub(super) placeholders: Vec<Span>,
    pub(super) misspelt: Vec<Misspelt>,
    pub(super) meant: Vec<Span>,
}

impl Doubts {
    pub(super) fn lacking(misspelt: Vec<Misspelt>) -> Self {
        Self {
            misspelt,
            ..Self::default()
        }
    }

    /// Nothing, as for most objects, takes no room.
    pub(super) fn kept(self) -> Option<Box<Self>> {
        let any =
            !self.placeholders.is_empty() || !self.misspelt.is_empty() || !self.meant.is_empty();
        any.then(|| Box::new(self))
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta {
    pub name: Option<Spanned<SmolStr>>,
    /// As written in the object.
    pub namespace: Option<Spanned<SmolStr>>,
    pub labels: Map<SmolStr>,
    pub annotations: Map<SmolStr>,
}

impl Decode for Meta {
    fn decode(node: Node<'_>, decoder: &mut Decoder) -> Option<Self> {
        if node.kind() != Kind::Map {
            return None;
        }
        let mut out = Self::default();
        for entry in node.entries() {
            match &*entry.name {
                "name" => out.name = decoder.field(&entry),
                "namespace" => out.namespace = decoder.field(&entry),
                "labels" => out.labels = decoder.field(&entry).map(value).unwrap_or_default(),
                "annotations" => {
                    out.annotations = decoder.field(&entry).map(value).unwrap_or_default()
                }
                _ => {}
            }
        }
        Some(out)
    }
}

impl Meta {
    /// Keeps what is asked for: of the annotations Istio's and ours, and Istio's labels, but all labels of what is selected or
    /// merged by them.
    pub(super) fn keep_asked(&mut self, spec: &Spec) {
        let istio = |name: &str| name.contains("istio");
        self.annotations
            .retain(|name| istio(name) || name.starts_with("egress-lint/"));
        if !matches!(spec, Spec::WorkloadEntry(_) | Spec::ServiceEntry(_)) {
            self.labels.retain(istio);
        }
    }
}

fn value<T>(spanned: Spanned<T>) -> T {
    spanned.value
}

#[derive(Clone, Debug, PartialEq)]
pub enum Spec {
    ServiceEntry(Box<ServiceEntry>),
    VirtualService(Box<VirtualService>),
    DestinationRule(Box<DestinationRule>),
    Sidecar(Box<Sidecar>),
    Gateway(Box<Gateway>),
    EnvoyFilter(Box<super::envoy_filter::EnvoyFilter>),
    WorkloadEntry(Box<WorkloadEntry>),
    WorkloadGroup(Box<super::workload_group::WorkloadGroup>),
    Service(Box<KubeService>),
    HttpRoute(Box<KubeRoute>),
    GrpcRoute(Box<KubeRoute>),
    /// Kubernetes' own `Gateway`.
    KubeGateway(Box<KubeGateway>),
    BackendTlsPolicy(Box<BackendTlsPolicy>),
    /// Only its labels matter; they stand in `Meta`.
    Namespace,
}

impl Spec {
    pub fn kind(&self) -> &'static str {
        match self {
            Spec::ServiceEntry(_) => "ServiceEntry",
            Spec::VirtualService(_) => "VirtualService",
            Spec::DestinationRule(_) => "DestinationRule",
            Spec::Sidecar(_) => "Sidecar",
            Spec::Gateway(_) => "Gateway",
            Spec::EnvoyFilter(_) => "EnvoyFilter",
            Spec::WorkloadEntry(_) => "WorkloadEntry",
            Spec::WorkloadGroup(_) => "WorkloadGroup",
            Spec::Service(_) => "Service",
            Spec::HttpRoute(_) => "HTTPRoute",
            Spec::GrpcRoute(_) => "GRPCRoute",
            // Istio has a kind of the same name.
            Spec::KubeGateway(_) => "Gateway.gateway.networking.k8s.io",
            Spec::BackendTlsPolicy(_) => "BackendTLSPolicy",
            Spec::Namespace => "Namespace",
        }
    }

    /// Whether it configures a mesh. What is left is only read for what such objects say of it.
    pub fn is_of_mesh(&self) -> bool {
        !matches!(self, Spec::Service(_) | Spec::Namespace)
    }

    /// Keeps the hosts only, and where HTTP would be routed to: of what is refused nothing else is asked.
    pub(super) fn keep_hosts(&mut self) {
        match self {
            Spec::ServiceEntry(entry) => {
                let hosts = entry.hosts.take();
                **entry = ServiceEntry {
                    hosts,
                    ..ServiceEntry::default()
                };
            }
            Spec::VirtualService(routes) => {
                let (hosts, http) = (routes.hosts.take(), routes.http.take());
                **routes = VirtualService {
                    hosts,
                    http,
                    ..VirtualService::default()
                };
            }
            Spec::DestinationRule(rule) => {
                let host = rule.host.take();
                **rule = DestinationRule {
                    host,
                    ..DestinationRule::default()
                };
            }
            _ => {}
        }
    }

    /// Whether it belongs to Istio's API, as opposed to Kubernetes' own.
    pub fn is_istio(&self) -> bool {
        match self {
            Spec::Service(_)
            | Spec::HttpRoute(_)
            | Spec::GrpcRoute(_)
            | Spec::KubeGateway(_)
            | Spec::BackendTlsPolicy(_)
            | Spec::Namespace => false,
            Spec::ServiceEntry(_)
            | Spec::VirtualService(_)
            | Spec::DestinationRule(_)
            | Spec::Sidecar(_)
            | Spec::Gateway(_)
            | Spec::EnvoyFilter(_)
            | Spec::WorkloadEntry(_)
            | Spec::WorkloadGroup(_) => true,
        }
    }
}

/// A field that an object lacks, because it stands there in another spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misspelt {
    /// The key of the object, or the first character of an item.
    pub key: Span,
    pub object: Span,
    /// As it is spelt right.
    pub field: &'static str,
}

/// One object of a manifest. One pointer, because there may be many, which go from list to list.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource(Box<Object>);

/// What a [`Resource`] is.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// The whole object; in a `List`, the item.
    pub span: Span,
    /// The value of `kind`.
    pub kind: Span,
    /// The key `spec`, or the value of `kind` where there is none: where findings about the whole point.
    pub spec_key: Span,
    pub meta: Meta,
    /// The namespace in which it ends up, if that is not the one that stands there. One for those of a file.
    pub given: Option<Arc<Namespace>>,
    pub spec: Spec,
    /// Most objects have none.
    pub(super) doubts: Option<Box<Doubts>>,
    /// Admission refuses it, as far as it is read: for the model it does not exist.
    pub refused: bool,
}

impl From<Object> for Resource {
    fn from(object: Object) -> Self {
        Self(Box::new(object))
    }
}

impl Deref for Resource {
    type Target = Object;

    fn deref(&self) -> &Object {
        &self.0
    }
}

impl DerefMut for Resource {
    fn deref_mut(&mut self) -> &mut Object {
        &mut self.0
    }
}

impl Resource {
    /// Its name, or nothing.
    pub fn name(&self) -> &str {
        self.meta.name.as_ref().map_or("", |name| &name.value)
    }

    /// The namespace, or `None` where it is unknown.
    pub fn namespace(&self) -> Option<&str> {
        match &self.given {
            Some(given) => given.name.as_deref(),
            None => self.written_namespace().map(|name| &*name.value),
        }
    }

    /// Scalars whose value is unknown, sorted. A finding that rests on one of them is not said.
    pub fn placeholders(&self) -> &[Span] {
        self.doubts.as_ref().map_or(&[], |it| &it.placeholders)
    }

    /// What it lacks only because it is misspelt.
    pub fn misspelt(&self) -> &[Misspelt] {
        self.doubts.as_ref().map_or(&[], |it| &it.misspelt)
    }

    /// Fields that are read as if they were spelt right, sorted. A finding that rests on one of them is not said.
    pub fn meant(&self) -> &[Span] {
        self.doubts.as_ref().map_or(&[], |it| &it.meant)
    }

    pub(super) fn read_as_meant(&mut self, fields: Vec<Span>) {
        if !fields.is_empty() {
            self.doubts.get_or_insert_default().meant = fields;
        }
    }

    /// Whether a field directly under `spec` is lacking because it is misspelt.
    pub fn misspells_top(&self) -> bool {
        self.misspelt().iter().any(|it| it.key == self.spec_key)
    }

    /// Whether it lacks a field of this name because that is misspelt.
    pub fn misspells(&self, field: &str) -> bool {
        self.misspelt().iter().any(|it| it.field == field)
    }

    /// The line that makes the pods of this Namespace a part of the ambient mesh.
    pub fn ambient(&self) -> Option<Span> {
        let mode = match self.spec {
            Spec::Namespace => self.meta.labels.get("istio.io/dataplane-mode")?,
            _ => return None,
        };
        (mode.value == "ambient").then_some(mode.span)
    }

    /// The namespace that stands in the object; `None` also where something will be put in its place.
    pub fn written_namespace(&self) -> Option<&Spanned<SmolStr>> {
        let written = self.meta.namespace.as_ref();
        written.filter(|it| !self.placeholders().contains(&it.span))
    }

    /// Makes it one for this revision alone, whatever stands in the object; `None`: which one is not known.
    pub fn set_revision(&mut self, revision: Option<&Spanned<String>>) {
        let labels = &mut self.meta.labels;
        labels.retain(|name| name != REVISION);
        if let Some(revision) = revision {
            let spanned = |text: &str| Spanned::new(text.into(), revision.span, revision.key);
            labels.add(spanned(REVISION), spanned(&revision.value));
        }
    }

    pub fn reference(&self) -> ResourceRef {
        ResourceRef {
            kind: self.spec.kind(),
            namespace: self.namespace().map(Into::into),
            name: self
                .meta
                .name
                .as_ref()
                .map(|name| name.value.as_str().into()),
        }
    }
}
