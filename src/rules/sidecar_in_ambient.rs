//! A Sidecar where no sidecars are.

use super::ambient::Ambient;
use super::context::existing;
use super::{Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::resource::Spec;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "sidecar-in-ambient",
        summary: "a Sidecar in an ambient namespace has no effect",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/sidecar-in-ambient.md"),
    },
    build: super::plain::<SidecarInAmbient>,
};

#[derive(Debug, Default)]
pub(super) struct SidecarInAmbient;

impl Check for SidecarInAmbient {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let ambient = Ambient::of(cx);
        for resource in existing(cx.world) {
            let Spec::Sidecar(sidecar) = &resource.spec else {
                continue;
            };
            let Some((own, (_, label))) = resource
                .namespace()
                .and_then(|own| Some((own, ambient.get(Some(own))?)))
            else {
                continue;
            };
            let egress = sidecar.egress.as_ref().map(|it| it.key);
            let policy = sidecar.outbound_traffic_policy.as_ref().map(|it| it.key);
            // One for single pods is for such as have a sidecar.
            let for_all = sidecar.workload_selector.is_none();
            let Some(place) = egress.or(policy).filter(|_| for_all) else {
                continue;
            };
            let message = "this Sidecar has no effect: the pods of the namespace have no sidecar, and ztunnel does not read \
                           it";
            out.add(ambient.basis(own), place, message, |finding| {
                finding
                    .because(label, "the namespace is ambient")
                    .help("remove it; what may leave is decided by an AuthorizationPolicy on a waypoint, or by a NetworkPolicy")
            });
        }
    }
}
