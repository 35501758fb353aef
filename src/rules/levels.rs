//! The levels at which a DestinationRule sets a policy: the host, a subset, and single ports of both.

use crate::istio::decode::Items;
use crate::istio::traffic::{
    ClientTls, ConnectionPool, DestinationRule, LoadBalancer, OutlierDetection, TrafficPolicy,
};
use crate::source::{Span, Spanned};

/// What is set at one level.
#[derive(Clone, Copy)]
pub(super) struct Level<'r> {
    pub(super) of_subset: bool,
    pub(super) ports: Ports<'r>,
    pub(super) load_balancer: Option<&'r Spanned<LoadBalancer>>,
    pub(super) connection_pool: Option<&'r Spanned<ConnectionPool>>,
    pub(super) outlier_detection: Option<&'r Spanned<OutlierDetection>>,
    pub(super) tls: Option<&'r Spanned<ClientTls>>,
}

/// Which ports a level is for.
#[derive(Clone, Copy)]
pub(super) enum Ports<'r> {
    /// All that have no level of their own in this policy.
    Others(&'r TrafficPolicy),
    One(i64),
}

impl Ports<'_> {
    pub(super) fn hold(&self, number: u32) -> bool {
        let number = i64::from(number);
        match self {
            Self::One(own) => *own == number,
            Self::Others(policy) => !numbers(policy).any(|it| it == number),
        }
    }
}

impl Level<'_> {
    /// The blocks that stand here, by their names.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (&'static str, Span)> {
        let blocks = [
            ("tls", self.tls.map(|it| it.key)),
            ("outlierDetection", self.outlier_detection.map(|it| it.key)),
            ("connectionPool", self.connection_pool.map(|it| it.key)),
            ("loadBalancer", self.load_balancer.map(|it| it.key)),
        ];
        blocks
            .into_iter()
            .filter_map(|(name, key)| Some((name, key?)))
    }
}

/// The levels of a rule, from the host to the subsets.
pub(super) fn levels(rule: &DestinationRule) -> impl Iterator<Item = Level<'_>> {
    let own = rule.traffic_policy.iter().map(|it| (it, false));
    let subsets = rule.subsets.items().iter();
    let subsets = subsets.filter_map(|subset| Some((&**subset.traffic_policy.as_ref()?, true)));
    own.chain(subsets).flat_map(|(policy, of_subset)| {
        let policy = &policy.value;
        let whole = Level {
            of_subset,
            ports: Ports::Others(policy),
            load_balancer: policy.load_balancer.as_deref(),
            connection_pool: policy.connection_pool.as_deref(),
            outlier_detection: policy.outlier_detection.as_deref(),
            tls: policy.tls.as_deref(),
        };
        let entries = policy.port_level_settings.items().iter();
        let of_ports = entries.filter_map(move |entry| {
            let port = entry.port.as_ref()?.value.number.as_ref()?;
            Some(Level {
                of_subset,
                ports: Ports::One(port.value),
                load_balancer: entry.load_balancer.as_deref(),
                connection_pool: entry.connection_pool.as_deref(),
                outlier_detection: entry.outlier_detection.as_deref(),
                tls: entry.tls.as_deref(),
            })
        });
        std::iter::once(whole).chain(of_ports)
    })
}

/// The ports that have a level of their own.
fn numbers(policy: &TrafficPolicy) -> impl Iterator<Item = i64> {
    let entries = policy.port_level_settings.items().iter();
    entries.filter_map(|entry| Some(entry.port.as_ref()?.value.number.as_ref()?.value))
}
