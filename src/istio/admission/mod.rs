//! Istio's layer of admission: what its validating webhook refuses, and what it admits with a warning.
//!
//! A warning that a rule gives, too, because it sees more than the one resource, is left to the rule.
//! What the API server refuses before it ([`super::schema`]) is not repeated here. Source: `pkg/config/validation`.

mod client_tls;
mod connection_pool;
mod cors;
mod destination_rule;
mod duration;
mod dynamic_dns;
mod envoy_filter;
mod export_to;
mod fault;
mod gateway;
mod gateway_names;
mod header;
mod host;
mod host_set;
mod http_route;
mod labels;
mod load_balancer;
mod locality;
mod mesh;
mod namespaced_host;
mod outlier;
mod port;
mod redirect;
mod regex;
mod retries;
mod route_destination;
mod server_tls;
mod service_entry;
mod sidecar;
mod string_match;
mod virtual_service;
mod workload;

use super::mesh::MeshConfig;
use super::resource::{Meta, Misspelt, Resource, Spec};
use super::version::IstioVersion;
use super::wording::bounded;
use crate::diag::{Diagnostic, RefusedBy, Severity};
use crate::source::Span;

/// The names under which warnings are reported.
pub(super) const WARNINGS: [&str; 2] = [WARNED, DEPRECATED];
const WARNED: &str = "warned";
const DEPRECATED: &str = "deprecated";

/// What the webhook of Istio `version` says of the resource.
pub(super) fn check(resource: &Resource, version: IstioVersion) -> Vec<Diagnostic> {
    let mut review = Review {
        version,
        namespace: resource.namespace(),
        meta: &resource.meta,
        misspelt: resource.misspelt(),
        findings: Vec::new(),
    };
    let key = resource.spec_key;
    match &resource.spec {
        Spec::ServiceEntry(spec) => service_entry::check(spec, &mut review),
        Spec::VirtualService(spec) => virtual_service::check(spec, key, &mut review),
        Spec::DestinationRule(spec) => destination_rule::check(spec, key, &mut review),
        Spec::Sidecar(spec) => sidecar::check(spec, key, &mut review),
        Spec::Gateway(spec) => gateway::check(spec, key, &mut review),
        Spec::EnvoyFilter(spec) => envoy_filter::check(spec, &mut review),
        Spec::WorkloadEntry(spec) => workload::entry(spec, &mut review),
        Spec::WorkloadGroup(spec) => workload::group(spec, &mut review),
        Spec::Service(_)
        | Spec::HttpRoute(_)
        | Spec::GrpcRoute(_)
        | Spec::KubeGateway(_)
        | Spec::BackendTlsPolicy(_)
        | Spec::Namespace => return Vec::new(),
    }
    annotations(&mut review);
    review.findings
}

/// What keeps istiod from taking a mesh configuration.
pub(super) fn check_mesh(config: &MeshConfig, version: IstioVersion) -> Vec<Diagnostic> {
    let mut review = Review {
        version,
        namespace: None,
        meta: &Meta::default(),
        misspelt: &[],
        findings: Vec::new(),
    };
    mesh::check(config, &mut review);
    for finding in &mut review.findings {
        finding.refused_by = None;
    }
    review.findings
}

/// What a check needs to know, and what it found.
struct Review<'r> {
    version: IstioVersion,
    /// `None` where it is unknown.
    namespace: Option<&'r str>,
    meta: &'r Meta,
    misspelt: &'r [Misspelt],
    findings: Vec<Diagnostic>,
}

impl Review<'_> {
    fn push(&mut self, finding: Diagnostic) {
        self.findings.push(finding);
    }
}

/// A finding that makes the webhook refuse the resource.
fn refusal(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new("refused", Severity::Error, span, bounded(message.into()))
        .refused_by(RefusedBy::Webhook)
}

/// The finding with the other places of its fault, of many the first ones.
fn also(
    finding: Diagnostic,
    places: impl Iterator<Item = Span>,
    label: &'static str,
) -> Diagnostic {
    const MOST: usize = 16;
    let places = places.take(MOST);
    places.fold(finding, |finding, place| finding.because(place, label))
}

/// A finding about what the webhook admits with a warning, because it has no effect or another than it seems.
fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(WARNED, Severity::Warning, span, bounded(message.into()))
}

/// A finding about what the webhook warns of because there is something newer for it.
fn deprecation(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(DEPRECATED, Severity::Advice, span, bounded(message.into()))
}

/// Annotations that are not for users.
fn annotations(review: &mut Review<'_>) {
    for (name, _) in review.meta.annotations.iter() {
        let taken = match name.value.as_str() {
            "istio.io/dry-run" => "is for AuthorizationPolicies only",
            "internal.istio.io/webhook-always-reject" => "makes Istio refuse the resource",
            "internal.istio.io/parents" | "internal.istio.io/parent-namespace"
                if review.version >= IstioVersion(27) =>
            {
                "is for Istio itself only"
            }
            _ => continue,
        };
        let finding = refusal(
            name.span,
            format!("the annotation `{}` {taken}", name.value),
        );
        review.findings.push(finding.help("remove the annotation"));
    }
}

#[cfg(test)]
mod tests;
