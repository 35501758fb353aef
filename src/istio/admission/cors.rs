//! `corsPolicy`.

use super::super::Items;
use super::super::route::CorsPolicy;
use super::super::version::IstioVersion;
use super::{Review, duration, header, refusal, string_match};
use crate::source::Spanned;

const METHODS: [&str; 9] = [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE",
];

pub(super) fn check(policy: Option<&Spanned<CorsPolicy>>, review: &mut Review<'_>) {
    let Some(policy) = policy else { return };
    for origin in policy.allow_origins.items() {
        let text = origin
            .exact
            .as_ref()
            .or(origin.prefix.as_ref())
            .or(origin.regex.as_ref());
        if text.is_none_or(|text| text.is_empty()) {
            review.push(refusal(
                text.map_or(origin.key, |text| text.span),
                "an allowed origin needs an `exact`, `prefix` or `regex`",
            ));
        } else {
            string_match::check_regex(origin, review);
        }
    }
    for method in policy.allow_methods.items() {
        let any = *method.value == *"*" && review.version >= IstioVersion(26);
        if !(any || METHODS.contains(&method.as_str())) {
            review.push(
                refusal(
                    method.span,
                    format!("`{}` is no HTTP method that CORS can allow", method.value),
                )
                .help(format!("write one of {}", METHODS.join(", "))),
            );
        }
    }
    for name in policy
        .allow_headers
        .items()
        .iter()
        .chain(policy.expose_headers.items())
    {
        if *name.value != *"*" && !header::is_name(name, review.version) {
            review.push(refusal(
                name.span,
                format!("`{}` is no header name", name.value),
            ));
        }
    }
    duration::check(policy.max_age.as_ref(), review);
    if let Some(age) = policy
        .max_age
        .as_ref()
        .filter(|age| age.nanos % 1_000_000_000 > 0)
    {
        review.push(
            refusal(age.span, "`maxAge` has fractions of a second")
                .help("round it to whole seconds"),
        );
    }
}
