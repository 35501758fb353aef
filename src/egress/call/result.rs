//! The parts that results of calls are made of.

use smallvec::SmallVec;

use crate::egress::facts::{CallError, CallResult, Handler, Outcome, Traced};
use crate::egress::http_route::{HttpAction, HttpPlace, HttpRoute};
use crate::egress::requests;
use crate::source::Span;

/// `is_first`: no other route stands before it.
pub(super) fn act(place: &HttpPlace<'_, '_>, route: &HttpRoute<'_>, is_first: bool) -> CallResult {
    CallResult {
        when: requests::in_words(&route.condition, is_first),
        ..finish(place.action(route), route.lines().collect())
    }
}

/// `lines` are those of the rule and the condition that were chosen.
pub(super) fn finish(action: HttpAction, lines: Vec<Span>) -> CallResult {
    let outcome = |outcome| match lines.is_empty() {
        true => Traced::default(
            outcome,
            "no VirtualService is for the host: Istio routes to the service",
        ),
        false => Traced::lines(outcome, lines.iter().copied()),
    };
    match action {
        HttpAction::Forward { clusters, route } => CallResult {
            outcome: outcome(Outcome::Forwarded),
            clusters,
            route: Some(route),
            ..result(Outcome::Forwarded, Some(Handler::Http))
        },
        HttpAction::Redirect(_) => CallResult {
            outcome: outcome(Outcome::Redirect),
            ..result(Outcome::Redirect, Some(Handler::Http))
        },
        HttpAction::DirectResponse(status) => CallResult {
            outcome: outcome(Outcome::DirectResponse),
            status: Some(status.value),
            ..result(Outcome::DirectResponse, Some(Handler::Http))
        },
        HttpAction::Nothing(_) => CallResult {
            outcome: outcome(Outcome::Error),
            error: Some(CallError::NoRoute),
            ..result(Outcome::Error, Some(Handler::Http))
        },
    }
}

pub(super) fn no_route() -> CallResult {
    error(
        Some(Handler::Http),
        CallError::NoRoute,
        "no route of the virtual host takes the path",
    )
}

pub(super) fn error(
    handler: Option<Handler>,
    error: CallError,
    reason: &'static str,
) -> CallResult {
    CallResult {
        outcome: Traced::default(Outcome::Error, reason),
        error: Some(error),
        ..result(Outcome::Error, handler)
    }
}

pub(super) fn result(outcome: Outcome, handler: Option<Handler>) -> CallResult {
    CallResult {
        outcome: Traced::default(outcome, ""),
        error: None,
        status: None,
        handler,
        handler_lines: SmallVec::new(),
        when: None,
        clusters: Vec::new(),
        route: None,
        tcp: None,
    }
}
