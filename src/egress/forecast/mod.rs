//! What follows for a destination at three events, computed from its facts with the measured rules of Envoy.
//!
//! Evidence names are those of the measurements (`E1` …) on Envoy 1.36 (Istio 1.28) to 1.40 (Istio 1.32).

mod death;
mod dns;
mod ejection;
mod outlook;
mod protection;
mod sentence;
mod switch;
#[cfg(test)]
mod tests;

pub use outlook::{Known, Matrix, Outlook};
pub use protection::{Detector, Protection, RESCUES_CONNECT_FAILURE, RESCUES_TRY_TIMEOUT};
pub use sentence::{Evidence, Sentence, span_of_time};

use std::net::IpAddr;

use super::facts::{ClusterFacts, ClusterType, Handler, RouteFacts, TcpFacts};
use crate::config::HostFacts;
use crate::istio::version::IstioVersion;

/// A destination on the hop that reaches its address.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub handler: Handler,
    pub cluster: &'a ClusterFacts,
    pub route: Option<&'a RouteFacts>,
    pub tcp: Option<&'a TcpFacts>,
    pub host: &'a HostFacts,
    pub version: IstioVersion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// The GSLB answers a new address while the old one still serves.
    PlannedSwitch,
    /// The address refuses connections, or swallows them.
    AddressDies,
    /// DNS answers nothing, an error, or not at all.
    DnsFails,
}

/// What happens at one event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub kind: EventKind,
    /// The answer in one sentence.
    pub headline: Sentence,
    pub details: Vec<Sentence>,
    /// Facts of the host, as the configuration spells them, that would make this sharper.
    pub missing: Vec<&'static str>,
}

/// The forecast of one destination.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    pub events: [Event; 3],
}

impl Forecast {
    pub fn of(subject: Subject<'_>) -> Self {
        Self {
            events: [
                switch::forecast(subject),
                death::forecast(subject),
                dns::forecast(subject),
            ],
        }
    }
}

/// How the cluster learns its addresses, as far as the events are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Discovery {
    /// Each address of the answer is a host of its own.
    Strict,
    /// One host; the answer is used when a connection is made.
    Logical,
    /// The addresses stand in the files.
    Fixed,
    /// The client's own address is used as it is.
    Client,
    /// The host of each request is resolved when it is needed.
    PerRequest,
}

impl Subject<'_> {
    fn discovery(&self) -> Discovery {
        let by_name = self
            .cluster
            .endpoints
            .iter()
            .any(|endpoint| endpoint.address.value.parse::<IpAddr>().is_err());
        match self.cluster.cluster_type.value {
            ClusterType::StrictDns if by_name => Discovery::Strict,
            ClusterType::LogicalDns if by_name => Discovery::Logical,
            ClusterType::StrictDns
            | ClusterType::LogicalDns
            | ClusterType::Eds
            | ClusterType::Static => Discovery::Fixed,
            ClusterType::OriginalDst => Discovery::Client,
            ClusterType::DynamicForwardProxy => Discovery::PerRequest,
        }
    }

    fn is_http(&self) -> bool {
        self.handler == Handler::Http
    }

    /// The longest time, in milliseconds, until Envoy knows a new answer; `None` where the TTL is unknown.
    /// The TTL plus up to 0.25 s; a TTL of 0 means the refresh rate (E9).
    fn follow_ms(&self) -> Option<i64> {
        let ttl = self.host.ttl_ms?.value;
        Some(if ttl == 0 { self.refresh_ms() } else { ttl }.saturating_add(250))
    }

    fn refresh_ms(&self) -> i64 {
        self.cluster
            .dns
            .as_ref()
            .map_or(60_000, |dns| dns.refresh_rate_ms.value)
    }

    /// The connection timeout in milliseconds.
    fn connect_ms(&self) -> i64 {
        self.cluster.connect_timeout_ms.value
    }
}
