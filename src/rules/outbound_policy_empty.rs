//! An outbound policy that blocks by saying nothing.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::resource::Spec;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "outbound-policy-empty",
        summary: "`outboundTrafficPolicy: {}` of a Sidecar means `REGISTRY_ONLY`: unknown hosts are blocked",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/outbound-policy-empty.md"),
    },
    build: super::plain::<OutboundPolicyEmpty>,
};

#[derive(Debug, Default)]
pub(super) struct OutboundPolicyEmpty;

impl Check for OutboundPolicyEmpty {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for resource in cx.world.resources.iter().filter(|it| !it.refused) {
            let Spec::Sidecar(sidecar) = &resource.spec else {
                continue;
            };
            let Some(policy) = &sidecar.outbound_traffic_policy else {
                continue;
            };
            if policy.value.mode.is_some() || policy.value.egress_proxy.is_some() {
                continue;
            }
            let message = "`outboundTrafficPolicy` without `mode` means `REGISTRY_ONLY` and replaces the mesh's \
                           policy: hosts without an entry are blocked";
            out.add(Basis::Proven, policy.key, message, |finding| {
                finding
                    .absent("mode")
                    .help("write `mode: REGISTRY_ONLY` if that is meant, or remove the block to follow the mesh")
            });
        }
    }
}
