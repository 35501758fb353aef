//! `outlierDetection`, and the panic threshold that it decides.

use crate::egress::facts::{OutlierFacts, Traced};
use crate::egress::policy::Policy;
use crate::istio::traffic::OutlierDetection;
use crate::istio::value::Duration;
use crate::istio::version::IstioVersion;
use crate::source::Spanned;

/// What Envoy is told to watch; nothing where no block holds.
pub(super) fn outlier(policy: &Policy<'_>) -> Traced<Option<OutlierFacts>> {
    match (
        policy.outlier_detection,
        policy.taken_away("outlierDetection"),
    ) {
        (Some(block), _) => Traced::line(Some(facts(&block.value)), block.key),
        (None, Some(lines)) => Traced::lines(None, lines),
        (None, None) => Traced::default(None, "no outlierDetection: no host is ever ejected"),
    }
}

fn facts(block: &OutlierDetection) -> OutlierFacts {
    let consecutive_5xx = block.consecutive_5xx_errors.as_deref().map(count);
    let consecutive_gateway = block.consecutive_gateway_errors.as_deref().map(count);
    let split = block
        .split_external_local_origin_errors
        .as_ref()
        .is_some_and(|split| split.value);
    let local = block
        .consecutive_local_origin_failures
        .as_deref()
        .filter(|failures| split && failures.value > 0);
    let percent = block
        .max_ejection_percent
        .as_deref()
        .filter(|percent| percent.value > 0);
    OutlierFacts {
        enforcing_consecutive_5xx: consecutive_5xx.as_ref().map(enforcing),
        consecutive_5xx,
        enforcing_consecutive_gateway_failure: consecutive_gateway.as_ref().map(enforcing),
        consecutive_gateway_failure: consecutive_gateway,
        interval_ms: block.interval.as_deref().map(millis),
        base_ejection_ms: block.base_ejection_time.as_deref().map(millis),
        max_ejection_percent: percent.map(count),
        split_external_local: split,
        enforcing_consecutive_local_origin_failure: local.map(|_| 100),
        consecutive_local_origin_failure: local.map(count),
        // Istio switches the detection by success rate off.
        enforcing_success_rate: Some(0),
    }
}

/// A detector with a threshold always ejects; a threshold of 0 is the detector switched off.
fn enforcing(threshold: &Traced<u32>) -> u32 {
    if threshold.value > 0 { 100 } else { 0 }
}

/// Below which percentage of healthy hosts Envoy sends to all. `forced`: the line by which the service sends its
/// unhealthy endpoints along.
pub(super) fn panic_threshold(
    policy: &Policy<'_>,
    forced: Option<crate::source::Span>,
    version: IstioVersion,
) -> Traced<Option<u32>> {
    if let Some(line) = forced {
        return Traced::line(Some(0), line);
    }
    if let Some(block) = policy.outlier_detection {
        return match &block.value.min_health_percent {
            Some(percent) => Traced::line(u32::try_from(percent.value).ok(), percent.span),
            None => Traced::line(Some(0), block.key),
        };
    }
    if version.panic_threshold_zero_everywhere() {
        return Traced::default(
            Some(0),
            "since Istio 1.31 every cluster without minHealthPercent has 0",
        );
    }
    Traced::default(
        None,
        "without outlierDetection Envoy's default of 50 holds before Istio 1.31",
    )
}

pub(super) fn count(value: &Spanned<i64>) -> Traced<u32> {
    Traced::line(u32::try_from(value.value).unwrap_or(0), value.span)
}

pub(super) fn millis(value: &Spanned<Duration>) -> Traced<i64> {
    Traced::line(value.value.millis(), value.span)
}
