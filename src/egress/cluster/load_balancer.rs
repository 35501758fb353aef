//! `loadBalancer`: Envoy's policy for choosing among the endpoints.

use crate::egress::facts::Traced;
use crate::egress::policy::Policy;
use crate::istio::traffic::{LoadBalancer, SimpleLb};
use crate::source::Span;

/// The policy of a cluster whose endpoints Envoy chooses from.
pub(super) fn lb_policy(policy: &Policy<'_>) -> Traced<&'static str> {
    let block = policy.load_balancer.map(|block| &block.value);
    if let Some(hash) = block.and_then(|block: &LoadBalancer| block.consistent_hash.as_ref()) {
        return match &hash.value.maglev {
            Some(maglev) => Traced::line("MAGLEV", maglev.key),
            None => Traced::line("RING_HASH", hash.key),
        };
    }
    let simple = block.and_then(|block| block.simple.as_ref());
    match simple.map(|simple| (simple.value, simple.span)) {
        Some((SimpleLb::Random, line)) => Traced::line("RANDOM", line),
        Some((SimpleLb::RoundRobin, line)) => Traced::line("ROUND_ROBIN", line),
        Some((SimpleLb::LeastRequest | SimpleLb::LeastConn, line)) => {
            Traced::line("LEAST_REQUEST", line)
        }
        Some((SimpleLb::Passthrough | SimpleLb::Unspecified, _)) | None => {
            match policy.taken_away("loadBalancer") {
                Some(lines) => Traced::lines("LEAST_REQUEST", lines),
                None => Traced::default("LEAST_REQUEST", "no loadBalancer: the least busy of two"),
            }
        }
    }
}

/// The line that has the proxy keep to where the client connected, as `simple: PASSTHROUGH` does.
pub(super) fn passthrough(block: Option<&LoadBalancer>) -> Option<Span> {
    let simple = block?.simple.as_ref()?;
    (simple.value == SimpleLb::Passthrough).then_some(simple.span)
}
