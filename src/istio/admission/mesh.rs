//! `MeshConfig`, which no webhook sees: istiod checks it when it reads it.

use super::super::mesh::MeshConfig;
use super::super::value::Duration;
use super::{Review, connection_pool, duration, locality, outlier, refusal};

const HOUR: Duration = Duration {
    nanos: 3_600_000_000_000,
};

/// `defaultHttpRetryPolicy` is not checked at all.
pub(super) fn check(config: &MeshConfig, review: &mut Review<'_>) {
    duration::check(config.connect_timeout.as_ref(), review);
    if let Some(timeout) = config
        .connect_timeout
        .as_ref()
        .filter(|timeout| timeout.value > HOUR)
    {
        review.push(refusal(
            timeout.span,
            "the mesh's `connectTimeout` is more than an hour",
        ));
    }
    if let Some(setting) = &config.locality_lb_setting {
        locality::check(setting, review);
    }
    if let Some(setting) = &config.zone_aware_lb_setting {
        locality::check_zone_aware(setting, review);
    }
    if let Some(policy) = &config.default_traffic_policy {
        connection_pool::check(policy.connection_pool.as_deref(), review);
        outlier::check(policy.outlier_detection.as_deref(), review);
    }
}
