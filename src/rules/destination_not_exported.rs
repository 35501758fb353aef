//! A route to a host that its clients do not see.

use smol_str::SmolStr;

use super::targets::targets_for_sidecars;
use super::unknown_hosts::is_slip;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::{Origin, Service};
use crate::egress::virtual_service::{Binding, VirtualService as Routes};
use crate::istio::decode::Items;
use crate::istio::resource::Spec;
use crate::source::Spanned;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "destination-not-exported",
        summary: "a route leads to a host that `exportTo` hides from its clients: requests fail with 503",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/destination-not-exported.md"),
    },
    build: super::plain::<DestinationNotExported>,
};

#[derive(Debug, Default)]
pub(super) struct DestinationNotExported;

/// So many definitions of a host are looked at.
const DEFINITIONS: usize = 64;

impl Check for DestinationNotExported {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let registry = &cx.model.registry;
        for routes in cx.model.virtual_services.iter() {
            let client = routes.client();
            let Some(namespace) = client.namespace() else {
                continue;
            };
            // What the root namespace holds is for clients elsewhere.
            let is_central = namespace == cx.model.rules.root_namespace();
            if is_central || !routes.bindings.contains(&Binding::Mesh) {
                continue;
            }
            for target in targets_for_sidecars(routes) {
                let host = target.host();
                let mut services = registry.of_host(&host).take(DEFINITIONS + 1).peekable();
                let Some(first) = services.peek().copied() else {
                    continue;
                };
                let is_hidden = |it: Service<'_>| {
                    it.origin == Origin::ServiceEntry
                        && it.namespace().is_some()
                        && registry.exposure(&it, Some(namespace)).is_none()
                };
                let mut number = 0;
                let all_hidden = services.all(|it| {
                    number += 1;
                    number <= DEFINITIONS && is_hidden(it)
                });
                let Spec::ServiceEntry(entry) = &first.definition.resource.spec else {
                    continue;
                };
                if !all_hidden {
                    continue;
                }
                let own = first.namespace().unwrap_or_default();
                let message = format!(
                    "`{host}` of namespace `{own}` is not exported to `{namespace}`: there is no cluster for it \
                     there, and requests fail with 503"
                );
                let meant = |it: &Spanned<SmolStr>| is_slip(&it.value, namespace);
                let exported = entry.export_to.items();
                let is_certain =
                    exported.iter().take(DEFINITIONS).any(meant) || is_for_own(routes, namespace);
                let basis = match is_certain {
                    true => Basis::Proven,
                    false => {
                        Basis::assuming(format!("clients in `{namespace}` use this VirtualService"))
                    }
                };
                out.add(basis, target.line, message, |finding| {
                    let hides = entry.export_to.items().first().map(|it| it.span);
                    hides
                        .into_iter()
                        .fold(finding, |finding, line| {
                            finding.because(line, "this hides it")
                        })
                        .because(first.host.line, "the host")
                        .help(format!(
                            "add `{namespace}` to `exportTo` of the ServiceEntry"
                        ))
                });
            }
        }
    }
}

/// Whether the VirtualService is for clients of that namespace alone, its own or another.
fn is_for_own(routes: &Routes<'_>, namespace: &str) -> bool {
    let exported = routes.spec.export_to.items();
    !exported.is_empty()
        && exported
            .iter()
            .all(|it| it.value == "." || it.value == namespace)
}
