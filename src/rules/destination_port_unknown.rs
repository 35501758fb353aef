//! A route to a port that the external host does not have.

use super::targets::targets;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::http_rule::Target;
use crate::egress::service::{Origin, Port};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "destination-port-unknown",
        summary: "a route leads to a port that the host does not have: requests fail with 503",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/destination-port-unknown.md"),
    },
    build: super::plain::<DestinationPortUnknown>,
};

#[derive(Debug, Default)]
pub(super) struct DestinationPortUnknown;

/// More lines than that say nothing more.
const LABELS: usize = 3;

impl Check for DestinationPortUnknown {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for routes in cx.model.virtual_services.iter() {
            for target in targets(routes) {
                judge(cx, &target, out);
            }
        }
    }

    fn says_absence(&self) -> bool {
        true
    }
}

fn judge(cx: &Context<'_>, target: &Target<'_>, out: &mut Findings) {
    let host = target.host();
    let Some(wanted) = target.port() else { return };
    let mut ports: Vec<&Port<'_>> = Vec::new();
    for service in cx.model.registry.of_host(&host) {
        if service.definition.origin != Origin::ServiceEntry {
            return;
        }
        ports.extend(&service.definition.ports);
    }
    // A number that is 0 is not known.
    let found = |port: &&Port<'_>| i64::from(port.number) == wanted.value || port.number == 0;
    if ports.is_empty() || ports.iter().any(found) {
        return;
    }
    ports.sort_by_key(|port| port.number);
    ports.dedup_by_key(|port| port.number);
    let numbers: Vec<String> = ports.iter().map(|port| port.number.to_string()).collect();
    let message = format!(
        "`{host}` has no port {}: there is no cluster for it, and what takes this route fails with 503",
        wanted.value
    );
    let is_target = |port: &&&Port<'_>| {
        let target = port.target.and_then(|target| target.number());
        target.is_some_and(|(target, _)| i64::from(target) == wanted.value)
    };
    let help = match ports.iter().find(is_target) {
        Some(port) => format!(
            "lead it to port {}: {} is the `targetPort` behind it, and no port by itself",
            port.number, wanted.value
        ),
        None => format!(
            "lead it to a port of the host ({}), or add the port to its ServiceEntry",
            numbers.join(", ")
        ),
    };
    out.add(Basis::Proven, wanted.span, message, |finding| {
        let lines = ports.iter().take(LABELS);
        lines
            .fold(finding, |finding, port| {
                finding.because(port.number_line, "a port of the host")
            })
            .help(help)
    });
}
