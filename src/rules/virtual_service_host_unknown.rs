//! A VirtualService for a host that nothing defines.

use super::unknown_hosts::{UnknownHosts, like};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::host::is_wildcard;
use crate::egress::virtual_service::{Binding, VirtualService as Routes};
use crate::istio::decode::Items;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "virtual-service-host-unknown",
        summary: "a VirtualService for sidecars is for a host that nothing defines, probably a misspelt one",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/virtual-service-host-unknown.md"),
    },
    build: super::plain::<VirtualServiceHostUnknown>,
};

#[derive(Debug, Default)]
pub(super) struct VirtualServiceHostUnknown;

impl Check for VirtualServiceHostUnknown {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let unknown_hosts = UnknownHosts::new(cx);
        for routes in cx.model.virtual_services.iter() {
            if routes.bindings.iter().any(|it| *it != Binding::Mesh) {
                continue;
            }
            for (host, line) in &routes.hosts {
                if is_wildcard(host) {
                    continue;
                }
                let Some(unknown) = unknown_hosts.find(host) else {
                    continue;
                };
                // A host that has rules of its own is not the one that was meant.
                let meant = unknown.meant.filter(|it| !is_routed(cx, it.host));
                // The rules for HTTP also act for names that nobody defines, on port 80.
                let is_unused = routes.spec.http.items().is_empty() && unknown.wildcard.is_none();
                let (basis, message) = match (unknown.basis, meant) {
                    (_, Some(meant)) => (
                        Basis::assuming(format!("`{}` is meant", meant.host)),
                        format!(
                            "these rules are for `{host}`, which nothing defines, and not for `{}`",
                            meant.host
                        ),
                    ),
                    (Basis::Proven, None) if is_unused => (
                        Basis::Proven,
                        format!(
                            "nothing defines `{host}`: its {} rules are never used",
                            sections(routes)
                        ),
                    ),
                    _ => continue,
                };
                let help = match meant {
                    Some(meant) => format!("did you mean `{}`?", meant.host),
                    None => format!("add a ServiceEntry for `{host}`"),
                };
                out.add(basis, *line, message, |finding| {
                    like(finding, None, meant).help(help)
                });
            }
        }
    }

    fn says_absence(&self) -> bool {
        true
    }

    fn yields_to(&self) -> &'static [&'static str] {
        &["host-trailing-dot", "short-host"]
    }
}

/// Whether some VirtualService for sidecars has this very host.
fn is_routed(cx: &Context<'_>, host: &str) -> bool {
    let services = &cx.model.virtual_services;
    !services.of_host(&host.to_lowercase()).is_empty()
}

fn sections(routes: &Routes<'_>) -> &'static str {
    match (
        routes.spec.tls.items().is_empty(),
        routes.spec.tcp.items().is_empty(),
    ) {
        (false, true) => "`tls`",
        (true, false) => "`tcp`",
        _ => "`tls` and `tcp`",
    }
}
