//! What stands between a dead address and the application: the retry and the ejection.

use super::super::facts::{Handler, OutlierFacts, RetryPolicy};
use super::Subject;

/// The conditions under which Envoy tries again after a failed connect (E2).
pub const RESCUES_CONNECT_FAILURE: [&str; 5] = [
    "connect-failure",
    "5xx",
    "gateway-error",
    "reset",
    "reset-before-request",
];

/// The conditions under which Envoy tries again when a try runs into its own timeout (E15, E16).
pub const RESCUES_TRY_TIMEOUT: [&str; 3] = ["5xx", "gateway-error", "reset"];

/// What counts the failures of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detector {
    LocalOrigin(u32),
    Consecutive5xx(u32),
    GatewayFailure(u32),
}

impl Detector {
    /// After how many failures in a row it ejects.
    pub fn threshold(self) -> u32 {
        match self {
            Detector::LocalOrigin(n)
            | Detector::Consecutive5xx(n)
            | Detector::GatewayFailure(n) => n,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Detector::LocalOrigin(_) => "consecutiveLocalOriginFailures",
            Detector::Consecutive5xx(_) => "consecutive5xxErrors",
            Detector::GatewayFailure(_) => "consecutiveGatewayErrors",
        }
    }
}

/// The answers that a destination's facts give to "who rescues the request?".
#[derive(Clone, Copy, Debug)]
pub struct Protection<'a> {
    subject: Subject<'a>,
}

impl<'a> Protection<'a> {
    pub fn of(subject: Subject<'a>) -> Self {
        Self { subject }
    }

    /// The retry policy; none on L4, where nothing is retried.
    pub fn retry(&self) -> Option<&'a RetryPolicy> {
        match self.subject.handler {
            Handler::Http => self.subject.route?.retry.value.as_ref(),
            Handler::Tcp => None,
        }
    }

    /// How many further tries a failed connect gets.
    pub fn connect_retries(&self) -> u32 {
        self.retry()
            .filter(|retry| retry.retries_any_of(&RESCUES_CONNECT_FAILURE))
            .map_or(0, |retry| retry.attempts.value)
    }

    /// Whether a try that runs into `perTryTimeout` gets another.
    pub fn retries_try_timeouts(&self) -> bool {
        self.retry().is_some_and(|retry| {
            retry.per_try_timeout_ms.is_some()
                && retry.attempts.value > 0
                && retry.retries_any_of(&RESCUES_TRY_TIMEOUT)
        })
    }

    /// What ejects a host whose connections fail (E3): with the split only the local-origin counter, without it
    /// the first of the 5xx and gateway counters.
    pub fn detector(&self) -> Option<Detector> {
        let outlier = self.subject.cluster.outlier.value.as_ref()?;
        if outlier.split_external_local {
            let set = outlier
                .consecutive_local_origin_failure
                .as_ref()
                .map_or(5, |n| n.value);
            return (outlier.enforcing_consecutive_local_origin_failure != Some(0))
                .then_some(Detector::LocalOrigin(set));
        }
        let by_5xx = (outlier.enforcing_consecutive_5xx != Some(0)).then(|| {
            Detector::Consecutive5xx(outlier.consecutive_5xx.as_ref().map_or(5, |n| n.value))
        });
        let by_gateway = gateway(outlier);
        match (by_5xx, by_gateway) {
            (Some(a), Some(b)) => Some(if b.threshold() < a.threshold() { b } else { a }),
            (a, b) => a.or(b),
        }
    }

    /// `maxEjectionPercent` as Envoy uses it.
    pub fn max_ejection_percent(&self) -> u32 {
        self.subject
            .cluster
            .outlier
            .value
            .as_ref()
            .and_then(|outlier| outlier.max_ejection_percent.as_ref())
            .map_or(10, |percent| percent.value)
    }

    /// How many of `hosts` may be ejected at once: floor(hosts x percent / 100) (E4).
    pub fn ejectable(&self, hosts: u32) -> u32 {
        let share = u64::from(hosts) * u64::from(self.max_ejection_percent().min(100)) / 100;
        u32::try_from(share).unwrap_or(u32::MAX)
    }

    pub fn base_ejection_ms(&self) -> i64 {
        self.subject
            .cluster
            .outlier
            .value
            .as_ref()
            .and_then(|outlier| outlier.base_ejection_ms.as_ref())
            .map_or(30_000, |time| time.value)
    }
}

fn gateway(outlier: &OutlierFacts) -> Option<Detector> {
    let n = outlier.consecutive_gateway_failure.as_ref()?.value;
    (n > 0 && outlier.enforcing_consecutive_gateway_failure == Some(100))
        .then_some(Detector::GatewayFailure(n))
}
