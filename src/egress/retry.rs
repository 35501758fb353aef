//! The retry policy of a route.

use std::borrow::Cow;

use super::facts::{RetryPolicy, Traced};
use crate::istio::MeshConfig;
use crate::istio::route::HttpRetry;
use crate::source::{Span, Spanned};

static DEFAULT_ON: [Cow<'static, str>; 5] = [
    Cow::Borrowed("connect-failure"),
    Cow::Borrowed("refused-stream"),
    Cow::Borrowed("unavailable"),
    Cow::Borrowed("cancelled"),
    Cow::Borrowed("retriable-status-codes"),
];

const NO_RETRIES: &str = "neither the route nor MeshConfig.defaultHttpRetryPolicy sets retries: Istio's default of 2 attempts";
const NO_RETRY_ON: &str = "retries without retryOn: Istio's default list";

/// The policy of a route. `retries`, if it is there at all, decides instead of the mesh's default, and without
/// attempts it means none. `consistent_hash` is the line that keeps requests on their hosts.
pub fn policy(
    retries: Option<&Spanned<HttpRetry>>,
    mesh: &MeshConfig,
    consistent_hash: Option<Span>,
) -> Traced<Option<RetryPolicy>> {
    let written = retries.or(mesh.default_http_retry_policy.as_deref());
    let Some(written) = written else {
        return Traced::default(Some(default(consistent_hash)), NO_RETRIES);
    };
    let settings = &written.value;
    let attempts = settings.attempts.as_ref();
    let Some(count) = attempts
        .and_then(|attempts| u32::try_from(attempts.value).ok())
        .filter(|&count| count > 0)
    else {
        return Traced::line(None, attempts.map_or(written.key, |attempts| attempts.span));
    };
    let mut policy = default(consistent_hash);
    if let Some(attempts) = attempts {
        policy.attempts = Traced::line(count, attempts.span);
    }
    policy.retry_on = match settings.retry_on.as_ref().filter(|on| !on.value.is_empty()) {
        Some(on) => {
            let (on_list, codes) = retry_on(&on.value);
            policy.retriable_status_codes = codes;
            Traced::line(on_list.into(), on.span)
        }
        None => Traced::default(Cow::Borrowed(&DEFAULT_ON), NO_RETRY_ON),
    };
    let millis = |duration: &Spanned<crate::istio::Duration>| {
        Traced::line(duration.value.millis(), duration.span)
    };
    policy.per_try_timeout_ms = settings.per_try_timeout.as_ref().map(millis);
    policy.base_interval_ms = settings.backoff.as_ref().map(millis);
    if let Some(ignore) = &settings.retry_ignore_previous_hosts {
        policy.previous_hosts = ignore.value;
    }
    policy.ignore_previous_localities = settings
        .retry_remote_localities
        .as_ref()
        .is_some_and(|remote| remote.value);
    Traced::line(Some(policy), written.key)
}

fn default(consistent_hash: Option<Span>) -> RetryPolicy {
    RetryPolicy {
        attempts: Traced::default(2, NO_RETRIES),
        retry_on: Traced::default(Cow::Borrowed(&DEFAULT_ON), NO_RETRIES),
        retriable_status_codes: Vec::new(),
        per_try_timeout_ms: None,
        base_interval_ms: None,
        previous_hosts: consistent_hash.is_none(),
        host_selection_attempts: Some(5),
        ignore_previous_localities: false,
    }
}

/// Conditions and status codes out of one list. With a code, the condition that makes codes count is added.
fn retry_on(list: &str) -> (Vec<Cow<'static, str>>, Vec<u32>) {
    let parts = list
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let (mut conditions, mut codes) = (Vec::<Cow<'static, str>>::new(), Vec::new());
    for part in parts {
        match part.parse().ok().filter(|&code| is_status(code)) {
            Some(code) => codes.push(code),
            None => conditions.push(part.to_owned().into()),
        }
    }
    let has = |wanted: &str| {
        conditions
            .iter()
            .any(|condition| condition.contains(wanted))
    };
    if !codes.is_empty() && !has("retriable-status-codes") {
        conditions.push("retriable-status-codes".into());
    }
    (conditions, codes)
}

/// Whether Go's `net/http` has a text for the status.
fn is_status(code: u32) -> bool {
    matches!(
        code,
        100..=103 | 200..=208 | 226 | 300..=305 | 307 | 308 | 400..=418 | 421..=426 | 428 | 429 | 431 | 451
            | 500..=508 | 510 | 511
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_told_from_conditions() {
        let (on, codes) = retry_on("503, connect-failure,,299");
        assert_eq!(on, ["connect-failure", "299", "retriable-status-codes"]);
        assert_eq!(codes, [503]);
        let (on, codes) = retry_on("retriable-status-codes");
        assert_eq!((on.len(), codes.len()), (1, 0));
    }

    #[test]
    fn nothing_set_means_two_attempts_and_an_empty_block_none() {
        let mesh = MeshConfig::default();
        let default = policy(None, &mesh, None).value.unwrap();
        assert_eq!(*default.attempts, 2);
        assert!(default.previous_hosts);
        let span = Span::new(crate::source::FileId(0), 0, 1);
        let empty = Spanned::new(HttpRetry::default(), span, span);
        assert_eq!(policy(Some(&empty), &mesh, None).value, None);
    }
}
