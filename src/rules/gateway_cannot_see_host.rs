//! A host that is hidden from the gateway it is routed through.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::decode::Items;
use crate::istio::resource::Spec;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "gateway-cannot-see-host",
        summary: "`exportTo` hides the host from the egress gateway that routes to it",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/gateway-cannot-see-host.md"),
    },
    build: super::plain::<GatewayCannotSeeHost>,
};

#[derive(Debug, Default)]
pub(super) struct GatewayCannotSeeHost;

impl Check for GatewayCannotSeeHost {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for path in traffic.paths() {
            let (Some(declared), Some(hop)) = (path.declared, path.last()) else {
                continue;
            };
            let gone = hop.client().is_gateway() && path.reaches_host() && hop.cluster.is_none();
            let definition = cx.model.registry.definitions().get(declared.definition);
            let (Some(definition), Some(namespace)) = (definition, hop.client().namespace()) else {
                continue;
            };
            let Spec::ServiceEntry(entry) = &definition.resource.spec else {
                continue;
            };
            let hidden = definition.namespace().is_some_and(|own| own != namespace);
            let Some(place) = entry.export_to.items().first().map(|it| it.span) else {
                continue;
            };
            if !gone || !hidden || !out.is_first(place) {
                continue;
            }
            let message = format!(
                "`exportTo` hides `{}` from the egress gateway in `{namespace}`, which routes to it: requests fail \
                 there with 503",
                path.host
            );
            out.add(Basis::Proven, place, message, |finding| {
                let chosen = hop.result.clusters.get(hop.chosen);
                let lines = chosen.into_iter().flat_map(|it| it.name.spans()).take(1);
                lines
                    .fold(finding, |finding, line| {
                        finding.because(*line, "the gateway's route")
                    })
                    .because(declared.host, "the external host")
                    .help(format!("add `{namespace}` to `exportTo`"))
            });
        }
    }
}
