//! Plain HTTP to port 443.

use super::context::originates_tls;
use super::traffic::{Reached, Traffic};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::cluster::ClusterName;
use crate::egress::facts::{Because, Handler};
use crate::egress::service::{Definition, Port};
use crate::istio::decode::Items;
use crate::istio::resource::Resource;
use crate::istio::traffic::{ClientTlsMode, DestinationRule};
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
            let Some(plain) = Plain::of(cx, reached).filter(|it| !it.is_told_elsewhere(cx)) else {
                continue;
            };
            let unused = plain.unused_subset(cx);
            let unseen = plain.unseen(cx);
            let proxy = reached.hop.client();
            let caller = proxy.namespace().filter(|_| !proxy.is_gateway());
            let others_only = unseen.is_some() && unused.is_none();
            // Where those that call have rules of their own, a namespace that merely defines the host need not call.
            if others_only && caller.is_some_and(|it| plain.is_guessed(cx, it)) {
                continue;
            }
            // All that is sent to one port lacks the same.
            let place = plain.place();
            if !out.is_first(plain.declared.map_or(place, Port::line)) {
                continue;
            }
            let message = format!(
                "plain HTTP goes to port {} of `{}`: nothing originates TLS, and an HTTPS server refuses it",
                if plain.to_443 { 443 } else { reached.port },
                reached.path.host
            );
            let expects = plain.expects();
            let basis = match caller {
                // Where TLS is originated for others, these may be all that call.
                Some(namespace) if others_only => Basis::assuming(format!(
                    "clients in `{namespace}` call the host, and have no DestinationRule elsewhere"
                )),
                _ if cx.world.knows_all("DestinationRule") || unused.is_some() => Basis::Proven,
                _ => match expects {
                    Some(_) if plain.has_policy_of_client(cx) => Basis::Proven,
                    Some(_) => Basis::assuming("no DestinationRule elsewhere originates TLS"),
                    None => Basis::assuming(
                        "no DestinationRule elsewhere originates TLS, and that the server expects it",
                    ),
                },
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
            let because = [
                (expects.map(Port::line), "declared to carry TLS"),
                (
                    unused,
                    "TLS is originated in this subset, which no route uses",
                ),
                (unseen, "this rule originates TLS, but not for this proxy"),
                (Some(reached.port_line()), "declared to carry plain HTTP"),
                (Some(reached.host_line()), "the external host"),
            ];
            out.add(basis, place, message, |finding| {
                let because = because.into_iter();
                let lines = because.filter_map(|(line, why)| Some((line?, why)));
                lines
                    .fold(finding, |finding, (line, why)| finding.because(line, why))
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

/// HTTP that leaves the mesh in plain text, for a port that TLS is expected on.
struct Plain<'c> {
    reached: Reached<'c>,
    definition: Option<&'c Definition<'c>>,
    /// The port that it is sent to, as it is declared.
    declared: Option<&'c Port<'c>>,
    to_443: bool,
}

impl<'c> Plain<'c> {
    fn of(cx: &'c Context<'_>, reached: Reached<'c>) -> Option<Self> {
        let definition = reached.definition(cx);
        let mut endpoints = reached.cluster.endpoints.iter();
        let out = Self {
            reached,
            definition,
            declared: definition.and_then(|it| it.port(reached.port)),
            to_443: endpoints.any(|endpoint| endpoint.port.value == 443),
        };
        let http = reached.hop.result.handler == Some(Handler::Http);
        // Where a rule says something about TLS, plain text is meant, or the fault is in that rule.
        let tls = &reached.cluster.tls;
        let silent = tls.is_none() && matches!(tls.because, Because::Default(_));
        (http && silent && (out.to_443 || out.expects().is_some())).then_some(out)
    }

    /// The port, if it is declared to carry TLS: it expects that, whatever its number is.
    fn expects(&self) -> Option<&'c Port<'c>> {
        self.declared.filter(|it| it.protocol.is_tls())
    }

    /// Whether something else may originate TLS: the Gateway API, a rule for chosen workloads where no others need to
    /// call, or one that is misspelt or refused.
    fn is_told_elsewhere(&self, cx: &Context<'_>) -> bool {
        let host = &self.reached.path.host;
        let misspelt = |it: &Resource| it.misspells("tls") || it.misspells("mode");
        self.definition.is_some_and(|it| {
            cx.gateway_api().encrypts(it.resource) || it.resource.misspells("protocol")
        }) || cx
            .rules_for(host)
            .any(|(it, rule)| rule.workload_selector.is_some() || misspelt(it))
            || cx.has_faulty_rule(host)
            || self.loses_to_a_twin(cx)
    }

    /// Whether a rule of the same namespace and host originates TLS as well: of two Istio takes the policy of the older,
    /// which is told there.
    fn loses_to_a_twin(&self, cx: &Context<'_>) -> bool {
        self.applied(cx).any(|(resource, rule)| {
            let mut rules = cx.rules_for(&self.reached.path.host).take(RULES);
            rules.any(|(other, twin)| {
                let host = twin.host.as_ref();
                other.namespace() == resource.namespace()
                    && host.is_some_and(|it| !self.hosts_of_applied().contains(&it.span))
                    && twin.host.as_deref() == rule.host.as_deref()
                    && originates_tls(twin)
            })
        })
    }

    /// The route that leads to another port than the client's, or that port.
    fn place(&self) -> Span {
        let reached = &self.reached;
        let result = &reached.hop.result;
        let chosen = result.clusters.get(reached.hop.chosen);
        let chosen = chosen.filter(|_| reached.port != reached.path.port);
        let route = chosen.and_then(|cluster| cluster.name.spans().get(1));
        route.copied().unwrap_or(reached.port_line())
    }

    /// Whether nothing but the ServiceEntry makes the namespace a client.
    fn is_guessed(&self, cx: &Context<'_>, namespace: &str) -> bool {
        let host = &self.reached.path.host;
        let is_own = |it: Option<&str>| it == Some(namespace);
        let mut rules = cx.rules_for(host).take(RULES);
        let mut routes = cx.routes_for(host).take(RULES);
        self.definition.is_some_and(|it| is_own(it.namespace()))
            && !rules.any(|(it, _)| is_own(it.namespace()))
            && !routes.any(|it| is_own(it.namespace()))
    }

    /// Whether the rule that applies is the client's own, for this host, and has a policy: no rule elsewhere adds to that.
    fn has_policy_of_client(&self, cx: &Context<'_>) -> bool {
        let client = self.reached.hop.client().namespace();
        self.reached.has_rule_of_its_own(cx)
            && self
                .applied(cx)
                .any(|(it, rule)| it.namespace() == client && rule.traffic_policy.is_some())
    }

    /// The rules that apply to the cluster.
    fn applied(
        &self,
        cx: &'c Context<'_>,
    ) -> impl Iterator<Item = (&'c Resource, &'c DestinationRule)> {
        let rules = cx.rules_for(&self.reached.path.host).take(RULES);
        rules.filter(|(_, rule)| {
            let host = rule.host.as_ref();
            host.is_some_and(|host| self.hosts_of_applied().contains(&host.span))
        })
    }

    fn hosts_of_applied(&self) -> &'c [Span] {
        let rule = self.reached.cluster.destination_rule.as_ref();
        rule.map_or(&[], |rule| rule.spans())
    }

    /// The host of a rule that originates TLS and does not reach the proxy.
    fn unseen(&self, cx: &Context<'_>) -> Option<Span> {
        let mut rules = cx.rules_for(&self.reached.path.host).take(RULES);
        rules.find_map(|(_, rule)| {
            let host = rule.host.as_ref()?.span;
            (originates_tls(rule) && !self.hosts_of_applied().contains(&host)).then_some(host)
        })
    }

    /// The name of a subset that was to do it: the rule that applies originates TLS there, and the VirtualServices lead
    /// past it.
    fn unused_subset(&self, cx: &Context<'_>) -> Option<Span> {
        // Where no route is written here, one that is written elsewhere may lead to it.
        self.reached.hop.result.outcome.spans().first()?;
        let (_, rule) = self.applied(cx).next()?;
        let name = rule.subsets.items().iter().find_map(|subset| {
            let policy = subset.traffic_policy.as_ref()?;
            let tls = policy.value.tls.as_ref()?.value.mode.as_ref()?;
            (tls.value != ClientTlsMode::Disable).then_some(subset.name.as_ref()?)
        })?;
        let mut ports = self.definition?.ports.iter().take(RULES);
        let is_used = ports.any(|port| {
            cx.routes_http_to(&ClusterName {
                port: port.number,
                subset: &name.value,
                host: &self.reached.path.host,
            })
        });
        (!is_used).then_some(name.span)
    }
}

/// So many rules of one host are looked at.
const RULES: usize = 64;
