//! A route of a VirtualService behind one that takes all its requests.

use super::asked::{self, Asked};
use super::taken::Taken;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::decode::Items;
use crate::istio::route::HttpRoute;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "unreachable-route",
        summary: "a route stands behind another one that takes all its requests",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/unreachable-route.md"),
    },
    build: super::plain::<UnreachableRoute>,
};

#[derive(Debug, Default)]
pub(super) struct UnreachableRoute;

impl Check for UnreachableRoute {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, service) in cx.virtual_services() {
            // What it was to ask for is not known.
            let is_whole =
                |it: &Asked<'_>| resource.misspelt().iter().all(|other| other.key != it.line);
            let mut taken = Taken::default();
            for route in service.http.items() {
                let asked = asked::of_http(route);
                let help = match is_part_of_a_split(route) {
                    true => "list both destinations in one `route`: weights hold within one",
                    false => MOVE,
                };
                judge(route.key, &asked, &taken, help, out);
                // What it delegates to may ask for more.
                if route.delegate.is_none() {
                    taken.extend(asked, is_whole);
                }
            }
            let mut taken = Taken::default();
            for route in service.tls.items() {
                let asked = asked::of_tls(route);
                judge(route.key, &asked, &taken, MOVE, out);
                taken.extend(asked, is_whole);
            }
            let mut taken = Taken::default();
            for route in service.tcp.items() {
                let asked = asked::of_tcp(route);
                judge(route.key, &asked, &taken, MOVE, out);
                taken.extend(asked, is_whole);
            }
        }
    }
}

const MOVE: &str = "move it before that one, or remove it";

/// Whether the weight of its only destination leaves something for others.
fn is_part_of_a_split(route: &HttpRoute) -> bool {
    let [only] = route.route.items() else {
        return false;
    };
    only.weight.as_ref().is_some_and(|it| it.value < 100)
}

/// Reports the whole route, or those of its matches that are taken already.
fn judge(
    route: Span,
    asked: &[Asked<'_>],
    taken: &Taken<'_>,
    help: &'static str,
    out: &mut Findings,
) {
    let takers: Vec<Option<Span>> = asked.iter().map(|it| taken.taker(it)).collect();
    let mut report = |place: Span, what: &str, takers: &[Option<Span>]| {
        let message = format!("this {what} is never used: what it asks for is taken before");
        out.add(Basis::Proven, place, message, |finding| {
            let takers = takers.iter().flatten().take(LABELS);
            takers
                .fold(finding, |finding, taker| {
                    finding.because(*taker, "this takes it")
                })
                .help(help)
        });
    };
    if takers.iter().all(Option::is_some) {
        report(route, "route", &takers);
        return;
    }
    for (asked, taker) in asked
        .iter()
        .zip(takers)
        .filter(|(_, taker)| taker.is_some())
    {
        report(asked.line, "match", &[taker]);
    }
}

/// More lines than that say nothing more.
const LABELS: usize = 3;
