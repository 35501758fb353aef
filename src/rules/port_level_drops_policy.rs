//! Blocks of a policy that do not reach a port, because `portLevelSettings` has an entry for it.

use std::collections::BTreeMap;

use super::clusters::Cluster;
use super::context::policies;
use super::overview::Overview;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Edit, Fix, Fixable, Safety, Severity};
use crate::egress::facts::{ClusterType, LOST_TO_PORT};
use crate::istio::decode::Items;
use crate::istio::traffic::{ConnectionPool, PortTrafficPolicy, TrafficPolicy};
use crate::source::{Span, Spanned};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "port-level-drops-policy",
        summary: "a `portLevelSettings` entry takes its port the blocks that it does not repeat",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
        since: "0.1.0",
        page: include_str!("../../rules/port-level-drops-policy.md"),
    },
    build: super::plain::<PortLevelDropsPolicy>,
};

#[derive(Debug, Default)]
pub(super) struct PortLevelDropsPolicy;

impl Check for PortLevelDropsPolicy {
    fn check_overview(&self, cx: &Context<'_>, overview: &Overview<'_>, out: &mut Findings) {
        let written = Written::of(cx);
        // By the number of the entry: the lost blocks, and a cluster that lost them.
        let mut entries: BTreeMap<Span, (BTreeMap<Span, &str>, &Cluster<'_>)> = BTreeMap::new();
        for cluster in overview.clusters() {
            for lost in &cluster.facts.overridden {
                if lost.reason == LOST_TO_PORT && written.would_act(lost.span, lost.block, cluster)
                {
                    let entry = entries
                        .entry(lost.because)
                        .or_insert((BTreeMap::new(), cluster));
                    entry.0.insert(lost.span, lost.block);
                }
            }
        }
        for (number, (blocks, cluster)) in entries {
            report(cx, &written, number, &blocks, cluster, out);
        }
    }
}

fn report(
    cx: &Context<'_>,
    written: &Written<'_>,
    number: Span,
    blocks: &BTreeMap<Span, &str>,
    cluster: &Cluster<'_>,
    out: &mut Findings,
) {
    let entry = written.entries.get(&number);
    let names: Vec<String> = blocks.values().map(|block| format!("`{block}`")).collect();
    let basis = match blocks.values().all(|block| *block == "loadBalancer") {
        true => Basis::assuming("the port needs another balancing than the default, least request"),
        false => Basis::Proven,
    };
    let message = format!(
        "port {} of `{}` loses {}: this `portLevelSettings` entry is the whole policy of the port",
        cluster.port.number,
        cluster.service.name(),
        and(&names),
    );
    let beyond = blocks.values().find(|block| BEYOND.contains(block));
    let help = match beyond {
        Some(block) => format!(
            "an entry cannot hold `{block}`: set at the top level what the entry sets, if it may hold for all ports"
        ),
        None => format!("repeat {} inside the entry", and(&names)),
    };
    let place = entry.map_or(number, |entry| entry.key);
    out.add(basis, place, message, |mut finding| {
        if let Some(first) = blocks.values().next() {
            finding = finding.absent(*first);
        }
        for (span, block) in blocks {
            finding = finding.because(*span, format!("this `{block}` does not reach the port"));
        }
        finding = finding
            .because(cluster.service.host.line, "the host that it is for")
            .help(help);
        finding.fix(entry.and_then(|entry| fix(cx, entry, blocks, cluster)))
    });
}

/// What an entry cannot hold.
const BEYOND: [&str; 2] = ["retryBudget", "proxyProtocol"];

fn and(names: &[String]) -> String {
    match names {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => names.join(", "),
    }
}

/// Repeats the blocks in the entry. One edit, since all go to one place.
fn fix(
    cx: &Context<'_>,
    entry: &Spanned<PortTrafficPolicy>,
    blocks: &BTreeMap<Span, &str>,
    cluster: &Cluster<'_>,
) -> Option<Fix> {
    let mut edits = Vec::new();
    for (key, block) in blocks {
        if BEYOND.contains(block) {
            return None;
        }
        edits.push(cx.texts.copy(*key, entry.key)?);
    }
    let edit = Edit {
        span: edits.first()?.span,
        text: edits.into_iter().map(|edit| edit.text).collect(),
    };
    let safety = Safety::safe_if(cluster.has_rule_of_its_own(cx));
    let message = "repeat the lost blocks inside the entry";
    Some(Fix::new(safety, message, edit))
}

/// What stands in the DestinationRules, found by its place.
struct Written<'c> {
    /// By the place of the number.
    entries: BTreeMap<Span, &'c Spanned<PortTrafficPolicy>>,
    pools: BTreeMap<Span, &'c ConnectionPool>,
}

impl<'c> Written<'c> {
    fn of(cx: &Context<'c>) -> Self {
        let mut out = Self {
            entries: BTreeMap::new(),
            pools: BTreeMap::new(),
        };
        for (_, rule) in cx.destination_rules() {
            for policy in policies(rule) {
                out.add(policy);
            }
        }
        out
    }

    fn add(&mut self, policy: &'c TrafficPolicy) {
        let entries = policy.port_level_settings.items();
        if entries.is_empty() {
            return;
        }
        for entry in entries {
            let number = entry
                .port
                .as_ref()
                .and_then(|port| port.value.number.as_ref());
            if let Some(number) = number {
                self.entries.insert(number.span, entry);
            }
        }
        if let Some(pool) = &policy.connection_pool {
            self.pools.insert(pool.key, &pool.value);
        }
    }

    /// Whether a block would do anything for the cluster, if it were not lost.
    fn would_act(&self, key: Span, block: &str, cluster: &Cluster<'_>) -> bool {
        match block {
            // One host, or none that the proxy chooses: there is nothing to balance, and nowhere else to go.
            "loadBalancer" | "outlierDetection" => !matches!(
                cluster.facts.cluster_type.value,
                ClusterType::LogicalDns | ClusterType::OriginalDst
            ),
            // It would encrypt once more what the application has encrypted.
            "tls" => cluster.http || !cluster.port.protocol.is_tls(),
            "connectionPool" if !cluster.http => {
                // The TCP proxy takes its two durations from the top level all the same.
                let tcp = self.pools.get(&key).and_then(|pool| pool.tcp.as_ref());
                tcp.is_some_and(|tcp| {
                    tcp.max_connections.is_some()
                        || tcp.connect_timeout.is_some()
                        || tcp.tcp_keepalive.is_some()
                })
            }
            _ => true,
        }
    }
}
