//! A VirtualService for a Gateway that nothing defines.

use std::cell::OnceCell;

use smol_str::SmolStr;

use super::matches;
use super::targets::is_for_egress;
use super::unknown_gateways::{Unknown, UnknownGateways};
use super::{Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::virtual_service::VirtualService;
use crate::istio::decode::Items;
use crate::istio::resource::{Resource, Spec};
use crate::source::{Span, Spanned};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "gateway-unknown",
        summary: "a VirtualService is bound to a Gateway that nothing defines: its rules are not used there",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/gateway-unknown.md"),
    },
    build: super::plain::<GatewayUnknown>,
};

#[derive(Debug, Default)]
pub(super) struct GatewayUnknown;

/// So many gateways of a VirtualService are looked at.
const GATEWAYS: usize = 64;

impl Check for GatewayUnknown {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let gateways = UnknownGateways::new(cx);
        for routes in cx.model.virtual_services.iter() {
            let is_egress = OnceCell::new();
            let listed = routes.spec.gateways.items();
            for (binding, named) in routes.bindings.iter().zip(listed).take(GATEWAYS) {
                let Some(unknown) = gateways.find(routes, *binding) else {
                    continue;
                };
                if *is_egress.get_or_init(|| is_for_egress(cx, routes)) {
                    report(routes, named, unknown, out);
                }
            }
        }
    }

    fn says_absence(&self) -> bool {
        true
    }
}

fn report(
    routes: &VirtualService<'_>,
    named: &Spanned<SmolStr>,
    unknown: Unknown<'_>,
    out: &mut Findings,
) {
    let Unknown {
        namespace, name, ..
    } = unknown;
    let is_short = named.value == name;
    let message = match is_short {
        true => format!(
            "`{name}` means the Gateway `{namespace}/{name}`, which nothing defines: no rule here is used there"
        ),
        false => {
            format!("nothing defines the Gateway `{namespace}/{name}`: no rule here is used there")
        }
    };
    let meant = unknown.meant.map(|it| (it.namespace(), it.name()));
    let help = match meant {
        Some((Some(other), name)) => format!("write `{other}/{name}` if that one is meant"),
        _ => format!("add the Gateway `{namespace}/{name}`, or name one that is there"),
    };
    out.add(unknown.basis, named.span, message, |finding| {
        let matches = matches::of_rules(routes.spec).flatten();
        let mut matched = matches.flat_map(|it| it.gateways.items());
        let matched = matched.find(|it| it.value == named.value);
        let finding = matched.iter().fold(finding, |finding, it| {
            finding.because(it.span, "this match never holds")
        });
        let meant = unknown.meant.and_then(|it| it.meta.name.as_ref());
        let finding = meant.iter().fold(finding, |finding, it| {
            finding.because(it.span, "a Gateway that may be meant")
        });
        let port = unknown.meant.and_then(server_port);
        let finding = port.iter().fold(finding, |finding, port| {
            finding.because(*port, "its first server, which does not get the rules")
        });
        finding.help(help)
    });
}

/// The number of the port of a Gateway's first server.
fn server_port(gateway: &Resource) -> Option<Span> {
    let Spec::Gateway(gateway) = &gateway.spec else {
        return None;
    };
    let port = gateway.servers.items().first()?.value.port.as_ref()?;
    port.value.number.as_ref().map(|number| number.span)
}
