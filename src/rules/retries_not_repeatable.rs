//! Retries that can send a request twice to a host whose requests must not be repeated.

use std::collections::BTreeMap;

use foldhash::HashSet;

use super::ways::HttpWay;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::egress::facts::{GRPC_CONDITIONS, RetryPolicy};
use crate::source::Span;
use crate::yaml::Value;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "retries-not-repeatable",
        summary: "retries can send a request twice to a host whose requests must not be repeated",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
        since: "0.1.0",
        page: include_str!("../../rules/retries-not-repeatable.md"),
    },
    build: super::plain::<RetriesNotRepeatable>,
};

#[derive(Debug, Default)]
pub(super) struct RetriesNotRepeatable;

/// They fire before the request was sent, or where the other side says that it has not touched it.
const SAFE: [&str; 4] = [
    "connect-failure",
    "envoy-ratelimited",
    "refused-stream",
    "reset-before-request",
];

impl Check for RetriesNotRepeatable {
    fn check_ways(&self, cx: &Context<'_>, ways: &[HttpWay<'_>], out: &mut Findings) {
        let mut lines: BTreeMap<Span, (Danger, &HttpWay<'_>)> = BTreeMap::new();
        // Lists that also hold for hosts whose requests may be repeated.
        let mut shared: HashSet<Span> = HashSet::default();
        let repeatable = of_repeatable(cx);
        for way in ways {
            let Some(policy) = way.retry.as_ref() else {
                continue;
            };
            let may_repeat = way.rule.is_some_and(|rule| repeatable.contains(&rule));
            if may_repeat || !cx.is_not_repeatable(&way.service) {
                shared.extend(policy.retry_on.spans());
                continue;
            }
            if let Some(danger) = Danger::of(way, policy) {
                let line = danger.place;
                let known = lines.get(&line);
                if known.is_none_or(|(known, _)| known.grpc_only && !danger.grpc_only) {
                    lines.insert(line, (danger, way));
                }
            }
        }
        for (danger, way) in lines.into_values() {
            let safety = Safety::safe_if(!shared.contains(&danger.place));
            report(cx, &danger, safety, way, out);
        }
    }
}

/// The rules that only match requests which may be repeated all the same.
fn of_repeatable(cx: &Context<'_>) -> HashSet<Span> {
    let rules = cx.model.virtual_services.iter().flat_map(|it| it.http());
    let repeatable = rules.filter(|rule| rule.matches().all(|it| it.is_for_repeatable()));
    repeatable.map(|rule| rule.own.rule.key).collect()
}

struct Danger {
    place: Span,
    /// The list is written there.
    explicit: bool,
    conditions: Vec<String>,
    /// Only a gRPC server can make them fire, and nothing says that the host is one.
    grpc_only: bool,
}

impl Danger {
    fn of(way: &HttpWay<'_>, policy: &RetryPolicy) -> Option<Self> {
        let counts = |on: &&str| match *on {
            // Without a code it never fires; nor this without the names of headers, which Istio has no field for.
            "retriable-status-codes" => !policy.retriable_status_codes.is_empty(),
            "retriable-headers" => false,
            on => !SAFE.contains(&on),
        };
        let conditions = policy.retry_on.iter().map(|on| &**on).filter(counts);
        let conditions: Vec<String> = conditions.map(str::to_owned).collect();
        let grpc = conditions
            .iter()
            .all(|on| GRPC_CONDITIONS.contains(&on.as_str()));
        let written = policy.retry_on.spans().first();
        let block = way.retry.spans().first();
        let place = written.or(block).copied().or(way.rule);
        (!conditions.is_empty()).then(|| Self {
            place: place.unwrap_or(way.service.host.line),
            explicit: written.is_some(),
            conditions,
            grpc_only: grpc && !way.is_grpc(),
        })
    }
}

fn report(
    cx: &Context<'_>,
    danger: &Danger,
    safety: Safety,
    way: &HttpWay<'_>,
    out: &mut Findings,
) {
    let host = way.service.name();
    let conditions: Vec<String> = danger
        .conditions
        .iter()
        .map(|on| format!("`{on}`"))
        .collect();
    let conditions = conditions.join(", ");
    let hop = if way.reaches { "to" } else { "on the way to" };
    let whose = match danger.explicit {
        true => "retries",
        false => "Istio's default retries",
    };
    let message = format!(
        "{whose} on {conditions} can send a request {hop} `{host}` twice, and its requests must not be repeated"
    );
    let basis = match danger.grpc_only {
        true => Basis::assuming("the host speaks gRPC: nobody else gives these answers"),
        false => Basis::Proven,
    };
    out.add(basis, danger.place, message, |mut finding| {
        if !danger.explicit {
            finding = finding.absent(match way.retry.spans() {
                [] => "retries",
                _ => "retryOn",
            });
        }
        let facts = cx.facts(way.service.definition.resource, host);
        if let Some(line) = facts.repeatable.and_then(|fact| fact.span()) {
            finding = finding.because(line, "requests must not be repeated");
        }
        finding = finding.because(way.service.host.line, "the external host");
        if let Some(rule) = way.rule {
            finding = finding.because(rule, "the route");
        }
        finding = finding.help(
            "retry only what the other side has not seen, `retryOn: connect-failure,refused-stream`, or nothing, \
             `attempts: 0`",
        );
        finding.fix(fix(cx, danger, safety))
    });
}

/// Keeps what is safe of the list.
fn fix(cx: &Context<'_>, danger: &Danger, safety: Safety) -> Option<Fix> {
    let list = danger.explicit.then_some(danger.place)?;
    let written = cx.sources.text(list).trim_matches(['"', '\'']);
    let kept: Vec<&str> = written.split(',').filter(|on| SAFE.contains(on)).collect();
    let kept = match kept.is_empty() {
        true => "connect-failure,refused-stream".to_owned(),
        false => kept.join(","),
    };
    let edit = cx.texts.edit(list, |it| it.set(&Value::Str(kept)))?;
    let message = "retry only what the other side has not seen";
    Some(Fix::new(safety, message, edit))
}
