//! A name that no DNS answers, in front of endpoints that have names of their own.

use std::borrow::Cow;
use std::collections::HashSet;
use std::net::IpAddr;

use super::targets::targets;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::host::{CLUSTER_DOMAIN, is_wildcard};
use crate::egress::service::{Definition, Origin};
use crate::istio::decode::Items;
use crate::istio::resource::Spec;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "host-needs-dns",
        summary: "a host whose endpoints have other names: applications cannot resolve it unless a DNS knows it",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/host-needs-dns.md"),
    },
    build: super::plain::<HostNeedsDns>,
};

#[derive(Debug, Default)]
pub(super) struct HostNeedsDns;

impl Check for HostNeedsDns {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        if cx.allocates_addresses() {
            return;
        }
        let mut routed: Option<HashSet<Cow<'_, str>>> = None;
        for definition in cx.definitions() {
            let [host] = definition.hosts.as_slice() else {
                continue;
            };
            let Some(endpoint) = elsewhere(definition, &host.name) else {
                continue;
            };
            let mut same = cx.model.registry.of_host(&host.name);
            let in_cluster = same.any(|it| it.origin == Origin::Kubernetes);
            let routed = routed.get_or_insert_with(|| led_to_by_others(cx));
            if in_cluster || routed.contains(&*host.name) {
                continue;
            }
            let message = format!(
                "`{}` must be in the DNS before a request can reach the sidecar: the application resolves the name \
                 itself, `endpoints` are for Envoy only",
                host.name
            );
            let basis = Basis::assuming("the name is made up for the mesh, and no DNS knows it");
            out.add(basis, host.line, message, |finding| {
                finding
                    .because(endpoint, "another name, which only Envoy asks for")
                    .help("turn DNS capture on (`ISTIO_META_DNS_CAPTURE`), or put the name into the DNS that workloads ask")
            });
        }
    }
}

/// The first endpoint, where all have names under other domains than the host and clients have no address to use. In
/// front of services of the cluster stand real hosts that are kept inside.
fn elsewhere(definition: &Definition<'_>, host: &str) -> Option<Span> {
    let Spec::ServiceEntry(entry) = &definition.resource.spec else {
        return None;
    };
    if !definition.mesh_external || !definition.addresses.is_empty() || is_wildcard(host) {
        return None;
    }
    let mut first = None;
    for endpoint in entry.endpoints.items() {
        let address = endpoint.address.as_ref()?;
        let name = address.value.as_str();
        let is_name = name.contains('.') && !name.contains('/') && name.parse::<IpAddr>().is_err();
        if !is_name || name.ends_with(CLUSTER_DOMAIN) || domain(name) == domain(host) {
            return None;
        }
        first.get_or_insert(address.span);
    }
    first
}

/// The last two labels.
fn domain(name: &str) -> (Option<&str>, Option<&str>) {
    let mut labels = name.trim_end_matches('.').rsplit('.');
    (labels.next(), labels.next())
}

/// The hosts to which VirtualServices of other hosts lead: names for Envoy, which no application asks for.
fn led_to_by_others<'c>(cx: &'c Context<'_>) -> HashSet<Cow<'c, str>> {
    let mut found = HashSet::new();
    for routes in cx.model.virtual_services.iter() {
        let own: HashSet<&str> = routes.hosts.iter().map(|(host, _)| &**host).collect();
        let hosts = targets(routes).into_iter().map(|it| it.host());
        found.extend(hosts.filter(|host| !own.contains(&**host)));
    }
    found
}
