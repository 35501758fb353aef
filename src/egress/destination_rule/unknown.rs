//! What rules say about a host that no file defines, as with a gateway that a chart installs.

use super::Rules;
use super::rule::Rule;
use crate::egress::cluster::ClusterName;
use crate::istio::decode::Items;
use crate::istio::traffic::{ClientTls, TrafficPolicy};
use crate::source::Spanned;

impl<'a> Rules<'a> {
    /// How the rule for the host secures the way there. Of several nobody knows here which one is taken.
    pub fn tls_of_unknown(&self, cluster: &ClusterName<'_>) -> Option<&'a Spanned<ClientTls>> {
        let mut rules = self
            .covering(cluster.host)
            .filter(|(rule, exactly)| *exactly && !rule.has_selector() && names(rule, cluster));
        match (rules.next(), rules.next()) {
            (Some((rule, _)), None) => tls(rule, cluster),
            _ => None,
        }
    }
}

fn names(rule: &Rule<'_>, cluster: &ClusterName<'_>) -> bool {
    let subsets = rule.spec.subsets.items().iter();
    let mut names = subsets.filter_map(|it| it.value.name.as_ref());
    cluster.subset.is_empty() || names.any(|name| name.value == cluster.subset)
}

/// The TLS settings that reach a cluster: of its subset before the rule's own, of its port before the others.
fn tls<'a>(rule: &Rule<'a>, cluster: &ClusterName<'_>) -> Option<&'a Spanned<ClientTls>> {
    let subset = rule.spec.subsets.items().iter().find(|it| {
        let name = it.value.name.as_ref();
        name.is_some_and(|name| name.value == cluster.subset)
    });
    let of_subset = subset.and_then(|it| it.value.traffic_policy.as_deref());
    of_policy(of_subset, cluster.port)
        .or_else(|| of_policy(rule.spec.traffic_policy.as_ref(), cluster.port))
}

fn of_policy(policy: Option<&Spanned<TrafficPolicy>>, number: u32) -> Option<&Spanned<ClientTls>> {
    let policy = &policy?.value;
    let mut ports = policy.port_level_settings.items().iter();
    let port = ports.find(|it| {
        let port = it.value.port.as_ref();
        let port = port.and_then(|it| it.value.number.as_ref());
        port.is_some_and(|it| it.value == i64::from(number))
    });
    match port {
        Some(port) => port.value.tls.as_deref(),
        None => policy.tls.as_deref(),
    }
}
