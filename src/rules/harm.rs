//! What logical DNS does to a host whose addresses are moved.

use super::clusters::Cluster;
use super::{Basis, Context, Rank};
use crate::config::{Class, HostFacts};
use crate::egress::facts::Traced;
use crate::egress::forecast::span_of_time;

/// What logical DNS does to a host, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Harm {
    /// One connection carries all requests, and stays.
    Everything,
    /// Requests stay on pooled connections.
    Pinned,
    /// The same, but connections end after this many milliseconds.
    PinnedFor(i64),
    /// The same, but connections end after this many requests.
    PinnedUntil(u32),
    /// Requests follow, or there are none to follow: what is left is one host and no trace of the switch.
    OneHost,
    /// Nobody says what kind of host it is.
    Unclassified,
}

impl Harm {
    /// For findings, of which the worst is kept.
    pub(super) fn rank(self) -> Rank {
        let within = |least: i64| u32::try_from(least).unwrap_or(u32::MAX);
        match self {
            Self::Everything => (0, 0),
            Self::Pinned => (1, 0),
            Self::PinnedFor(milliseconds) => (2, within(milliseconds)),
            Self::PinnedUntil(requests) => (3, requests),
            Self::OneHost => (4, 0),
            Self::Unclassified => (5, 0),
        }
    }

    /// `None` where it is right for the host.
    pub(super) fn of(cx: &Context<'_>, cluster: &Cluster<'_>, facts: &HostFacts) -> Option<Self> {
        let on_gslb = Self::on_gslb(cx, cluster, facts);
        match facts.class {
            Some(class) if class.value == Class::Gslb => Some(on_gslb),
            Some(_) => None,
            None => (on_gslb < Self::OneHost).then_some(Self::Unclassified),
        }
    }

    fn on_gslb(cx: &Context<'_>, cluster: &Cluster<'_>, facts: &HostFacts) -> Self {
        if !cluster.http || cx.version.drains_logical_dns() {
            return Self::OneHost;
        }
        let limit = |limit: &Option<Traced<u32>>| limit.as_ref().map_or(0, |limit| limit.value);
        let requests = limit(&cluster.facts.max_requests_per_connection);
        let longest = cluster.facts.max_connection_duration_ms.as_ref();
        match longest
            .map(|longest| longest.value)
            .filter(|longest| *longest > 0)
        {
            // A connection for each request: nothing is pinned.
            _ if requests == 1 => Self::OneHost,
            Some(longest) if facts.drain_ms.is_some_and(|drain| longest <= drain.value) => {
                Self::OneHost
            }
            Some(longest) => Self::PinnedFor(longest),
            None if requests > 0 => Self::PinnedUntil(requests),
            None if cluster.facts.http2.value => Self::Everything,
            None => Self::Pinned,
        }
    }

    /// What is said of it, and what that rests on.
    pub(super) fn said(
        self,
        cx: &Context<'_>,
        cluster: &Cluster<'_>,
        facts: &HostFacts,
    ) -> (Basis, String) {
        let destination = cluster.destination();
        let version = cx.version;
        let (basis, message) = match self {
            Self::Everything => (
                Basis::Proven,
                format!(
                    "logical DNS keeps all requests to {destination} on one HTTP/2 connection: when its address dies \
                     silently, all fail although the GSLB has moved (Istio {version})"
                ),
            ),
            Self::Pinned => (
                Basis::Proven,
                format!(
                    "logical DNS keeps requests to {destination} on the old address after the GSLB has moved, as long as \
                     that one answers (Istio {version})"
                ),
            ),
            Self::PinnedFor(longest) => (
                match facts.drain_ms {
                    Some(_) => Basis::Proven,
                    None => Basis::assuming("the old address does not live that long after a move"),
                },
                format!(
                    "logical DNS keeps requests to {destination} on the old address for up to {} after the GSLB has moved \
                     (Istio {version})",
                    span_of_time(longest)
                ),
            ),
            Self::PinnedUntil(requests) => (
                Basis::assuming("connections need too long for that many requests"),
                format!(
                    "logical DNS keeps requests to {destination} on the old address after the GSLB has moved, up to \
                     {requests} for each connection (Istio {version})"
                ),
            ),
            // Envoys that drain the old address also count the move.
            Self::OneHost if !version.drains_logical_dns() => (
                Basis::assuming("outlier detection or `membership_change` matters for this host"),
                format!(
                    "logical DNS makes one host of all addresses of {destination}: none can be ejected, and \
                         a move of the GSLB leaves no trace in `membership_change`"
                ),
            ),
            Self::OneHost => (
                Basis::assuming("outlier detection matters for this host"),
                format!(
                    "logical DNS makes one host of all addresses of {destination}: none can be ejected"
                ),
            ),
            Self::Unclassified => (
                Basis::assuming("its addresses are moved on purpose"),
                format!(
                    "logical DNS is wrong for {destination} if it is behind a GSLB, and right if it is behind a CDN"
                ),
            ),
        };
        // A name that is only known by its ending proves nothing.
        let basis = match &facts.class {
            Some(class) if !class.is_given() && basis == Basis::Proven => {
                Basis::assuming("the host is behind a GSLB, as its name says")
            }
            _ => basis,
        };
        (basis, message)
    }
}
