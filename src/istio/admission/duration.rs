//! Durations beyond what the schema says of them.

use super::super::value::Duration;
use super::{Review, refusal};
use crate::source::Spanned;

const MILLISECOND: i64 = 1_000_000;

/// Refuses less than a millisecond, and fractions of one.
pub(super) fn check(value: Option<&Spanned<Duration>>, review: &mut Review<'_>) {
    let Some(value) = value else { return };
    if value.nanos < MILLISECOND {
        review.push(refusal(
            value.span,
            "the duration is less than a millisecond",
        ));
    } else if value.nanos % MILLISECOND != 0 {
        review.push(
            refusal(value.span, "the duration has fractions of a millisecond")
                .help("round it to whole milliseconds"),
        );
    }
}

/// The same where zero means never.
pub(super) fn check_or_never(value: Option<&Spanned<Duration>>, review: &mut Review<'_>) {
    check(value.filter(|value| value.nanos / MILLISECOND != 0), review);
}
