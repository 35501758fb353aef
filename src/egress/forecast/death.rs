//! The address dies: it refuses connections, or swallows them.

use smallvec::SmallVec;

use super::protection::Protection;
use super::sentence::{Sentence, plural, span_of_time};
use super::{Discovery, Event, EventKind, Subject, ejection};
use crate::egress::facts::TlsFacts;
use crate::source::Span;

/// Happy eyeballs: how long Envoy waits for one dead address of a LOGICAL_DNS answer before it tries the next (E5).
const NEXT_ADDRESS_MS: i64 = 300;

pub(super) fn forecast(subject: Subject<'_>) -> Event {
    let mut missing = Vec::new();
    let protection = Protection::of(subject);
    let hosts = count(subject, &mut missing);
    let mut details = vec![hang(subject, protection, &hosts)];
    let headline = match subject.discovery() {
        Discovery::Client => Sentence::source(
            "nobody: the application's own address is used, there is no other host to choose",
        )
        .because(subject.cluster.cluster_type.spans().iter().copied()),
        Discovery::Logical if hosts.as_ref().is_some_and(|(n, _)| *n > 1) => logical_many(subject),
        _ if !subject.is_http() => l4(protection, &hosts),
        _ => l7(protection, &hosts),
    };
    details.extend(reused(subject, protection));
    details.push(ejection::forecast(subject, protection, &hosts));
    if matches!(subject.discovery(), Discovery::Strict | Discovery::Logical) {
        details.push(window(subject, &mut missing));
    }
    missing.dedup();
    Event {
        kind: EventKind::AddressDies,
        headline,
        details,
        missing,
    }
}

/// How many addresses there are to choose from, and the lines that tell; `None` where nobody says.
pub(super) type Hosts = Option<(u32, SmallVec<[Span; 2]>)>;

fn count(subject: Subject<'_>, missing: &mut Vec<&'static str>) -> Hosts {
    let endpoints = &subject.cluster.endpoints;
    let lines = || {
        endpoints
            .iter()
            .take(2)
            .flat_map(|endpoint| endpoint.address.spans().iter().copied())
            .collect()
    };
    match subject.discovery() {
        Discovery::Fixed => Some((u32::try_from(endpoints.len()).unwrap_or(u32::MAX), lines())),
        Discovery::Strict | Discovery::Logical => {
            if let Some(addresses) = subject.host.addresses
                && endpoints.len() == 1
            {
                return Some((addresses.value, addresses.span().into_iter().collect()));
            }
            missing.push("addresses");
            None
        }
        Discovery::Client => Some((1, SmallVec::new())),
        Discovery::PerRequest => None,
    }
}

/// How long a request can hang on an address that swallows connections.
fn hang(subject: Subject<'_>, protection: Protection<'_>, hosts: &Hosts) -> Sentence {
    let connect = subject.connect_ms();
    let because: Vec<Span> = subject.cluster.connect_timeout_ms.spans().to_vec();
    if !subject.is_http() {
        return Sentence::measured(
            "E7",
            format!(
                "a connection to a silent address hangs {} (connectTimeout), then is reset; a \
                 refusing one fails at once",
                span_of_time(connect)
            ),
        )
        .because(because);
    }
    let tries = i64::from(protection.connect_retries()) + 1;
    let worst = connect.saturating_mul(tries);
    let timeout = subject.route.map_or(0, |route| route.timeout_ms.value);
    let retry_lines: Vec<Span> = protection
        .retry()
        .map(|retry| retry.attempts.spans().to_vec())
        .unwrap_or_default();
    let sum = format!(
        "connectTimeout {} x {tries} {}",
        span_of_time(connect),
        if tries == 1 { "try" } else { "tries" }
    );
    let only = matches!(hosts, Some((1, _)));
    let text = if timeout > 0 && timeout < worst {
        format!(
            "a request to a silent address hangs at most {} (the route's timeout, before {sum})",
            span_of_time(timeout)
        )
    } else if only || tries == 1 {
        format!(
            "a request to a silent address hangs {} ({sum}); a refusing one fails at once",
            span_of_time(worst)
        )
    } else {
        format!(
            "a request can hang {} on silent addresses ({sum}); refusing ones cost nothing",
            span_of_time(worst)
        )
    };
    Sentence::measured("E7", text).because(because.into_iter().chain(retry_lines))
}

fn logical_many(subject: Subject<'_>) -> Sentence {
    if subject.connect_ms() <= NEXT_ADDRESS_MS {
        return Sentence::measured(
            "E5",
            format!(
                "nobody: the next address of the answer is tried after 0.3 s, and connectTimeout \
                 {} ends before that",
                span_of_time(subject.connect_ms())
            ),
        )
        .because(subject.cluster.connect_timeout_ms.spans().iter().copied());
    }
    Sentence::measured(
        "E5",
        "the connect itself goes on to the next address of the answer: +0 s for each refusing \
         one, +0.3 s for each silent one, without retry or ejection",
    )
    .because(subject.cluster.cluster_type.spans().iter().copied())
}

