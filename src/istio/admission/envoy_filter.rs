//! `EnvoyFilter`, without what it patches in.

use super::super::Items;
use super::super::envoy_filter::{
    ApplyTo, ConfigPatch, EnvoyFilter, FilterMatch, PatchContext, PatchMatch, PatchOperation,
};
use super::super::version::IstioVersion;
use super::{Review, labels, refusal, regex};
use crate::source::{Span, Spanned};

pub(super) fn check(filter: &EnvoyFilter, review: &mut Review<'_>) {
    if let Some(selector) = &filter.workload_selector {
        labels::check_selector(selector.key, selector.labels.as_ref(), review);
    }
    for patch in filter.config_patches.items() {
        check_patch(patch, review);
    }
}

fn check_patch(patch: &Spanned<ConfigPatch>, review: &mut Review<'_>) {
    let matched = patch.matches.as_ref();
    let context = matched
        .and_then(|it| it.context.as_ref())
        .map(|it| it.value);
    if context == Some(PatchContext::Waypoint) && review.version >= IstioVersion(29) {
        return;
    }
    let Some(apply_to) = patch
        .apply_to
        .as_ref()
        .filter(|it| it.value != ApplyTo::Invalid)
    else {
        review.push(
            refusal(patch.key, "the patch does not say what it applies to").absent("applyTo"),
        );
        return;
    };
    let Some(change) = &patch.patch else {
        review.push(refusal(patch.key, "the item has no `patch`").absent("patch"));
        return;
    };
    let operation = change
        .operation
        .as_ref()
        .map(|it| it.value)
        .unwrap_or_default();
    if operation == PatchOperation::Invalid {
        review.push(refusal(change.key, "the patch has no `operation`").absent("operation"));
        return;
    }
    if operation != PatchOperation::Remove && change.value.value.is_none() {
        review.push(
            refusal(
                change.key,
                format!("the operation `{}` needs a `value`", operation.name()),
            )
            .absent("value"),
        );
        return;
    }
    let Some(matched) = matched else { return };
    if let Some(version) = matched
        .proxy
        .as_ref()
        .and_then(|proxy| proxy.proxy_version.as_ref())
        && let Some(fault) = regex::fault(version).filter(|_| version.len() <= 1024)
    {
        review.push(refusal(
            version.span,
            format!("this is no regular expression of RE2: {fault}"),
        ));
    }
    check_match(apply_to, matched, review);
}

/// What is matched must be of the class that the patch applies to.
fn check_match(apply_to: &Spanned<ApplyTo>, matched: &PatchMatch, review: &mut Review<'_>) {
    let listener = matched.listener.as_ref().map(|it| ("listener", it.key));
    let route = matched
        .route_configuration
        .as_ref()
        .map(|it| ("routeConfiguration", it.key));
    let cluster = matched.cluster.as_ref().map(|it| ("cluster", it.key));
    let waypoint = matched.waypoint.as_ref().map(|it| ("waypoint", it.key));
    let wanted = match apply_to.value {
        ApplyTo::Listener | ApplyTo::FilterChain | ApplyTo::NetworkFilter | ApplyTo::HttpFilter => {
            "listener"
        }
        ApplyTo::RouteConfiguration | ApplyTo::VirtualHost | ApplyTo::HttpRoute => {
            "routeConfiguration"
        }
        ApplyTo::Cluster => "cluster",
        _ => return,
    };
    let other: Option<(&str, Span)> = [listener, route, cluster, waypoint]
        .into_iter()
        .flatten()
        .find(|(name, _)| *name != wanted);
    if let Some((name, key)) = other {
        review.push(
            refusal(
                key,
                format!("a patch of `{}` cannot match on `{name}`", apply_to.name()),
            )
            .because(apply_to.span, "what it applies to")
            .help(format!("match on `{wanted}`")),
        );
        return;
    }
    let chain = matched
        .listener
        .as_ref()
        .and_then(|listener| listener.filter_chain.as_ref());
    if let Some(filter) = chain.and_then(|chain| chain.filter.as_ref()) {
        check_filter(apply_to, filter, review);
    }
}

fn check_filter(
    apply_to: &Spanned<ApplyTo>,
    filter: &Spanned<FilterMatch>,
    review: &mut Review<'_>,
) {
    let Some(name) = filter.name.as_ref().filter(|name| !name.is_empty()) else {
        review.push(refusal(filter.key, "a match on a filter needs its name").absent("name"));
        return;
    };
    let Some(sub) = &filter.sub_filter else {
        return;
    };
    let manager = [
        "envoy.filters.network.http_connection_manager",
        "envoy.http_connection_manager",
    ];
    if apply_to.value != ApplyTo::HttpFilter {
        review.push(
            refusal(
                sub.key,
                format!(
                    "a patch of `{}` cannot match on a `subFilter`",
                    apply_to.name()
                ),
            )
            .because(apply_to.span, "what it applies to"),
        );
    } else if !manager.contains(&name.as_str()) {
        review.push(
            refusal(
                name.span,
                format!(
                    "only the HTTP connection manager has sub-filters, not `{}`",
                    name.value
                ),
            )
            .help("match on `envoy.filters.network.http_connection_manager`"),
        );
    } else if sub.name.as_ref().is_none_or(|name| name.is_empty()) {
        review.push(refusal(sub.key, "a match on a sub-filter needs its name").absent("name"));
    }
}
