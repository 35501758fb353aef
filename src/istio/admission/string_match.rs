//! `exact`, `prefix` and `regex`.

use smol_str::SmolStr;

use super::super::route::StringMatch;
use super::{Review, refusal, regex};
use crate::source::Spanned;

/// Refuses an empty prefix and what is no regular expression.
pub(super) fn check(pattern: &StringMatch, review: &mut Review<'_>) {
    if let Some(prefix) = pattern.prefix.as_ref().filter(|prefix| prefix.is_empty()) {
        review.push(
            refusal(prefix.span, "an empty prefix matches everything")
                .help("remove the match; `{}` asks of a header that it is there"),
        );
    }
    check_regex(pattern, review);
}

/// The same where an empty prefix is right, as for `uri`.
pub(super) fn check_regex(pattern: &StringMatch, review: &mut Review<'_>) {
    let Some(regex) = &pattern.regex else { return };
    if regex.is_empty() {
        review.push(refusal(regex.span, "the regular expression is empty"));
    } else {
        check_expression(regex, review);
    }
}

pub(super) fn check_expression(text: &Spanned<SmolStr>, review: &mut Review<'_>) {
    if text.len() > 1024 {
        review.push(refusal(
            text.span,
            format!(
                "the regular expression has {} characters; 1024 are allowed",
                text.len()
            ),
        ));
    } else if let Some(fault) = regex::fault(text) {
        review.push(
            refusal(
                text.span,
                format!("this is no regular expression of RE2: {fault}"),
            )
            .help("see https://github.com/google/re2/wiki/Syntax"),
        );
    }
}
