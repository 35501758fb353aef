//! A VirtualService for hosts that its Gateway does not have.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::targets::is_for_egress;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::gateway::selector;
use crate::egress::host::{UNKNOWN_NAMESPACE, overlaps};
use crate::egress::namespace::{Same, same};
use crate::egress::virtual_service::{Binding, VirtualService};
use crate::istio::decode::Items;
use crate::istio::proxy::Gateway;
use crate::istio::resource::Resource;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "gateway-host-mismatch",
        summary: "a VirtualService is bound to a Gateway that has none of its hosts: its rules are not used there",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/gateway-host-mismatch.md"),
    },
    build: super::plain::<GatewayHostMismatch>,
};

#[derive(Debug, Default)]
pub(super) struct GatewayHostMismatch;

/// With more hosts than this, of a VirtualService or of a Gateway, nothing is said.
const HOSTS: usize = 64;

/// So many gateways of a VirtualService are looked at.
const GATEWAYS: usize = 16;

const SAME_HOST: &str = "give the Gateway and the VirtualService the same host";

impl Check for GatewayHostMismatch {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for routes in cx.model.virtual_services.iter() {
            let Some((host, place)) = routes.hosts.first() else {
                continue;
            };
            // A short name in an unknown namespace may be any host.
            let is_known = |(host, _): &(Cow<'_, str>, Span)| !host.contains(UNKNOWN_NAMESPACE);
            if routes.hosts.len() > HOSTS || !routes.hosts.iter().all(is_known) {
                continue;
            }
            let listed = routes.spec.gateways.items();
            let is_egress = OnceCell::new();
            for (binding, named) in routes.bindings.iter().zip(listed).take(GATEWAYS) {
                let Binding::Gateway { namespace, name } = *binding else {
                    continue;
                };
                let gateways = cx.model.gateways.named(namespace, name);
                let served = served(&gateways);
                let Some(first) = served.first().filter(|_| served.len() <= HOSTS) else {
                    continue;
                };
                // What comes in is for others to judge.
                let is_egress = || *is_egress.get_or_init(|| is_for_egress(cx, routes));
                if served.iter().any(|it| it.is_for(routes))
                    || !(gateways.iter().any(|(_, it)| is_egress_gateway(it)) || is_egress())
                {
                    continue;
                }
                let name = &named.value;
                let shares_name = served.iter().any(|it| it.has_host_of(routes));
                let (message, help) = match (shares_name, routes.hosts.len()) {
                    (true, _) => (
                        format!(
                            "the Gateway `{name}` has `{host}` for other namespaces only: no rule here is used there"
                        ),
                        "name this namespace before the host in the Gateway, or move the VirtualService",
                    ),
                    (false, 1) => (
                        format!(
                            "the Gateway `{name}` has no host `{host}`: no rule here is used there"
                        ),
                        SAME_HOST,
                    ),
                    (false, count) => (
                        format!(
                            "the Gateway `{name}` has none of these {count} hosts: no rule here is used there"
                        ),
                        SAME_HOST,
                    ),
                };
                out.add(Basis::Proven, *place, message, |finding| {
                    let finding = finding
                        .because(named.span, "bound to this Gateway")
                        .because(first.line, "a host of the Gateway");
                    let port = first.port.iter();
                    port.fold(finding, |finding, port| {
                        finding.because(*port, "of this server")
                    })
                    .help(help)
                });
            }
        }
    }

    fn says_absence(&self) -> bool {
        true
    }
}

/// Whether it is for the proxies through which traffic leaves, as Istio labels them.
fn is_egress_gateway(gateway: &Gateway) -> bool {
    selector(gateway).any(|(_, value)| value.contains("egress"))
}

/// A host of a server, as the Gateway writes it: the namespace whose VirtualServices may be for it, or all.
struct Served<'a> {
    only: Option<Option<&'a str>>,
    host: &'a str,
    line: Span,
    /// The number of the server's port.
    port: Option<Span>,
}

impl Served<'_> {
    fn is_for(&self, routes: &VirtualService<'_>) -> bool {
        let admits = |only| same(only, routes.namespace()) != Same::No;
        self.only.is_none_or(admits) && self.has_host_of(routes)
    }

    fn has_host_of(&self, routes: &VirtualService<'_>) -> bool {
        let mut hosts = routes.hosts.iter();
        hosts.any(|(host, _)| overlaps(host, self.host))
    }
}

/// The hosts of all servers of Gateways of one name.
fn served<'a>(gateways: &[(&'a Resource, &'a Gateway)]) -> Vec<Served<'a>> {
    let hosts = gateways.iter().flat_map(|(resource, gateway)| {
        let servers = gateway.servers.items().iter();
        let hosts = servers.flat_map(|server| {
            let port = server.value.port.as_ref();
            let port = port.and_then(|port| port.value.number.as_ref());
            let hosts = server.value.hosts.items().iter();
            hosts.map(move |host| (host, port.map(|number| number.span)))
        });
        hosts.map(|(host, port)| {
            let (namespace, name) = match host.value.split_once('/') {
                Some((namespace, name)) => (Some(namespace), name),
                None => (None, host.value.as_str()),
            };
            let only = match namespace {
                None | Some("*") => None,
                Some(".") => Some(resource.namespace()),
                named => Some(named),
            };
            Served {
                only,
                host: name,
                line: host.span,
                port,
            }
        })
    });
    hosts.take(HOSTS + 1).collect()
}
