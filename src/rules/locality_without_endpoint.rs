//! Localities to which a policy leads, and where the host has no endpoint.

use std::collections::BTreeMap;

use super::context::{Defined, HOSTS};
use super::levels::levels;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Diagnostic, Fixable, Severity};
use crate::egress::endpoint::{in_locality, locality_parts};
use crate::egress::host::is_wildcard;
use crate::egress::service::Resolution;
use crate::istio::decode::Items;
use crate::istio::resource::Spec;
use crate::istio::service::WorkloadEntry;
use crate::istio::traffic::{DestinationRule, Distribute, LocalityLbSetting};
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "locality-without-endpoint",
        summary: "`localityLbSetting` leads to a locality where the host has no endpoint",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/locality-without-endpoint.md"),
    },
    build: super::plain::<LocalityWithoutEndpoint>,
};

#[derive(Debug, Default)]
pub(super) struct LocalityWithoutEndpoint;

impl Check for LocalityWithoutEndpoint {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, rule) in cx.destination_rules() {
            let settings: Vec<_> = settings(rule).filter(|it| is_on(it)).collect();
            let Some(host) = rule.host.as_ref().filter(|_| !settings.is_empty()) else {
                continue;
            };
            let Some(hosts) = placed(cx.hosts_under(&host.value, resource.namespace())) else {
                continue;
            };
            let all = match is_wildcard(&host.value) {
                true => Basis::assuming("the rule is for no further hosts"),
                false => Basis::Proven,
            };
            let ejects = cx.model.mesh.default_outlier_detection().is_some()
                || levels(rule).any(|level| level.outlier_detection.is_some());
            for setting in settings {
                for distribute in setting.distribute.items().iter().take(ENTRIES) {
                    left_without(&distribute.value, &hosts, out);
                    lost_shares(&distribute.value, &hosts, &all, out);
                }
                if ejects {
                    dead_ends(setting, &hosts, &all, out);
                }
            }
        }
        of_the_mesh(cx, out);
    }

    fn says_absence(&self) -> bool {
        true
    }
}

/// Entries of a setting, and localities of a host, that are looked at.
const ENTRIES: usize = 64;

/// A host, and where its endpoints are; one without a locality is at ``.
struct Placed<'c> {
    name: &'c str,
    line: Span,
    localities: BTreeMap<&'c str, Span>,
}

impl Placed<'_> {
    fn is_in(&self, rule: &str) -> bool {
        self.localities.keys().any(|own| in_locality(own, rule))
    }

    /// The lines that say where its endpoints are.
    fn explain(&self, mut finding: Diagnostic) -> Diagnostic {
        for (locality, line) in self.localities.iter().take(3) {
            finding = finding.because(
                *line,
                match *locality {
                    "" => "an endpoint without a locality".to_owned(),
                    locality => format!("an endpoint in `{locality}`"),
                },
            );
        }
        finding.because(self.line, "the external host")
    }
}

