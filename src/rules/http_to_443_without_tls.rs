//! Plain HTTP to port 443.

use std::collections::BTreeSet;

use super::reached::reached;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::{Because, Handler};
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "http-to-443-without-tls",
        summary: "plain HTTP goes to port 443: nothing originates TLS",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/http-to-443-without-tls.md"),
    },
    build: super::plain::<HttpTo443WithoutTls>,
};

#[derive(Debug, Default)]
pub(super) struct HttpTo443WithoutTls;

impl Check for HttpTo443WithoutTls {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let mut seen: BTreeSet<Span> = BTreeSet::new();
        for reached in reached(cx) {
            let (hop, cluster) = (reached.hop, reached.cluster);
            let http = hop.result.handler == Some(Handler::Http);
            let to_443 = cluster
                .endpoints
                .iter()
                .any(|endpoint| endpoint.port.value == 443);
            // Where a rule says something about TLS, plain text is meant, or the fault is in that rule.
            let silent = matches!(cluster.tls.because, Because::Default(_));
            if !http || !to_443 || cluster.tls.is_some() || !silent {
                continue;
            }
            let chosen = hop.result.clusters.get(hop.chosen);
            let route = chosen.filter(|_| reached.port() != Some(reached.path.port));
            let route = route.and_then(|cluster| cluster.name.spans().get(1).copied());
            let place = route.unwrap_or(reached.port_line());
            if !seen.insert(place) {
                continue;
            }
            let message = format!(
                "plain HTTP goes to port 443 of `{}`: nothing originates TLS, and an HTTPS server refuses it",
                reached.path.host
            );
            let basis = if cx.world.closed {
                Basis::Proven
            } else {
                Basis::assuming(
                    "no DestinationRule elsewhere originates TLS, and that the server expects it",
                )
            };
            out.add(basis, place, message, |finding| {
                finding
                    .because(reached.port_line(), "declared to carry plain HTTP")
                    .because(reached.host_line(), "the external host")
                    .help("originate TLS with a DestinationRule (`tls: {mode: SIMPLE}`), or declare the port `TLS` if the application speaks HTTPS itself")
            });
        }
    }
}
