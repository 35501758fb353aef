//! A name of the mesh that is sent to a server outside, which does not know it.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Diagnostic, Fixable, Severity};
use crate::egress::cluster::ClusterName;
use crate::egress::facts::{ClusterFacts, TlsFacts};
use crate::egress::host::{CLUSTER_DOMAIN, is_wildcard};
use crate::egress::http_rule::{HttpRule, Target};
use crate::egress::service::{Origin, Service};
use crate::egress::virtual_service::{Binding, VirtualService as Routes};
use crate::istio::route::{Headers, HttpRouteDestination};
use crate::source::{Span, Spanned};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "mesh-name-sent-outside",
        summary: "requests for a name of the mesh are sent to an external host, which does not know that name",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/mesh-name-sent-outside.md"),
    },
    build: super::plain::<MeshNameSentOutside>,
};

#[derive(Debug, Default)]
pub(super) struct MeshNameSentOutside;

impl Check for MeshNameSentOutside {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for routes in cx.model.virtual_services.iter() {
            let Some((host, line)) = internal(routes) else {
                continue;
            };
            for rule in routes.http().filter(|rule| !rewrites(rule)) {
                for entry in rule.route() {
                    let Some(target) = rule.target(entry) else {
                        continue;
                    };
                    let Some(service) = external(cx, &target).filter(|_| !sets_host(entry)) else {
                        continue;
                    };
                    judge(cx, routes, &target, &service, (host, line), out);
                }
            }
        }
    }
}

fn judge(
    cx: &Context<'_>,
    routes: &Routes<'_>,
    target: &Target<'_>,
    service: &Service<'_>,
    (host, line): (&str, Span),
    out: &mut Findings,
) {
    let cluster = cluster(cx, routes, target, service);
    let asked = cluster.as_ref().and_then(asked_by_request);
    let (basis, what) = match &asked {
        Some(authority) if authority.is_public => (
            Basis::Proven,
            "no public authority certifies that name, and TLS fails with 503",
        ),
        Some(_) => (
            Basis::assuming("its certificate does not have that name"),
            "the certificate must have that name, too",
        ),
        None => (
            Basis::assuming("the server knows its own name only"),
            "the server may not know it",
        ),
    };
    let message = format!("`{}` is asked for `{host}`: {what}", service.name());
    out.add(basis, target.line, message, |finding: Diagnostic| {
        let finding = finding.because(line, "the name that applications call");
        let finding = asked.iter().fold(finding, |finding, it| {
            finding.because(it.mode, "TLS is originated, with the name of each request")
        });
        finding
            .because(service.host.line, "the external host")
            .help(format!(
                "add `rewrite: {{authority: {}}}` to the rule",
                service.name()
            ))
    });
}

/// TLS whose server name, and the name that the certificate must have, are those of each request.
struct Asked {
    mode: Span,
    /// The authorities are those of the system.
    is_public: bool,
}

fn asked_by_request(cluster: &ClusterFacts) -> Option<Asked> {
    let Some(TlsFacts::Explicit(tls)) = &cluster.tls.value else {
        return None;
    };
    let by_request = cluster.auto_sni && cluster.auto_san && tls.sans.value.is_empty();
    let ca = tls.ca.as_ref()?;
    Some(Asked {
        mode: *tls.mode.spans().first().filter(|_| by_request)?,
        is_public: ca.value.ends_with(":system"),
    })
}

/// The cluster that sidecars of the namespace send it to, where they get the rules and the port is certain.
fn cluster(
    cx: &Context<'_>,
    routes: &Routes<'_>,
    target: &Target<'_>,
    service: &Service<'_>,
) -> Option<ClusterFacts> {
    let only = match &service.ports[..] {
        [only] => Some(only.number),
        _ => None,
    };
    let named = target
        .port()
        .and_then(|port| u32::try_from(port.value).ok());
    let subset = target.destination.subset.as_ref();
    let name = ClusterName {
        port: named.or(only)?,
        subset: subset.map_or("", |subset| &subset.value),
        host: service.name(),
    };
    let client = routes.client();
    let is_for_sidecars = routes.bindings.contains(&Binding::Mesh);
    is_for_sidecars.then(|| cx.model.cluster(&client, &name.to_string()))?
}

/// The first host that nobody outside can know.
fn internal<'r>(routes: &'r Routes<'_>) -> Option<(&'r str, Span)> {
    let mut hosts = routes.hosts.iter();
    let found = hosts.find(|(host, _)| !is_wildcard(host) && is_internal(host));
    found.map(|(host, line)| (super::unknown_hosts::shown(host), *line))
}

/// Ends of names that are never found in the DNS of the Internet.
const INTERNAL: [&str; 5] = [".internal", ".local", ".localhost", ".lan", ".svc"];

fn is_internal(host: &str) -> bool {
    host.ends_with(CLUSTER_DOMAIN) || INTERNAL.iter().any(|end| host.ends_with(end))
}

/// The external host that a destination is.
fn external<'c>(cx: &'c Context<'_>, target: &Target<'_>) -> Option<Service<'c>> {
    let host = target.host();
    let service = cx.model.registry.of_host(&host).next()?;
    let is_external = service.origin == Origin::ServiceEntry && service.mesh_external;
    (is_external && !is_wildcard(&host) && !is_internal(&host)).then_some(service)
}

/// Whether the rule gives requests another name.
fn rewrites(rule: &HttpRule<'_>) -> bool {
    let authority = rule.rewrite().and_then(|it| it.authority.as_ref());
    authority.is_some_and(|it| !it.value.is_empty())
        || rule.headers().is_some_and(|it| sets_authority(it))
}

fn sets_host(entry: &Spanned<HttpRouteDestination>) -> bool {
    entry.headers.as_ref().is_some_and(|it| sets_authority(it))
}

fn sets_authority(headers: &Headers) -> bool {
    let set = headers.request.as_ref().and_then(|it| it.set.as_ref());
    set.is_some_and(|set| {
        let mut names = set.value.iter().map(|(name, _)| &name.value);
        names.any(|name| {
            name.eq_ignore_ascii_case("host") || name.eq_ignore_ascii_case(":authority")
        })
    })
}
