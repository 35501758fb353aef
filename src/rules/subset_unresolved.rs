//! A route to a subset for which the proxy has no cluster.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::cluster::ClusterName;
use crate::egress::facts::{ClusterFacts, ClusterType, Traced};
use crate::egress::path::Hop;
use crate::egress::service::Service;
use crate::istio::decode::Items;
use crate::istio::resource::Spec;
use crate::istio::traffic::DestinationRule;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "subset-unresolved",
        summary: "a route names a subset that the client's proxy does not have: requests fail with 503",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/subset-unresolved.md"),
    },
    build: super::plain::<SubsetUnresolved>,
};

#[derive(Debug, Default)]
pub(super) struct SubsetUnresolved;

impl Check for SubsetUnresolved {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for hop in traffic.paths().iter().flat_map(|path| &path.hops) {
            if let Some(chosen) = hop.result.clusters.get(hop.chosen) {
                let cluster = hop.cluster.as_deref();
                judge(cx, hop, &chosen.name, State::of(cluster), out);
            }
            let route = hop.result.route.as_ref();
            let mirrors = route.iter().flat_map(|route| &route.mirrors);
            for mirror in mirrors.take(MIRRORS) {
                if ClusterName::parse(mirror).is_some_and(|name| !name.subset.is_empty()) {
                    let cluster = cx.model.cluster(hop.client(), mirror);
                    judge(cx, hop, mirror, State::of(cluster.as_ref()), out);
                }
            }
        }
    }

    fn says_absence(&self) -> bool {
        true
    }
}

/// So many mirrors of a route are looked at.
const MIRRORS: usize = 16;

/// What a proxy has of a cluster.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Missing,
    /// It has no endpoint.
    Empty,
    There,
}

impl State {
    fn of(cluster: Option<&ClusterFacts>) -> Self {
        match cluster {
            None => Self::Missing,
            Some(facts) => {
                let listed = facts.cluster_type.value == ClusterType::Eds;
                match listed && facts.endpoints.is_empty() {
                    true => Self::Empty,
                    false => Self::There,
                }
            }
        }
    }
}

fn judge(cx: &Context<'_>, hop: &Hop, cluster: &Traced<String>, state: State, out: &mut Findings) {
    let (Some(name), Some(&place)) = (ClusterName::parse(cluster), cluster.spans().last()) else {
        return;
    };
    let Some(service) = cx.model.registry.of_host(name.host).next() else {
        return;
    };
    let fails = match state {
        State::Missing => true,
        State::Empty => lists_endpoints(&service),
        State::There => false,
    };
    if !fails || name.subset.is_empty() || service.port(name.port).is_none() {
        return;
    }
    let rules: Vec<_> = cx.rules_for(name.host).take(RULES).collect();
    if cx.has_faulty_rule(name.host) {
        return;
    }
    if rules.is_empty() && !cx.world.knows_all("DestinationRule") || !out.is_first(place) {
        return;
    }
    let defining = rules
        .iter()
        .find_map(|(resource, rule)| Some((resource, subset(rule, name.subset)?)));
    let unlabelled = defining.is_some() && applies(cx, hop, &name);
    // A VirtualService of an unknown namespace may be for clients beside that rule.
    let mut routes = cx.routes_for(&hop.call.host).take(RULES);
    let is_anywhere = routes.any(|it| it.namespace().is_none() && it.resource.span.contains(place));
    if defining.is_some() && !unlabelled && is_anywhere {
        return;
    }
    let why = match &defining {
        None => "no DestinationRule for the host defines it".to_owned(),
        Some(_) if unlabelled => "its labels select no endpoint of the host".to_owned(),
        Some((resource, _)) => format!(
            "the rule that defines it, in `{}`, does not apply to clients in `{}`",
            resource.namespace().unwrap_or("another namespace"),
            hop.client().namespace().unwrap_or("the client's namespace"),
        ),
    };
    let help = match unlabelled {
        true => "give the endpoints of the host these labels, or the subset none",
        false => {
            "define the subset in a DestinationRule of the client's namespace, of the host's, or of the root namespace"
        }
    };
    let what = match state {
        State::Empty => "no endpoint",
        _ => "no cluster",
    };
    let message = format!(
        "there is {what} for the subset `{}` of `{}`: {why}",
        name.subset, name.host
    );
    out.add(Basis::Proven, place, message, |finding| {
        let line = defining.map(|(_, line)| line);
        let line = line.or_else(|| {
            rules
                .first()
                .and_then(|(_, rule)| Some(rule.host.as_ref()?.span))
        });
        line.into_iter()
            .fold(finding, |finding, line| {
                finding.because(line, "the rule for the host")
            })
            .because(service.host.line, "the host")
            .help(help)
    });
}

/// Whether the files tell all endpoints: pods and `WorkloadEntry`s that are selected may stand elsewhere.
fn lists_endpoints(service: &Service<'_>) -> bool {
    let Spec::ServiceEntry(entry) = &service.definition.resource.spec else {
        return false;
    };
    entry.workload_selector.is_none()
}

/// Whether the rule that the proxy has for the host defines the subset.
fn applies(cx: &Context<'_>, hop: &Hop, name: &ClusterName<'_>) -> bool {
    let rule = cx.model.proxy(hop.client()).destination_rule(name.host);
    rule.is_some_and(|rule| rule.subset(name.subset).is_some())
}

/// So many rules for one host are looked at.
const RULES: usize = 64;

fn subset(rule: &DestinationRule, name: &str) -> Option<Span> {
    let names = rule
        .subsets
        .items()
        .iter()
        .filter_map(|it| it.value.name.as_ref());
    names.filter(|it| it.value == name).map(|it| it.span).next()
}
