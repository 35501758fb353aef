//! DNS answers nothing, an error, or not at all.

use super::sentence::{Sentence, span_of_time};
use super::{Discovery, Event, EventKind, Subject};

pub(super) fn forecast(subject: Subject<'_>) -> Event {
    let refresh = span_of_time(subject.refresh_ms());
    let because: Vec<_> = subject
        .cluster
        .cluster_type
        .spans()
        .iter()
        .chain(
            subject
                .cluster
                .dns
                .iter()
                .flat_map(|dns| dns.refresh_rate_ms.spans()),
        )
        .copied()
        .collect();
    let (headline, details) = match subject.discovery() {
        Discovery::Strict => (
            Sentence::measured(
                "E6",
                format!(
                    "one empty answer or NXDOMAIN removes every host: no new request or \
                     connection succeeds for {refresh}, even if DNS is well again at once"
                ),
            ),
            vec![
                Sentence::measured(
                    "E6",
                    format!(
                        "SERVFAIL and silence keep the hosts; a switch is then followed up to \
                         {refresh} late"
                    ),
                ),
                Sentence::measured("E6", "what is in flight survives"),
            ],
        ),
        Discovery::Logical => (
            Sentence::measured(
                "E6",
                "the last address is kept, whatever DNS answers: nothing breaks",
            ),
            vec![Sentence::measured(
                "E6",
                format!(
                    "a switch is followed only by the next good answer, asked for after {refresh}"
                ),
            )],
        ),
        Discovery::Fixed => (
            Sentence::source("nothing happens: Envoy asks no DNS for this host"),
            Vec::new(),
        ),
        Discovery::Client => (
            Sentence::source(
                "Envoy asks no DNS for this host; an application that cannot resolve it cannot \
                 connect",
            ),
            Vec::new(),
        ),
        Discovery::PerRequest => (
            Sentence::source(
                "Envoy resolves the host of each request; what its cache does when DNS fails is \
                 not measured here",
            ),
            Vec::new(),
        ),
    };
    Event {
        kind: EventKind::DnsFails,
        headline: headline.because(because),
        details,
        missing: Vec::new(),
    }
}
