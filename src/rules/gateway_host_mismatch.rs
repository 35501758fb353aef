//! A VirtualService for hosts that its Gateway does not have.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::served::{HOSTS, served};
use super::targets::is_for_egress;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::gateway::selector;
use crate::egress::host::UNKNOWN_NAMESPACE;
use crate::egress::virtual_service::Binding;
use crate::istio::decode::Items;
use crate::istio::proxy::Gateway;
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
