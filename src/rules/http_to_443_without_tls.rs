//! Plain HTTP to port 443.

use super::context::tls_blocks;
use super::traffic::{Reached, Traffic};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::cluster::ClusterName;
use crate::egress::facts::{Because, Handler};
use crate::istio::decode::Items;
use crate::istio::resource::Resource;
use crate::istio::traffic::ClientTlsMode;
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
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let (hop, cluster) = (reached.hop, reached.cluster);
            let http = hop.result.handler == Some(Handler::Http);
            let to_443 = cluster
                .endpoints
                .iter()
                .any(|endpoint| endpoint.port.value == 443);
            // Where a rule says something about TLS, plain text is meant, or the fault is in that rule.
            let silent = matches!(cluster.tls.because, Because::Default(_));
            // A port that is declared to carry TLS expects it, whatever its number is.
            let port = reached.port;
            let expects = reached.definition(cx).and_then(|it| it.port(port));
            let expects = expects.filter(|it| it.protocol.is_tls());
            let encrypts = cluster.tls.is_some() || !silent;
            if !http || encrypts || !to_443 && expects.is_none() {
                continue;
            }
            let definition = reached.definition(cx);
            if definition.is_some_and(|it| cx.gateway_api().encrypts(it.resource)) {
                continue;
            }
            // A rule for chosen workloads may do it, and no others need to call. One that is misspelt or refused was to do it.
            let mut rules = cx.rules_for(&reached.path.host);
            let misspelt = |it: &Resource| it.misspells("tls") || it.misspells("mode");
            if rules.any(|(it, rule)| rule.workload_selector.is_some() || misspelt(it))
                || definition.is_some_and(|it| it.resource.misspells("protocol"))
                || cx.has_faulty_rule(&reached.path.host)
            {
                continue;
            }
            let chosen = hop.result.clusters.get(hop.chosen);
            let route = chosen.filter(|_| reached.port != reached.path.port);
            let route = route.and_then(|cluster| cluster.name.spans().get(1).copied());
            let place = route.unwrap_or(reached.port_line());
            let unused = unused_subset(cx, &reached);
            let unseen = unseen(cx, &reached);
            let proxy = hop.client();
            let caller = proxy.namespace().filter(|_| !proxy.is_gateway());
            let others_only = unseen.is_some() && unused.is_none();
            // Where those that call have rules of their own, a namespace that merely defines the host need not call.
            if others_only && caller.is_some_and(|it| is_guessed(cx, &reached, it)) {
                continue;
            }
            // All that is sent to one port lacks the same.
            let declared = definition.and_then(|it| it.port(port));
            let declared = declared.map(|it| it.line());
            if !out.is_first(declared.unwrap_or(place)) {
                continue;
            }
            let message = format!(
                "plain HTTP goes to port {} of `{}`: nothing originates TLS, and an HTTPS server refuses it",
                if to_443 { 443 } else { port },
                reached.path.host
            );
            let basis = match caller {
                // Where TLS is originated for others, these may be all that call.
                Some(namespace) if others_only => Basis::assuming(format!(
                    "clients in `{namespace}` call the host, and have no DestinationRule elsewhere"
                )),
                _ if cx.world.closed || expects.is_some() || unused.is_some() => Basis::Proven,
                _ => Basis::assuming(
                    "no DestinationRule elsewhere originates TLS, and that the server expects it",
                ),
            };
            let help = match expects {
                _ if unused.is_some() => {
                    "set the `subset` in the route, or move its `tls` to the policy of the host"
                }
                Some(_) => "originate TLS with a DestinationRule (`tls: {mode: SIMPLE}`)",
                None => {
                    "originate TLS with a DestinationRule (`tls: {mode: SIMPLE}`), or declare the port `TLS` if the \
                     application speaks HTTPS itself"
                }
            };
            out.add(basis, place, message, |finding| {
                let lines = expects.map(|it| it.line());
                let finding = lines.into_iter().fold(finding, |finding, line| {
                    finding.because(line, "declared to carry TLS")
                });
                let finding = unused.into_iter().fold(finding, |finding, line| {
                    finding.because(
                        line,
                        "TLS is originated in this subset, which no route uses",
                    )
                });
                unseen
                    .into_iter()
                    .fold(finding, |finding, line| {
                        finding.because(line, "this rule originates TLS, but not for this proxy")
                    })
                    .because(reached.port_line(), "declared to carry plain HTTP")
                    .because(reached.host_line(), "the external host")
                    .help(help)
            });
        }
    }

    fn yields_to(&self) -> &'static [&'static str] {
        &[
            "destination-rule-on-alias",
            "destination-rule-shadowed",
            "destination-rule-unseen",
        ]
    }
}

/// Whether nothing but the ServiceEntry makes the namespace a client.
fn is_guessed(cx: &Context<'_>, reached: &Reached<'_>, namespace: &str) -> bool {
    let host = &reached.path.host;
    let is_own = |it: Option<&str>| it == Some(namespace);
    let mut rules = cx.rules_for(host).take(RULES);
    let mut routes = cx.routes_for(host).take(RULES);
    let definition = reached.definition(cx);
    definition.is_some_and(|it| is_own(it.namespace()))
        && !rules.any(|(it, _)| is_own(it.namespace()))
        && !routes.any(|it| is_own(it.namespace()))
}

/// The host of a rule that originates TLS and does not reach the proxy.
fn unseen(cx: &Context<'_>, reached: &Reached<'_>) -> Option<Span> {
    let applied = reached.cluster.destination_rule.as_ref();
    let applied = applied.map_or(&[][..], |rule| rule.spans());
    let mut rules = cx.rules_for(&reached.path.host).take(RULES);
    rules.find_map(|(_, rule)| {
        let host = rule.host.as_ref()?.span;
        let mut modes = tls_blocks(rule).filter_map(|tls| tls.value.mode.as_ref());
        let originates = modes.any(|mode| mode.value != ClientTlsMode::Disable);
        (originates && !applied.contains(&host)).then_some(host)
    })
}

/// The name of a subset that was to do it: the rule that applies originates TLS there, and the VirtualServices lead past
/// it.
fn unused_subset(cx: &Context<'_>, reached: &Reached<'_>) -> Option<Span> {
    // Where no route is written here, one that is written elsewhere may lead to it.
    reached.hop.result.outcome.spans().first()?;
    let applied = reached.cluster.destination_rule.as_ref()?.spans();
    let mut rules = cx.rules_for(&reached.path.host).take(RULES);
    let rule = rules.find_map(|(_, rule)| {
        let host = rule.host.as_ref()?;
        applied.contains(&host.span).then_some(rule)
    })?;
    let name = rule.subsets.items().iter().find_map(|subset| {
        let policy = subset.traffic_policy.as_ref()?;
        let tls = policy.value.tls.as_ref()?.value.mode.as_ref()?;
        (tls.value != ClientTlsMode::Disable).then_some(subset.name.as_ref()?)
    })?;
    let mut ports = reached.definition(cx)?.ports.iter().take(RULES);
    let is_used = ports.any(|port| {
        cx.routes_http_to(&ClusterName {
            port: port.number,
            subset: &name.value,
            host: &reached.path.host,
        })
    });
    (!is_used).then_some(name.span)
}

/// So many rules of one host are looked at.
const RULES: usize = 64;
