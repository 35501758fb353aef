//! A rule for a port that none of its hosts has.

use foldhash::HashSet;

use super::subjects::Subjects;
use super::{Basis, Check, Context, Findings, Meta, RuleDef, matches};
use crate::diag::{Fixable, Severity};
use crate::egress::service::Port;
use crate::istio::decode::Items;
use crate::istio::resource::Spec;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "match-port-unknown",
        summary: "a rule for sidecars matches a port that its hosts do not have: it never holds",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/match-port-unknown.md"),
    },
    build: super::plain::<MatchPortUnknown>,
};

#[derive(Debug, Default)]
pub(super) struct MatchPortUnknown;

/// More lines than that say nothing more.
const LABELS: usize = 3;

/// More ports than that are not told.
const NUMBERS: usize = 8;

/// So many ports are asked for the `targetPort` that was meant.
const LOOKED_AT: usize = 256;

impl Check for MatchPortUnknown {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let of_sidecars = listener_ports(cx);
        for (resource, service) in cx.virtual_services() {
            let mut matched = matches::sections(service).peekable();
            if matched.peek().is_none() {
                continue;
            }
            let Some(subjects) = Subjects::of(cx, resource, service) else {
                continue;
            };
            let (ports, Some((host, _))) = (subjects.ports(), subjects.ports().first()) else {
                continue;
            };
            // A number that is 0 is not known.
            if !subjects.ports_of(0).is_empty() {
                continue;
            }
            for wanted in matched.flat_map(|section| subjects.matched_ports(section)) {
                let is_known = !subjects.ports_of(wanted.value).is_empty();
                if is_known || of_sidecars.contains(&wanted.value) {
                    continue;
                }
                let numbers = numbers(ports);
                let message = format!(
                    "`{host}` has no port {}, only {numbers}: this match never holds",
                    wanted.value
                );
                let is_target = |it: &&(&str, &Port<'_>)| {
                    let target = it.1.target().and_then(|target| target.number());
                    target.is_some_and(|(target, _)| i64::from(target) == wanted.value)
                };
                let help = match ports.iter().take(LOOKED_AT).find(is_target) {
                    Some((_, port)) => format!(
                        "match port {}, to which applications connect: {} is the `targetPort` behind it",
                        port.number, wanted.value
                    ),
                    None => format!(
                        "match a port of the host ({numbers}), or add the port to its ServiceEntry"
                    ),
                };
                out.add(Basis::Proven, wanted.span, message, |finding| {
                    let lines = ports.iter().take(LABELS);
                    lines
                        .fold(finding, |finding, (_, port)| {
                            finding.because(port.number_line, "a port of the host")
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

/// The ports that Sidecars open by themselves.
fn listener_ports(cx: &Context<'_>) -> HashSet<i64> {
    let sidecars = cx.world.resources.iter().filter_map(|it| match &it.spec {
        Spec::Sidecar(sidecar) => Some(sidecar),
        _ => None,
    });
    let listeners = sidecars.flat_map(|it| it.egress.items());
    let numbers = listeners.filter_map(|it| it.value.port.as_ref()?.value.number.as_ref());
    numbers.map(|number| number.value).collect()
}

/// The first numbers, for messages.
fn numbers(ports: &[(&str, &Port<'_>)]) -> String {
    let mut numbers: Vec<u32> = Vec::new();
    for (_, port) in ports {
        if numbers.last() != Some(&port.number) {
            numbers.push(port.number);
        }
        if numbers.len() > NUMBERS {
            break;
        }
    }
    let more = if numbers.len() > NUMBERS { ", …" } else { "" };
    let first: Vec<String> = numbers.iter().take(NUMBERS).map(u32::to_string).collect();
    first.join(", ") + more
}
