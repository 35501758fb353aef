//! An entry of `portLevelSettings` for a port that the host does not have.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashMap, HashSet};

use super::context::{HOSTS, policies};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Edit, Fix, Fixable, Safety, Severity};
use crate::egress::host::is_wildcard;
use crate::egress::service::Origin;
use crate::istio::decode::Items;
use crate::istio::resource::Resource;
use crate::istio::traffic::{DestinationRule, TrafficPolicy};
use crate::istio::value::PortSelector;
use crate::source::{Span, Spanned};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "port-level-unknown-port",
        summary: "a `portLevelSettings` entry is for a port that the host does not have",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
        since: "0.1.0",
        page: include_str!("../../rules/port-level-unknown-port.md"),
    },
    build: super::plain::<PortLevelUnknownPort>,
};

#[derive(Debug, Default)]
pub(super) struct PortLevelUnknownPort;

impl Check for PortLevelUnknownPort {
    fn says_absence(&self) -> bool {
        true
    }

    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, rule) in cx.destination_rules() {
            if policies(rule).all(|policy| policy.port_level_settings.items().is_empty()) {
                continue;
            }
            let Some(ports) = Ports::of(cx, resource, rule) else {
                continue;
            };
            for policy in policies(rule) {
                let taken: HashSet<i64> = entry_numbers(policy).map(|n| n.value).collect();
                for number in entry_numbers(policy) {
                    ports.judge(number, &taken, out);
                }
                for port in entry_ports(policy).filter(|port| port.value.number.is_none()) {
                    ports.judge_none(port.key, out);
                }
            }
        }
    }
}

/// The ports of all hosts that a rule is for.
struct Ports<'a> {
    host: &'a str,
    basis: Basis,
    /// With their lines.
    numbers: BTreeMap<u32, Span>,
    /// The ports that have it as their `targetPort`.
    by_target: HashMap<u32, BTreeSet<u32>>,
}

impl<'a> Ports<'a> {
    /// `None` where the files do not tell all ports of a host.
    fn of(cx: &Context<'_>, resource: &Resource, rule: &'a DestinationRule) -> Option<Self> {
        let host = rule.host.as_ref()?.value.as_str();
        let mut numbers = BTreeMap::new();
        let mut by_target: HashMap<u32, BTreeSet<u32>> = HashMap::default();
        let defined = cx.hosts_under(host, resource.namespace());
        if defined.len() == HOSTS || cx.has_faulty_entry(host) {
            return None;
        }
        for service in defined {
            if service.definition.origin != Origin::ServiceEntry {
                return None;
            }
            for port in &service.definition.ports {
                numbers.entry(port.number).or_insert(port.number_line);
                if let Some((target, _)) = port.target().and_then(|target| target.number()) {
                    by_target.entry(target).or_default().insert(port.number);
                }
            }
        }
        let unsure = numbers.is_empty() || numbers.contains_key(&0);
        let basis = match is_wildcard(host) && !cx.world.knows_all("ServiceEntry") {
            true => Basis::assuming(format!("no other host under `{host}` has this port")),
            false => Basis::Proven,
        };
        (!unsure).then_some(Self {
            host,
            basis,
            numbers,
            by_target,
        })
    }

    /// An entry whose port has no number, which is admitted and means port 0.
    fn judge_none(&self, port: Span, out: &mut Findings) {
        let message = format!(
            "this entry of `portLevelSettings` names no port of `{}`: it is never used",
            self.host
        );
        out.add(Basis::Proven, port, message, |finding| {
            finding.help(format!(
                "name a port that clients connect to: {}",
                self.list()
            ))
        });
    }

    /// Some of the ports, for a help.
    fn list(&self) -> String {
        let numbers = self.numbers.keys().take(LABELS);
        numbers.map(u32::to_string).collect::<Vec<_>>().join(", ")
    }

    fn judge(&self, number: &Spanned<i64>, taken: &HashSet<i64>, out: &mut Findings) {
        let Ok(wanted) = u32::try_from(number.value) else {
            return;
        };
        if self.numbers.contains_key(&wanted) {
            return;
        }
        let message = format!(
            "`{}` has no port {wanted}: this entry of `portLevelSettings` is never used",
            self.host
        );
        let targeting = self.by_target.get(&wanted).filter(|ports| ports.len() == 1);
        let right = targeting.and_then(|ports| ports.first()).copied();
        out.add(self.basis.clone(), number.span, message, |finding| {
            let Some(right) = right else {
                let ports = self.numbers.values().take(LABELS);
                let finding = ports.fold(finding, |finding, line| {
                    finding.because(*line, "a port that clients connect to")
                });
                return finding.help(format!(
                    "name a port that clients connect to: {}",
                    self.list()
                ));
            };
            let what = format!("clients connect to {right}; {wanted} is its `targetPort`");
            let lines = self.numbers.get(&right).into_iter();
            let finding = lines
                .fold(finding, |finding, line| {
                    finding.because(*line, what.clone())
                })
                .help(format!(
                    "write `number: {right}`: settings go by the port that clients connect to"
                ));
            if taken.contains(&i64::from(right)) {
                return finding;
            }
            finding.fix(Fix {
                safety: Safety::Unsafe,
                message: format!("name port {right}, so that the entry begins to act"),
                edits: vec![Edit {
                    span: number.span,
                    text: right.to_string(),
                }],
            })
        });
    }
}

/// More ports than that are not listed.
const LABELS: usize = 3;

fn entry_ports(policy: &TrafficPolicy) -> impl Iterator<Item = &Spanned<PortSelector>> {
    let entries = policy.port_level_settings.items().iter();
    entries.filter_map(|entry| entry.port.as_ref())
}

fn entry_numbers(policy: &TrafficPolicy) -> impl Iterator<Item = &Spanned<i64>> {
    entry_ports(policy).filter_map(|port| port.value.number.as_ref())
}
