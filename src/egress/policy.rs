//! The traffic policy of one port of a service: `portLevelSettings`, subsets and the mesh's defaults.
//!
//! A more particular level does not fill in what is missing: it replaces whole blocks, or all of them.

use super::facts::{LOST_TO_PORT, Overridden};
use super::mesh::Mesh;
use crate::istio::decode::Items;
use crate::istio::traffic::{
    ClientTls, ConnectionPool, LoadBalancer, OutlierDetection, PortTrafficPolicy, ProxyProtocol,
    RetryBudget, Subset, TrafficPolicy,
};
use crate::source::{Span, Spanned};

const BY_PORT_BLOCK: &str = "portLevelSettings for the port have a block of their own";
const BY_SUBSET: &str = "the subset has a block of its own, and blocks are not merged";

/// The blocks that hold for a port, and those that do not.
#[derive(Clone, Debug, Default)]
pub struct Policy<'m> {
    pub load_balancer: Option<&'m Spanned<LoadBalancer>>,
    pub connection_pool: Option<&'m Spanned<ConnectionPool>>,
    pub outlier_detection: Option<&'m Spanned<OutlierDetection>>,
    pub tls: Option<&'m Spanned<ClientTls>>,
    pub retry_budget: Option<&'m Spanned<RetryBudget>>,
    pub proxy_protocol: Option<&'m Spanned<ProxyProtocol>>,
    /// The port number of the `portLevelSettings` that made this.
    by_port: Option<Span>,
    pub overridden: Vec<Overridden>,
}

impl<'m> Policy<'m> {
    /// Of a rule and, for the cluster of a subset, of that subset. The mesh fills in what the rule leaves out.
    pub fn of(
        rule: Option<&'m Spanned<TrafficPolicy>>,
        subset: Option<&'m Spanned<Subset>>,
        port: u32,
        mesh: Option<&Mesh<'m>>,
    ) -> Self {
        let mut policy =
            rule.map_or_else(Self::default, |policy| Self::at_port(&policy.value, port));
        policy.connection_pool = policy
            .connection_pool
            .or_else(|| mesh?.default_connection_pool());
        policy.outlier_detection = policy
            .outlier_detection
            .or_else(|| mesh?.default_outlier_detection());
        match subset.and_then(|subset| subset.value.traffic_policy.as_ref()) {
            Some(subset) => policy.under(Self::at_port(&subset.value, port)),
            None => policy,
        }
    }

    /// A policy as it stands for one port.
    pub fn at_port(policy: &'m TrafficPolicy, port: u32) -> Self {
        let whole = Self {
            load_balancer: policy.load_balancer.as_deref(),
            connection_pool: policy.connection_pool.as_deref(),
            outlier_detection: policy.outlier_detection.as_deref(),
            tls: policy.tls.as_deref(),
            retry_budget: policy.retry_budget.as_deref(),
            proxy_protocol: policy.proxy_protocol.as_deref(),
            ..Self::default()
        };
        let Some(entry) = port_level(policy, port) else {
            return whole;
        };
        let by_port = number_line(entry);
        let particular = Self {
            load_balancer: entry.value.load_balancer.as_deref(),
            connection_pool: entry.value.connection_pool.as_deref(),
            outlier_detection: entry.value.outlier_detection.as_deref(),
            tls: entry.value.tls.as_deref(),
            by_port: Some(by_port),
            ..Self::default()
        };
        let lost = whole.blocks().into_iter().zip(particular.blocks());
        let overridden = lost.filter_map(|((block, whole), (_, particular))| {
            Some(Overridden {
                span: whole?,
                block,
                because: particular.unwrap_or(by_port),
                reason: if particular.is_some() {
                    BY_PORT_BLOCK
                } else {
                    LOST_TO_PORT
                },
            })
        });
        Self {
            overridden: overridden.collect(),
            ..particular
        }
    }

    /// The policy of a subset over this one: its blocks replace ours, and if it has settings for the port, all.
    fn under(mut self, subset: Self) -> Self {
        for ((block, ours), (_, theirs)) in self.blocks().into_iter().zip(subset.blocks()) {
            let four = !matches!(block, "retryBudget" | "proxyProtocol");
            let because = theirs.map(|line| (line, BY_SUBSET));
            let because =
                because.or_else(|| Some((subset.by_port.filter(|_| four)?, LOST_TO_PORT)));
            if let (Some(span), Some((because, reason))) = (ours, because) {
                self.overridden.push(Overridden {
                    span,
                    block,
                    because,
                    reason,
                });
            }
        }
        let all = subset.by_port.is_some();
        fn replace<T>(ours: &mut Option<T>, theirs: Option<T>, all: bool) {
            if theirs.is_some() || all {
                *ours = theirs;
            }
        }
        replace(&mut self.load_balancer, subset.load_balancer, all);
        replace(&mut self.connection_pool, subset.connection_pool, all);
        replace(&mut self.outlier_detection, subset.outlier_detection, all);
        replace(&mut self.tls, subset.tls, all);
        replace(&mut self.retry_budget, subset.retry_budget, false);
        replace(&mut self.proxy_protocol, subset.proxy_protocol, false);
        self.overridden.extend(subset.overridden);
        self
    }

    /// The blocks and the lines of their keys.
    fn blocks(&self) -> [(&'static str, Option<Span>); 6] {
        [
            ("loadBalancer", self.load_balancer.map(|block| block.key)),
            (
                "connectionPool",
                self.connection_pool.map(|block| block.key),
            ),
            (
                "outlierDetection",
                self.outlier_detection.map(|block| block.key),
            ),
            ("tls", self.tls.map(|block| block.key)),
            ("retryBudget", self.retry_budget.map(|block| block.key)),
            ("proxyProtocol", self.proxy_protocol.map(|block| block.key)),
        ]
    }

    /// Why a block is missing that a less particular level has: the line that took it away, and the block.
    pub fn taken_away(&self, block: &str) -> Option<[Span; 2]> {
        let lost = self
            .overridden
            .iter()
            .rev()
            .find(|lost| lost.block == block)?;
        Some([lost.because, lost.span])
    }
}

/// The first `portLevelSettings` for a port of the service.
fn port_level(policy: &TrafficPolicy, port: u32) -> Option<&Spanned<PortTrafficPolicy>> {
    policy.port_level_settings.items().iter().find(|entry| {
        let number = entry
            .value
            .port
            .as_ref()
            .map(|selector| selector.value.number.as_ref());
        number.is_some_and(|number| number.map_or(0, |number| number.value) == i64::from(port))
    })
}

fn number_line(entry: &Spanned<PortTrafficPolicy>) -> Span {
    let number = entry
        .value
        .port
        .as_ref()
        .and_then(|selector| selector.value.number.as_ref());
    number.map_or(entry.key, |number| number.span)
}