/// `None` where some endpoints are not in the files.
fn placed(defined: Vec<Defined<'_>>) -> Option<Vec<Placed<'_>>> {
    let mut hosts: BTreeMap<&str, Placed<'_>> = BTreeMap::new();
    for it in defined {
        let Spec::ServiceEntry(entry) = &it.definition.resource.spec else {
            return None;
        };
        let host = hosts.entry(it.host).or_insert_with(|| Placed {
            name: it.host,
            line: it.line,
            localities: BTreeMap::new(),
        });
        let by_name = match it.definition.resolution {
            Resolution::Dns | Resolution::DnsRoundRobin => true,
            Resolution::Static => false,
            // There are no endpoints to choose from.
            _ => continue,
        };
        let endpoints = entry.endpoints.items();
        if it.definition.selector.is_some() || endpoints.iter().any(|it| is_labelled(&it.value)) {
            return None;
        }
        if by_name && endpoints.is_empty() {
            host.localities.insert("", it.line);
        }
        for endpoint in endpoints {
            let locality = endpoint.value.locality.as_ref();
            let (locality, line) =
                locality.map_or(("", endpoint.key), |it| (it.value.as_str(), it.span));
            host.localities.insert(locality, line);
        }
    }
    let known = 1..=ENTRIES;
    let hosts = hosts.into_values();
    Some(
        hosts
            .filter(|it| known.contains(&it.localities.len()))
            .collect(),
    )
}

/// Whether a label may say where it is.
fn is_labelled(endpoint: &WorkloadEntry) -> bool {
    let labels = endpoint.labels.as_ref();
    labels.is_some_and(|labels| labels.value.get("istio-locality").is_some())
}

fn settings(rule: &DestinationRule) -> impl Iterator<Item = &LocalityLbSetting> {
    let blocks = levels(rule).filter_map(|level| level.load_balancer);
    blocks.filter_map(|it| Some(&it.value.locality_lb_setting.as_ref()?.value))
}

fn is_on(setting: &LocalityLbSetting) -> bool {
    setting.enabled.as_ref().is_none_or(|on| on.value)
}

/// Clients to which `distribute` leaves no endpoint at all.
fn left_without(distribute: &Distribute, hosts: &[Placed<'_>], out: &mut Findings) {
    let (Some(from), Some(to)) = (&distribute.from, &distribute.to) else {
        return;
    };
    let keys = || to.value.iter().take(ENTRIES).map(|(key, _)| &key.value);
    let Some(host) = hosts.iter().find(|host| !keys().any(|key| host.is_in(key))) else {
        return;
    };
    if !out.is_first(to.key) {
        return;
    }
    let message = format!(
        "`distribute` leaves clients in `{}` no endpoint of `{}`: none lies where it leads to, and nothing is left",
        from.value, host.name
    );
    out.add(Basis::Proven, to.key, message, |finding| {
        host.explain(finding).help(
            "set `locality` on each endpoint as the policy spells it, or `localityLbSetting: {enabled: false}` in a \
             DestinationRule for the host",
        )
    });
}

/// Shares of requests for localities where no host has an endpoint.
fn lost_shares(distribute: &Distribute, hosts: &[Placed<'_>], all: &Basis, out: &mut Findings) {
    let shares = distribute.to.iter().flat_map(|to| to.value.iter());
    let shares: Vec<_> = shares.take(ENTRIES).collect();
    // Where nothing is left it is another fault.
    let served = |host: &&Placed<'_>| shares.iter().any(|(key, _)| host.is_in(&key.value));
    let Some(host) = hosts.iter().find(served) else {
        return;
    };
    for (key, share) in &shares {
        if hosts.iter().any(|host| host.is_in(&key.value)) || !out.is_first(key.span) {
            continue;
        }
        let message = format!(
            "the {} % for `{}` go to the other localities: `{}` has no endpoint there",
            share.value, key.value, host.name
        );
        out.add(all.clone(), key.span, message, |finding| {
            host.explain(finding)
                .help("write the locality as the endpoints spell it, or add an endpoint there")
        });
    }
}

/// Failover to regions where no host has an endpoint.
fn dead_ends(setting: &LocalityLbSetting, hosts: &[Placed<'_>], all: &Basis, out: &mut Findings) {
    // Where no endpoint has a locality it is another fault.
    let placed = |host: &&Placed<'_>| host.localities.keys().any(|it| !it.is_empty());
    let Some(host) = hosts.iter().find(placed) else {
        return;
    };
    let failover = setting.failover.items().iter().take(ENTRIES);
    for to in failover.filter_map(|it| it.value.to.as_ref()) {
        let mut localities = hosts.iter().flat_map(|host| host.localities.keys());
        let is_there = localities.any(|it| locality_parts(it)[0] == to.value);
        if is_there || !out.is_first(to.span) {
            continue;
        }
        let message = format!(
            "failover to `{}` changes nothing: no endpoint of `{}` is in that region",
            to.value, host.name
        );
        out.add(all.clone(), to.span, message, |finding| {
            host.explain(finding)
                .help("write the region as the endpoints spell it, or add an endpoint there")
        });
    }
}

/// What the mesh distributes, for external hosts whose rules say nothing about it.
fn of_the_mesh(cx: &Context<'_>, out: &mut Findings) {
    let setting = cx.model.mesh.locality_lb().filter(|it| is_on(it));
    let distribute = setting.map_or(&[][..], |it| it.distribute.items());
    if distribute.is_empty() {
        return;
    }
    for definition in cx.definitions() {
        if !definition.mesh_external || definition.traffic_distribution.is_some() {
            continue;
        }
        for host in definition.hosts.iter().take(HOSTS) {
            let mut rules = cx.rules_for(&host.name).take(HOSTS);
            if rules.any(|(_, rule)| settings(rule).next().is_some()) {
                continue;
            }
            let defined = Defined {
                definition,
                host: &host.name,
                line: host.line,
            };
            let hosts = placed(vec![defined]).unwrap_or_default();
            for it in distribute.iter().take(ENTRIES) {
                left_without(&it.value, &hosts, out);
            }
        }
    }
}
