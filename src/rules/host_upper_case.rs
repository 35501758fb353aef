//! Upper case in a host.

use foldhash::HashMap;

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Edit, Fix, Fixable, Safety, Severity};
use crate::egress::cluster::ClusterName;
use crate::egress::service::Origin;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "host-upper-case",
        summary: "a host in upper case does not meet the same host in lower case",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
        since: "0.1.0",
        page: include_str!("../../rules/host-upper-case.md"),
    },
    build: super::plain::<HostUpperCase>,
};

#[derive(Debug, Default)]
pub(super) struct HostUpperCase;

impl Check for HostUpperCase {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        of_entries(cx, traffic, out);
    }

    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        of_rules(cx, out);
    }
}

/// Hosts whose requests are routed to a cluster of their name in lower case, which nobody makes.
fn of_entries(cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
    if !cx.version.routes_in_lower_case() {
        return;
    }
    for path in traffic.paths() {
        let Some(declared) = path.declared else {
            continue;
        };
        let lower = path.host.to_lowercase();
        let lost = path.hops.last().filter(|hop| hop.cluster.is_none());
        let Some(cluster) = lost.and_then(|hop| hop.cluster_name()) else {
            continue;
        };
        let is_of_host = ClusterName::parse(cluster).is_some_and(|name| name.host == lower);
        // Where a VirtualService names that cluster, it is a matter of its destination.
        let by_default = cx.routes_for(&path.host).next().is_none();
        if lower == path.host || !is_of_host || !by_default || !out.is_first(declared.host) {
            continue;
        }
        let message = format!(
            "requests to `{}` fail with 503: they are routed to `{cluster}`, and no cluster is called that",
            super::host_and_port(&path.host, path.port)
        );
        out.add(Basis::Proven, declared.host, message, |finding| {
            finding
                .because(declared.port, "HTTP: requests are routed, in lower case")
                .help("write the host in lower case, here and wherever it is named")
        });
    }
}

/// Rules for a host in upper case, where the host itself is in lower case.
fn of_rules(cx: &Context<'_>, out: &mut Findings) {
    let entries = cx
        .definitions()
        .iter()
        .filter(|it| it.origin == Origin::ServiceEntry);
    let hosts: HashMap<&str, Span> = entries
        .flat_map(|it| &it.hosts)
        .map(|it| (&*it.name, it.line))
        .collect();
    for (_, rule) in cx.destination_rules() {
        let Some(host) = &rule.host else { continue };
        let lower = host.value.to_lowercase();
        let Some(&entry) = hosts.get(lower.as_str()).filter(|_| lower != host.value) else {
            continue;
        };
        if hosts.contains_key(host.value.as_str()) {
            continue;
        }
        let message = format!(
            "`{}` is not `{lower}`: hosts of rules are compared letter by letter, and this rule is never used",
            host.value
        );
        out.add(Basis::Proven, host.span, message, |finding| {
            finding
                .because(entry, "the host in lower case")
                .help("write it in lower case")
                .fix(Fix {
                    safety: Safety::Unsafe,
                    message: "write it in lower case".to_owned(),
                    edits: vec![Edit {
                        span: host.span,
                        text: cx.sources.text(host.span).to_lowercase(),
                    }],
                })
        });
    }
}