fn l7(protection: Protection<'_>, hosts: &Hosts) -> Sentence {
    let Some(retry) = protection.retry() else {
        return Sentence::measured(
            "E2",
            "nobody: nothing is retried on this route, a failed connect reaches the application",
        );
    };
    let because: SmallVec<[Span; 2]> = retry
        .retry_on
        .spans()
        .iter()
        .chain(retry.attempts.spans())
        .copied()
        .collect();
    let retries = protection.connect_retries();
    let sentence = if retries == 0 {
        Sentence::measured(
            "E2",
            format!(
                "nobody: `{}` does not cover a failed connect, which reaches the application",
                retry.retry_on.value.join(",")
            ),
        )
    } else {
        match hosts {
            Some((0, _)) => Sentence::source("nobody: there is no endpoint"),
            Some((1, _)) => Sentence::measured(
                "E2",
                format!(
                    "nobody: the {} go to the same dead address",
                    plural(retries, "retry", "retries")
                ),
            ),
            Some((n, _)) if retries >= n - 1 => Sentence::measured(
                "E2",
                format!(
                    "the retry does: another of the {n} addresses is tried, up to {}",
                    plural(retries, "time", "times")
                ),
            ),
            Some((n, _)) => Sentence::measured(
                "E2",
                format!(
                    "the retry does while no more than {retries} of the {n} addresses are dead"
                ),
            ),
            None => Sentence::measured(
                "E2",
                format!(
                    "the retry does if another address answers; with one address the {} go to the \
                     same dead one",
                    plural(retries, "retry", "retries")
                ),
            ),
        }
    };
    sentence
        .because(because)
        .because(hosts.iter().flat_map(|(_, lines)| lines.iter().copied()))
}

fn l4(protection: Protection<'_>, hosts: &Hosts) -> Sentence {
    match hosts {
        Some((0, _)) => Sentence::source("nobody: there is no endpoint"),
        Some((1, lines)) => Sentence::measured(
            "E7",
            "nobody: there is one address, and L4 retries nothing; every new connection fails \
             until DNS answers another",
        )
        .because(lines.iter().copied()),
        Some((n, lines)) => {
            let share = 100 / n;
            let ejects = protection.detector();
            let until = match ejects.filter(|_| protection.ejectable(*n) > 0) {
                Some(detector) => format!(
                    "until the dead address is ejected after {} failures",
                    detector.threshold()
                ),
                None => "until DNS drops it".to_owned(),
            };
            Sentence::measured(
                "E3",
                format!(
                    "nobody rescues the failed connection: about {share} % of new ones fail \
                     {until} (up to 75 % with LEAST_REQUEST when the live one holds long \
                     connections)"
                ),
            )
            .because(lines.iter().copied())
        }
        None => Sentence::measured(
            "E3",
            "nobody rescues the failed connection: L4 retries nothing, the application sees it",
        ),
    }
}

/// Requests on connections that stood before the death.
fn reused(subject: Subject<'_>, protection: Protection<'_>) -> Option<Sentence> {
    if !subject.is_http() {
        return Some(Sentence::measured(
            "E16",
            "an address that accepts connections and is dead behind looks alive: no setting \
             ejects it on L4",
        ));
    }
    let http2 = subject.cluster.http2.value;
    let lines = subject
        .cluster
        .http2
        .spans()
        .iter()
        .chain(subject.cluster.cluster_type.spans())
        .copied()
        .collect::<Vec<_>>();
    if subject.discovery() == Discovery::Logical && http2 && !subject.version.drains_logical_dns() {
        return Some(
            Sentence::measured(
                "E15",
                "with HTTP/2 a silent death holds every request in the one dead connection, also \
                 after DNS has moved (48 of 48 failed): no retry, timeout or keepalive of Istio \
                 helped",
            )
            .because(lines),
        );
    }
    if http2 && subject.discovery() == Discovery::Strict {
        return Some(
            if protection.retries_try_timeouts() {
                Sentence::measured(
                    "E15",
                    "with HTTP/2 a silent death holds the requests of the one connection; \
                     perTryTimeout and the retry bring them over (1 to 2 of 48 failed)",
                )
            } else {
                Sentence::measured(
                    "E15",
                    "with HTTP/2 a silent death holds every request of the one connection until \
                     DNS drops the address; only perTryTimeout with retryOn 5xx, gateway-error or \
                     reset rescues them",
                )
            }
            .because(lines),
        );
    }
    let originates = matches!(subject.cluster.tls.value, Some(TlsFacts::Explicit { .. }));
    Some(if originates {
        Sentence::measured(
            "E16",
            "an address that accepts TCP and is dead behind fails the TLS handshake within \
             connectTimeout: it counts as a failed connect",
        )
    } else {
        Sentence::measured(
            "E16",
            "an address that accepts TCP and is dead behind is no failed connect: only retryOn \
             5xx, gateway-error or reset with a perTryTimeout rescues from it",
        )
    })
}

/// What the loss window consists of.
fn window(subject: Subject<'_>, missing: &mut Vec<&'static str>) -> Sentence {
    match subject.follow_ms() {
        Some(follow) => Sentence::measured(
            "E9",
            format!(
                "the loss ends when the GSLB has noticed + at most {} for DNS to arrive",
                span_of_time(follow)
            ),
        )
        .because(subject.host.ttl_ms.and_then(|ttl| ttl.span())),
        None => {
            missing.push("ttl");
            Sentence::measured(
                "E9",
                "the loss ends when the GSLB has noticed + one TTL + 0.25 s for DNS to arrive",
            )
        }
    }
}
