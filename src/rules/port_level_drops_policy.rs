//! Blocks of a policy that do not reach a port, because `portLevelSettings` has an entry for it.

use std::collections::BTreeMap;

use super::clusters::Cluster;
use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Edit, Fix, Fixable, Safety, Severity};
use crate::egress::facts::{ClusterType, LOST_TO_PORT, Overridden};
use crate::istio::traffic::PortTrafficPolicy;
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
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for cluster in traffic.clusters() {
            // By the number of the entry.
            let mut entries: BTreeMap<Span, BTreeMap<Span, &str>> = BTreeMap::new();
            for lost in &cluster.facts.overridden {
                if lost.reason == LOST_TO_PORT && would_act(cx, lost, cluster) {
                    let blocks = entries.entry(lost.because).or_default();
                    blocks.insert(lost.span, lost.block);
                }
            }
            for (number, blocks) in entries {
                report(cx, number, &blocks, cluster, out);
            }
        }
    }
}

fn report(
    cx: &Context<'_>,
    number: Span,
    blocks: &BTreeMap<Span, &str>,
    cluster: &Cluster<'_>,
    out: &mut Findings,
) {
    // The cluster that loses most says it for all.
    let kept = u32::try_from(blocks.len()).map_or(0, |lost| u32::MAX - lost);
    if !out.is_worst(number, (0, kept)) {
        return;
    }
    let entry = cx.port_entry(number);
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
    out.add_worst((number, (0, kept)), basis, place, message, |mut finding| {
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

/// Whether a block would do anything for the cluster, if it were not lost.
fn would_act(cx: &Context<'_>, lost: &Overridden, cluster: &Cluster<'_>) -> bool {
    match lost.block {
        // One host, or none that the proxy chooses: there is nothing to balance, and nowhere else to go.
        "loadBalancer" | "outlierDetection" => !matches!(
            cluster.facts.cluster_type.value,
            ClusterType::LogicalDns | ClusterType::OriginalDst
        ),
        // It would encrypt once more what the application has encrypted.
        "tls" => cluster.http || !cluster.port.protocol.is_tls(),
        "connectionPool" if !cluster.http => {
            // The TCP proxy takes its two durations from the top level all the same.
            let tcp = cx
                .connection_pool(lost.span)
                .and_then(|pool| pool.tcp.as_ref());
            tcp.is_some_and(|tcp| {
                tcp.max_connections.is_some()
                    || tcp.connect_timeout.is_some()
                    || tcp.tcp_keepalive.is_some()
            })
        }
        _ => true,
    }
}
