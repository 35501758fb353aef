//! The planned switch: the GSLB answers a new address while the old one still serves.

use super::sentence::{Sentence, span_of_time};
use super::{Discovery, Event, EventKind, Subject};

pub(super) fn forecast(subject: Subject<'_>) -> Event {
    let mut event = match subject.discovery() {
        Discovery::Strict => by_name(subject, subject.is_http()),
        Discovery::Logical if !subject.is_http() => by_name(subject, false),
        Discovery::Logical if subject.version.drains_logical_dns() => by_name(subject, true),
        Discovery::Logical => pinned(subject),
        Discovery::Fixed => fixed(subject),
        Discovery::Client => by_client(subject),
        Discovery::PerRequest => per_request(),
    };
    event.missing.dedup();
    event
}

fn event(headline: Sentence, details: Vec<Sentence>, missing: Vec<&'static str>) -> Event {
    Event {
        kind: EventKind::PlannedSwitch,
        headline,
        details,
        missing,
    }
}

/// When Envoy knows the new answer.
fn follow(subject: Subject<'_>, missing: &mut Vec<&'static str>) -> Sentence {
    let refresh = span_of_time(subject.refresh_ms());
    match subject.host.ttl_ms {
        Some(ttl) if ttl.value == 0 => Sentence::measured(
            "E9",
            format!(
                "new connections follow within {refresh}: a TTL of 0 means the refresh rate, the \
                 slowest setting"
            ),
        )
        .because(ttl.span()),
        Some(ttl) => Sentence::measured(
            "E9",
            format!(
                "new connections follow within {} (ttl {} + 0.25 s)",
                span_of_time(ttl.value.saturating_add(250)),
                span_of_time(ttl.value)
            ),
        )
        .because(ttl.span()),
        None => {
            missing.push("ttl");
            Sentence::measured(
                "E9",
                "new connections follow within one TTL of the answer + 0.25 s",
            )
        }
    }
}

/// STRICT_DNS, and LOGICAL_DNS where it behaves like it.
fn by_name(subject: Subject<'_>, http: bool) -> Event {
    let mut missing = Vec::new();
    let mut details = vec![follow(subject, &mut missing)];
    if http {
        details.push(Sentence::measured(
            "E1, E11",
            "what is in flight ends on the old address; idle connections to it are closed at \
             once, busy ones when their request ends",
        ));
    } else {
        details.push(Sentence::measured(
            "E1",
            "a connection that the application keeps stays on the old address until the \
             application closes it: Envoy moves bytes and closes nothing",
        ));
        details.extend(cut(subject));
    }
    let headline = survival(subject, http, &mut missing);
    event(headline, details, missing)
}

/// Whether `drain` covers `session`.
fn survival(subject: Subject<'_>, http: bool, missing: &mut Vec<&'static str>) -> Sentence {
    let (what, evidence) = if http {
        ("session", "E1, E11")
    } else {
        ("connection", "E1")
    };
    let (Some(session), Some(drain)) = (subject.host.session_ms, subject.host.drain_ms) else {
        for (known, name) in [
            (subject.host.session_ms.is_some(), "session"),
            (subject.host.drain_ms.is_some(), "drain"),
        ] {
            if !known {
                missing.push(name);
            }
        }
        return Sentence::measured(
            evidence,
            format!(
                "no {what} breaks because of the switch, as long as the old address keeps serving \
                 it"
            ),
        );
    };
    // A session may still begin on the old address until Envoy knows the new one.
    let lag = subject.follow_ms().unwrap_or(0);
    let needed = session.value.saturating_add(lag);
    let because = [
        session.span(),
        drain.span(),
        subject.host.ttl_ms.and_then(|ttl| ttl.span()),
    ];
    let sum = if lag > 0 {
        format!(
            "session {} + {} to follow",
            span_of_time(session.value),
            span_of_time(lag)
        )
    } else {
        format!("session {}", span_of_time(session.value))
    };
    let text = if needed <= drain.value {
        format!(
            "sessions survive: {sum} is within the drain of {}",
            span_of_time(drain.value)
        )
    } else {
        let bound = drain.value.saturating_sub(lag).max(0);
        format!(
            "sessions longer than {} break when the old address goes: {sum} exceeds the drain of \
             {}; bound the {what} life in the application to {}, or drain for {}",
            span_of_time(bound),
            span_of_time(drain.value),
            span_of_time(bound),
            span_of_time(needed)
        )
    };
    Sentence::inferred(text).because(because.into_iter().flatten())
}

