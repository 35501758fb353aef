//! `outlierDetection`.

use super::super::traffic::OutlierDetection;
use super::{Review, duration, refusal};
use crate::source::Spanned;

pub(super) fn check(outlier: Option<&Spanned<OutlierDetection>>, review: &mut Review<'_>) {
    let Some(outlier) = outlier else { return };
    duration::check(outlier.base_ejection_time.as_deref(), review);
    duration::check(outlier.interval.as_deref(), review);
    let split = outlier.split_external_local_origin_errors.as_ref();
    if let Some(count) = outlier.consecutive_local_origin_failures.as_ref()
        && count.value > 0
        && !split.is_some_and(|split| split.value)
    {
        let mut finding = refusal(
            count.span,
            "`consecutiveLocalOriginFailures` needs `splitExternalLocalOriginErrors: true`",
        )
        .help("set `splitExternalLocalOriginErrors: true`, or remove `consecutiveLocalOriginFailures`: without the \
               split, local errors count as 5xx");
        if let Some(split) = split {
            finding = finding.because(split.span, "the split is off");
        }
        review.push(finding);
    }
    for percent in [&outlier.max_ejection_percent, &outlier.min_health_percent]
        .into_iter()
        .flatten()
    {
        check_percent(percent, review);
    }
}

fn check_percent(percent: &Spanned<i64>, review: &mut Review<'_>) {
    if !(0..=100).contains(&percent.value) {
        review.push(refusal(
            percent.span,
            format!("`{}` is no percentage from 0 to 100", percent.value),
        ));
    }
}
