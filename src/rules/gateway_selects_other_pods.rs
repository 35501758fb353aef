//! A Gateway for other pods than those to which sidecars are led.

use smol_str::SmolStr;

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::cluster::ClusterName;
use crate::egress::path::Hop;
use crate::istio::decode::Map;
use crate::istio::resource::Spec;
use crate::source::Spanned;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "gateway-selects-other-pods",
        summary: "a Gateway selects other pods than those of the Service to which sidecars are led",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/gateway-selects-other-pods.md"),
    },
    build: super::plain::<GatewaySelectsOtherPods>,
};

#[derive(Debug, Default)]
pub(super) struct GatewaySelectsOtherPods;

impl Check for GatewaySelectsOtherPods {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for path in traffic.paths() {
            for leg in path.hops.windows(2) {
                let [sender, gateway] = leg else { continue };
                let Some((wanted, theirs)) = contradiction(cx, sender, gateway) else {
                    continue;
                };
                if !out.is_first(wanted.1.span) {
                    continue;
                }
                let message = format!(
                    "the Gateway selects other pods than the Service to which sidecars are led: the Service's pods know \
                     nothing of `{}`",
                    super::host_and_port(&path.host, path.port)
                );
                let (place, line) = (wanted.1.span, theirs.1.span);
                let together = cx.world.is_one_folder(place.file, line.file);
                out.add(Basis::together(together), place, message, |finding| {
                    let sent = sender.result.clusters.get(sender.chosen);
                    let sent = sent.and_then(|it| it.name.spans().first());
                    let finding = finding
                        .because(place, format!("selects `{}`", written(wanted)))
                        .because(line, format!("its pods have `{}`", written(theirs)));
                    sent.into_iter()
                        .fold(finding, |finding, sent| finding.because(*sent, "sidecars are led to it here"))
                        .help(format!(
                            "let the Gateway select `{}`, or lead sidecars to the Service of its pods",
                            written(theirs)
                        ))
                });
            }
        }
    }
}

/// So many labels of a selector are looked at.
const LABELS: usize = 64;

type Label = (Spanned<SmolStr>, Spanned<SmolStr>);

fn written((key, value): &Label) -> String {
    format!("{}={}", key.value, value.value)
}

/// A label of which the Gateway wants one value and the Service another, so that no pod is of both.
fn contradiction<'c>(
    cx: &Context<'c>,
    sender: &Hop,
    gateway: &Hop,
) -> Option<(&'c Label, &'c Label)> {
    sender
        .cluster
        .as_ref()
        .filter(|_| gateway.client().is_gateway())?;
    let name = ClusterName::parse(sender.cluster_name()?)?;
    let service = cx.model.registry.of_host(name.host).next()?;
    let Spec::Service(spec) = &service.definition.resource.spec else {
        return None;
    };
    let theirs = labels(spec.selector.as_ref()?);
    let gateways = cx.model.gateways.of(gateway.client());
    let wanted = gateways
        .into_iter()
        .filter_map(|(_, it)| it.selector.as_ref());
    wanted.flat_map(labels).take(LABELS).find_map(|wanted| {
        let contradicts =
            |it: &&Label| it.0.value == wanted.0.value && it.1.value != wanted.1.value;
        let mut theirs = theirs.iter().take(LABELS);
        Some((wanted, theirs.find(contradicts)?))
    })
}

fn labels(selector: &Spanned<Map<SmolStr>>) -> &[Label] {
    selector.value.entries()
}