/// The L4 limits that Istio offers, and what they cost.
fn cut(subject: Subject<'_>) -> Vec<Sentence> {
    let Some(tcp) = subject.tcp else {
        return Vec::new();
    };
    let mut out = Vec::new();
    if let Some(limit) = &tcp.max_connection_duration_ms {
        out.push(
            Sentence::measured(
                "E10",
                format!(
                    "`maxConnectionDuration` bounds it: every connection is cut after {}, in the \
                     middle of a request too",
                    span_of_time(limit.value)
                ),
            )
            .because(limit.spans().iter().copied()),
        );
    }
    if let Some(limit) = tcp.idle_timeout_ms.as_ref().filter(|limit| limit.value > 0) {
        out.push(
            Sentence::measured(
                "E10",
                format!(
                    "`idleTimeout` cuts a connection after {} without bytes, also while a slow \
                     answer is awaited; under traffic it bounds nothing",
                    span_of_time(limit.value)
                ),
            )
            .because(limit.spans().iter().copied()),
        );
    }
    out
}

/// LOGICAL_DNS on L7 up to Istio 1.30: the pool is never drained.
fn pinned(subject: Subject<'_>) -> Event {
    let mut missing = Vec::new();
    let cluster = subject.cluster;
    let because = cluster.cluster_type.spans().iter().copied();
    let mut bounds = Vec::new();
    if let Some(limit) = cluster
        .max_requests_per_connection
        .as_ref()
        .filter(|limit| limit.value > 0)
    {
        bounds.push(
            Sentence::measured(
                "E10",
                format!(
                    "`maxRequestsPerConnection` bounds it: a connection is replaced after {} \
                     requests, the next one follows",
                    limit.value
                ),
            )
            .because(limit.spans().iter().copied()),
        );
    }
    if let Some(limit) = &cluster.max_connection_duration_ms {
        bounds.push(
            Sentence::measured(
                "E10",
                format!(
                    "`maxConnectionDuration` bounds it: a connection is replaced after {}, \
                     gracefully",
                    span_of_time(limit.value)
                ),
            )
            .because(limit.spans().iter().copied()),
        );
    }
    let headline = if bounds.is_empty() {
        Sentence::measured(
            "E1",
            "new requests keep going to the old address without end: the pool of LOGICAL_DNS is \
             not drained when the answer changes (10 of 10 on the old address)",
        )
    } else {
        Sentence::measured(
            "E1, E10",
            "new requests keep going to the old address until their connection is replaced",
        )
    }
    .because(because);
    if bounds.is_empty() {
        bounds.push(Sentence::measured(
            "E10",
            "no setting of the files bounds it; `idleTimeout` does nothing under traffic",
        ));
    }
    if let Some(drain) = subject.host.drain_ms {
        bounds.push(
            Sentence::inferred(format!(
                "after the drain of {} the old address goes: what still uses it then meets a dead \
                 address",
                span_of_time(drain.value)
            ))
            .because(drain.span()),
        );
    } else {
        missing.push("drain");
    }
    event(headline, bounds, missing)
}

fn fixed(subject: Subject<'_>) -> Event {
    let headline = if subject.cluster.endpoints.is_empty() {
        Sentence::source("there is no endpoint: nothing follows, every request fails")
    } else {
        Sentence::source(
            "nothing follows: the addresses stand in the files, and Envoy asks no DNS for them",
        )
    }
    .because(
        subject
            .cluster
            .endpoints
            .iter()
            .take(2)
            .flat_map(|endpoint| endpoint.address.spans().iter().copied()),
    );
    event(headline, Vec::new(), Vec::new())
}

fn by_client(subject: Subject<'_>) -> Event {
    let headline = Sentence::source(
        "Envoy connects to the address that the application resolved: it follows when the \
         application resolves again",
    )
    .because(subject.cluster.cluster_type.spans().iter().copied());
    event(headline, Vec::new(), Vec::new())
}

fn per_request() -> Event {
    event(
        Sentence::source(
            "the host of each request is resolved by Envoy's DNS cache; its behaviour at a switch \
             is not measured here",
        ),
        Vec::new(),
        Vec::new(),
    )
}
