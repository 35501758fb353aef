//! What outlier detection does about a dead address.

use super::death::Hosts;
use super::protection::{Detector, Protection};
use super::sentence::{Sentence, plural, span_of_time};
use super::{Discovery, Subject};
use crate::source::Span;

/// Whether outlier detection does anything at all.
pub(super) fn forecast(
    subject: Subject<'_>,
    protection: Protection<'_>,
    hosts: &Hosts,
) -> Sentence {
    let Some(outlier) = subject.cluster.outlier.value.as_ref() else {
        return missing(subject);
    };
    let lines: Vec<Span> = outlier
        .max_ejection_percent
        .iter()
        .flat_map(|percent| percent.spans().iter().copied())
        .chain(subject.cluster.outlier.spans().iter().copied())
        .take(2)
        .collect();
    let Some(detector) = protection.detector() else {
        return Sentence::measured(
            "E3",
            "outlier detection ejects nothing: its counters of failed connects are switched off",
        )
        .because(lines);
    };
    let text = ejected(subject.discovery(), protection, detector, hosts);
    Sentence::measured("E3, E4", text).because(lines)
}

/// There is none, or it is lost on its way.
fn missing(subject: Subject<'_>) -> Sentence {
    let overridden = subject.cluster.overridden.iter();
    let lost: Vec<Span> = overridden
        .filter(|block| block.block == "outlierDetection")
        .flat_map(|block| [block.span, block.because])
        .collect();
    match lost.is_empty() {
        true => Sentence::source("there is no outlier detection: nothing is ejected"),
        false => Sentence::source(
            "there is no outlier detection: the files set one, but it does not reach this port",
        )
        .because(lost),
    }
}

/// What a detector ejects, and for how long.
fn ejected(
    discovery: Discovery,
    protection: Protection<'_>,
    detector: Detector,
    hosts: &Hosts,
) -> String {
    let percent = protection.max_ejection_percent();
    let after = format!(
        "after {} failures ({})",
        detector.threshold(),
        detector.name()
    );
    let time = || span_of_time(protection.base_ejection_ms());
    match (discovery, hosts) {
        (Discovery::Client | Discovery::PerRequest, _) => {
            "outlier detection has no other host to shift to".to_owned()
        }
        (Discovery::Logical, _) if percent < 100 => format!(
            "outlier detection never ejects: LOGICAL_DNS is one host, \
             floor(1 x {percent} / 100) = 0"
        ),
        (Discovery::Logical, _) => format!(
            "outlier detection ejects the only host {after}: every request then fails at once for {}, \
             also after DNS has moved",
            time()
        ),
        (_, Some((n, _))) if protection.ejectable(*n) == 0 => {
            format!("outlier detection never ejects: floor({n} x {percent} / 100) = 0 of {n} hosts")
        }
        (_, Some((1, _))) => format!(
            "outlier detection ejects the only host {after}: requests then fail at once for {} or \
             until DNS answers another address",
            time()
        ),
        (_, Some((n, _))) => format!(
            "outlier detection ejects {} of {n} hosts {after}, for {} the first time",
            protection.ejectable(*n),
            time()
        ),
        (_, None) => format!(
            "outlier detection ejects {after}, if the answer holds at least {} (maxEjectionPercent \
             {percent})",
            plural(
                100u32.div_ceil(percent.clamp(1, 100)),
                "address",
                "addresses"
            )
        ),
    }
}
