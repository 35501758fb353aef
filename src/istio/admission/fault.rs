//! `fault` and `directResponse`: what a route answers or does on its own.

use super::super::route::{DirectResponse, FaultAbort, FaultDelay, FaultInjection, Percent};
use super::{Review, duration, refusal, warning};
use crate::source::Spanned;

const GRPC: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

pub(super) fn check(fault: Option<&Spanned<FaultInjection>>, review: &mut Review<'_>) {
    let Some(fault) = fault else { return };
    if fault.is_empty() {
        review.push(refusal(fault.key, "`fault` needs an `abort` or a `delay`"));
    }
    if let Some(abort) = &fault.abort {
        check_abort(abort, review);
    }
    if let Some(delay) = &fault.delay {
        check_delay(delay, review);
    }
}

fn check_abort(abort: &FaultAbort, review: &mut Review<'_>) {
    check_percentage(abort.percentage.as_ref(), review);
    if let Some(status) = &abort.http_status {
        check_status(status, review);
    }
    if let Some(status) = abort
        .grpc_status
        .as_ref()
        .filter(|status| !GRPC.contains(&status.as_str()))
    {
        review.push(
            refusal(status.span, format!("`{}` is no gRPC status", status.value))
                .help("write its name, as `UNAVAILABLE`"),
        );
    }
    if let Some(error) = &abort.http2_error {
        review.push(
            refusal(error.key, "Istio does not abort with HTTP/2 errors")
                .help("use `httpStatus` or `grpcStatus`"),
        );
    }
}

fn check_delay(delay: &FaultDelay, review: &mut Review<'_>) {
    check_percentage(delay.percentage.as_ref(), review);
    duration::check(delay.fixed_delay.as_ref(), review);
    if let Some(exponential) = &delay.exponential_delay {
        review.push(
            refusal(exponential.key, "Istio does not delay exponentially").help("use `fixedDelay`"),
        );
    }
}

fn check_percentage(percentage: Option<&Spanned<Percent>>, review: &mut Review<'_>) {
    let Some(value) = percentage.and_then(|percentage| percentage.value.value.as_ref()) else {
        return;
    };
    let right = value.value == 0.0 || (0.0001..=100.0).contains(&value.value);
    if !right {
        review.push(refusal(
            value.span,
            format!(
                "`{}` is no percentage: write 0, or 0.0001 to 100",
                value.value
            ),
        ));
    }
}

/// A percentage that may be as small as it likes.
pub(super) fn check_share(percentage: Option<&Spanned<Percent>>, review: &mut Review<'_>) {
    let Some(value) = percentage.and_then(|percentage| percentage.value.value.as_ref()) else {
        return;
    };
    if !(0.0..=100.0).contains(&value.value) {
        review.push(refusal(
            value.span,
            format!("`{}` is no percentage from 0 to 100", value.value),
        ));
    }
}

fn check_status(status: &Spanned<i64>, review: &mut Review<'_>) {
    if !(200..=600).contains(&status.value) {
        review.push(refusal(
            status.span,
            format!("`{}` is no HTTP status from 200 to 599", status.value),
        ));
    }
}

pub(super) fn check_direct_response(
    response: Option<&Spanned<DirectResponse>>,
    review: &mut Review<'_>,
) {
    let Some(response) = response else { return };
    if let Some(status) = &response.status {
        check_status(status, review);
    }
    let Some(body) = &response.body else { return };
    let text = body.string.as_ref().map(|text| (text, text.len()));
    let bytes = body
        .bytes
        .as_ref()
        .map(|bytes| (bytes, bytes.len() / 4 * 3));
    let Some((body, size)) = text.or(bytes) else {
        return;
    };
    if size > 1024 * 1024 {
        review.push(refusal(
            body.key,
            format!("the body has {size} bytes; 1048576 are allowed"),
        ));
    } else if size > 100 * 1024 {
        let text = format!("the body of {size} bytes is sent to every proxy that gets the route");
        review.push(warning(body.key, text).help("let a service answer with it"));
    }
}
