//! A waypoint that nothing can be sent to.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::{Origin, Resolution};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "ambient-none-without-address",
        summary: "a host with `resolution: NONE` and no address cannot be sent to its waypoint",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/ambient-none-without-address.md"),
    },
    build: super::plain::<AmbientNoneWithoutAddress>,
};

#[derive(Debug, Default)]
pub(super) struct AmbientNoneWithoutAddress;

impl Check for AmbientNoneWithoutAddress {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for definition in cx
            .definitions()
            .iter()
            .filter(|it| it.origin == Origin::ServiceEntry)
        {
            let label = definition.resource.meta.labels.get("istio.io/use-waypoint");
            let label = label.filter(|it| !it.value.is_empty() && it.value != "none");
            let none =
                definition.resolution == Resolution::Passthrough && definition.addresses.is_empty();
            let (Some(label), Some(host)) = (label.filter(|_| none), definition.hosts.first())
            else {
                continue;
            };
            let place = definition.resolution_line.unwrap_or(host.line);
            let message = format!(
                "`{}` has no address by which ztunnel could send its traffic to the waypoint: with \
                 `resolution: NONE` none is allocated either",
                host.name
            );
            out.add(Basis::Proven, place, message, |finding| {
                finding
                    .because(label.span, "the waypoint that is meant to get the traffic")
                    .because(host.line, "the host without an address")
                    .help("set `resolution: DNS`, or give the entry `addresses`")
            });
        }
    }
}
