//! Every rotating answer replaces the hosts.

use super::traffic::{Reached, Traffic};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::config::Class;
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::egress::facts::{ClusterType, Handler};
use crate::yaml::Value;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "strict-dns-on-cdn",
        summary: "`resolution: DNS` on a host whose answers rotate: each answer replaces the hosts",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
        since: "0.1.0",
        page: include_str!("../../rules/strict-dns-on-cdn.md"),
    },
    build: super::plain::<StrictDnsOnCdn>,
};

#[derive(Debug, Default)]
pub(super) struct StrictDnsOnCdn;

impl Check for StrictDnsOnCdn {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let kind = &reached.cluster.cluster_type;
            let facts = reached.facts(cx);
            let Some(class) = facts.class.filter(|it| it.value == Class::Cdn) else {
                continue;
            };
            let place = kind.spans().first().copied().unwrap_or(reached.host_line());
            if kind.value != ClusterType::StrictDns || !out.is_first(place) {
                continue;
            }
            let cost = match reached.hop.result.handler {
                Some(Handler::Http) => "idle connections are closed each time",
                _ if reached.cluster.outlier.is_some() => {
                    "outlier detection forgets them each time"
                }
                _ => "connections stay, but all hosts are replaced each time",
            };
            let message = format!(
                "each answer for `{}` holds other addresses, which `DNS` takes for a change of the hosts: {cost}",
                reached.path.host
            );
            let basis =
                Basis::assuming("an address that left the answer still works, as it is with a CDN");
            out.add(basis, place, message, |finding| {
                let line = class.span();
                line.into_iter()
                    .fold(finding, |finding, line| finding.because(line, "the host is a CDN"))
                    .because(reached.host_line(), "the external host")
                    .help("`DNS_ROUND_ROBIN` uses the latest answer for new connections and keeps the others")
                    .fix(fix(cx, &reached))
            });
        }
    }
}

/// Logical DNS has room for one name, and for no outlier detection. Unsafe: new connections follow other answers.
fn fix(cx: &Context<'_>, reached: &Reached<'_>) -> Option<Fix> {
    let definition = reached.definition(cx)?;
    let one = definition.hosts.len() == 1 && reached.cluster.endpoints.len() == 1;
    if !one || reached.cluster.outlier.is_some() {
        return None;
    }
    let value = Value::from("DNS_ROUND_ROBIN");
    let edit = cx
        .texts
        .edit(definition.resolution_line?, |it| it.set(&value))?;
    let message = "use the latest answer for new connections only";
    Some(Fix::new(Safety::Unsafe, message, edit))
}
