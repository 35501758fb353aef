//! `retries` of an HTTP route.

use smol_str::SmolStr;

use super::super::route::HttpRetry;
use super::super::wording::nearest;
use super::{Review, duration, refusal};
use crate::diag::{Edit, Fix, Safety};
use crate::source::Spanned;

const CONDITIONS: [&str; 16] = [
    "5xx",
    "gateway-error",
    "reset",
    "reset-before-request",
    "connect-failure",
    "retriable-4xx",
    "refused-stream",
    "retriable-status-codes",
    "retriable-headers",
    "envoy-ratelimited",
    "http3-post-connect-failure",
    "cancelled",
    "deadline-exceeded",
    "internal",
    "resource-exhausted",
    "unavailable",
];

pub(super) fn check(retries: Option<&Spanned<HttpRetry>>, review: &mut Review<'_>) {
    let Some(retries) = retries else { return };
    let attempts = retries.attempts.as_ref();
    if let Some(attempts) = attempts.filter(|attempts| attempts.value < 0) {
        review.push(refusal(
            attempts.span,
            format!("`{}` is no number of attempts", attempts.value),
        ));
    }
    if attempts.is_none_or(|attempts| attempts.value == 0) {
        check_disabled(retries, review);
    }
    duration::check(retries.per_try_timeout.as_ref(), review);
    duration::check(retries.backoff.as_ref(), review);
    if let Some(conditions) = retries.retry_on.as_ref().filter(|text| !text.is_empty()) {
        check_conditions(conditions, review);
    }
}

/// Without attempts there is nothing that the other fields could say.
fn check_disabled(retries: &Spanned<HttpRetry>, review: &mut Review<'_>) {
    let conditions = retries.retry_on.as_ref().filter(|text| !text.is_empty());
    let others = [
        retries
            .per_try_timeout
            .as_ref()
            .map(|it| ("perTryTimeout", it.key)),
        conditions.map(|it| ("retryOn", it.key)),
        retries
            .retry_remote_localities
            .as_ref()
            .map(|it| ("retryRemoteLocalities", it.key)),
    ];
    let Some((name, key)) = others.into_iter().flatten().next() else {
        return;
    };
    let finding = match &retries.attempts {
        Some(attempts) => refusal(
            attempts.span,
            format!("`attempts: 0` disables retries, so `{name}` cannot be set"),
        ),
        None => refusal(
            retries.key,
            format!("without `attempts` retries are disabled, so `{name}` cannot be set"),
        )
        .absent("attempts"),
    };
    review.push(finding.because(key, "set here").help(format!(
        "set `attempts` to at least 1, or remove `{name}` to disable retries"
    )));
}

fn check_conditions(conditions: &Spanned<SmolStr>, review: &mut Review<'_>) {
    let mut wrong = conditions
        .split(',')
        .filter(|item| !is_condition(item))
        .peekable();
    let Some(blank) = wrong.peek().copied() else {
        return;
    };
    let mut finding = match wrong.find(|item| !is_condition(item.trim())).map(str::trim) {
        None => {
            let text: Vec<&str> = conditions.split(',').map(str::trim).collect();
            refusal(
                conditions.span,
                format!("`retryOn` is split at commas only, and `{blank}` with its space is no condition"),
            )
            .help("remove the spaces")
            .fix(Fix {
                safety: Safety::Safe,
                message: "remove the spaces".to_owned(),
                edits: vec![Edit { span: conditions.span, text: format!("\"{}\"", text.join(",")) }],
            })
        }
        Some("") => {
            refusal(conditions.span, "`retryOn` has an empty condition").help("remove the comma")
        }
        Some(item) => {
            let finding = refusal(
                conditions.span,
                format!("`{item}` is no condition of `retryOn`"),
            );
            match nearest(item, &CONDITIONS) {
                Some(near) => finding.help(format!("did you mean `{near}`?")),
                None => finding
                    .help("the conditions are Envoy's, gRPC's, and HTTP status codes as numbers"),
            }
        }
    };
    finding.rule = "retry-on-invalid";
    review.push(finding);
}

fn is_condition(item: &str) -> bool {
    CONDITIONS.contains(&item) || item.parse::<u16>().is_ok_and(is_status)
}

/// Whether Go has a text for the status code.
fn is_status(code: u16) -> bool {
    matches!(
        code,
        100..=103 | 200..=208 | 226 | 300..=305 | 307..=308 | 400..=418 | 421..=426 | 428..=429 | 431 | 451 | 500..=508 | 510..=511
    )
}

#[cfg(test)]
mod tests {
    use super::is_condition;

    #[test]
    fn conditions_are_names_and_known_codes() {
        for item in ["5xx", "503", "426", "+503", "0503"] {
            assert!(is_condition(item), "{item}");
        }
        for item in [
            "", " reset", "reset ", "5XX", "306", "427", "509", "600", "0", "-503",
        ] {
            assert!(!is_condition(item), "{item}");
        }
    }
}
