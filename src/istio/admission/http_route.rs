//! One HTTP route of a `VirtualService`.

use smol_str::SmolStr;

use super::super::Items;
use super::super::route::{HttpMatch, HttpRoute};
use super::{
    Review, cors, deprecation, duration, fault, gateway_names, header, host, labels, port,
    redirect, refusal, retries, route_destination, string_match,
};
use crate::source::{Span, Spanned};

/// `delegate`: the VirtualService has no hosts, so that others delegate to it. `mesh`: it also holds at sidecars.
pub(super) fn check(
    route: &Spanned<HttpRoute>,
    delegate: bool,
    mesh: bool,
    review: &mut Review<'_>,
) {
    check_action(route, delegate, review);
    for matched in route.matches.items() {
        check_match(matched, mesh, review);
    }
    header::check(route.headers.as_deref(), review);
    cors::check(route.cors_policy.as_deref(), review);
    fault::check(route.fault.as_deref(), review);
    check_mirrors(route, review);
    redirect::check(route, review);
    fault::check_direct_response(route.direct_response.as_deref(), review);
    retries::check(route.retries.as_deref(), review);
    redirect::check_rewrite(route, review);
    header::check_authority(route.rewrite.as_deref(), route.headers.as_deref(), review);
    for destination in route.route.items() {
        header::check(destination.headers.as_deref(), review);
        if let Some(destination) = &destination.destination {
            route_destination::check(destination, review);
        }
    }
    if let Some(destinations) = &route.route {
        let weights = destinations
            .iter()
            .map(|destination| destination.weight.as_deref());
        route_destination::check_weights(destinations.key, weights, review);
    }
    duration::check(route.timeout.as_deref(), review);
}

/// A route does one thing: forward, redirect, answer, or leave it to another VirtualService.
fn check_action(route: &Spanned<HttpRoute>, delegate: bool, review: &mut Review<'_>) {
    let forward = route
        .route
        .as_ref()
        .filter(|list| !list.is_empty())
        .map(|it| ("route", it.key));
    let redirect = route.redirect.as_ref().map(|it| ("redirect", it.key));
    let answer = route
        .direct_response
        .as_ref()
        .map(|it| ("directResponse", it.key));
    let fault = route.fault.as_deref().map(|it| ("fault", it.key));
    let rewrite = route.rewrite.as_deref().map(|it| ("rewrite", it.key));
    if let Some(other) = &route.delegate {
        if delegate {
            review.push(
                refusal(
                    other.key,
                    "a VirtualService without hosts is delegated to, and cannot delegate further",
                )
                .help("name its routes here, or give it hosts"),
            );
        } else {
            exclude(("delegate", other.key), [redirect, forward], review);
            return;
        }
    }
    if let Some(redirect) = redirect {
        exclude(redirect, [forward, fault, rewrite, answer], review);
    } else if let Some(answer) = answer {
        exclude(answer, [forward, fault, rewrite], review);
    } else if forward.is_none() {
        let finding = match &route.route {
            Some(list) => refusal(list.key, "the route leads nowhere"),
            None => refusal(route.key, "the route leads nowhere").absent("route"),
        };
        review.push(finding.help("add a `route`, a `redirect` or a `directResponse`"));
    }
    if let (Some(one), Some(many)) = (
        &route.mirror,
        route.mirrors.as_ref().filter(|list| !list.is_empty()),
    ) {
        exclude(("mirror", one.key), [Some(("mirrors", many.key))], review);
    }
}

type Named = (&'static str, Span);

fn exclude<const N: usize>(first: Named, others: [Option<Named>; N], review: &mut Review<'_>) {
    for (name, key) in others.into_iter().flatten() {
        review.push(
            refusal(
                key,
                format!("`{name}` and `{}` exclude each other", first.0),
            )
            .because(first.1, "set here")
            .help("keep one of them"),
        );
    }
}

fn check_match(matched: &HttpMatch, mesh: bool, review: &mut Review<'_>) {
    for (name, pattern) in matched.headers.iter().flat_map(|map| map.iter()) {
        check_header_name(name, mesh, review);
        string_match::check(pattern, review);
    }
    for (name, pattern) in matched.without_headers.iter().flat_map(|map| map.iter()) {
        check_header_name(name, mesh, review);
        // `*` stands for any value here.
        if pattern
            .regex
            .as_ref()
            .is_none_or(|regex| *regex.value != *"*")
        {
            string_match::check(pattern, review);
        }
    }
    if let Some(uri) = &matched.uri {
        string_match::check_regex(uri, review);
    }
    for pattern in [&matched.scheme, &matched.method, &matched.authority]
        .into_iter()
        .flatten()
    {
        string_match::check(pattern, review);
    }
    for (_, pattern) in matched.query_params.iter().flat_map(|map| map.iter()) {
        string_match::check(pattern, review);
    }
    port::check_optional_number(matched.port.as_deref(), review);
    if let Some(labels) = &matched.source_labels {
        labels::check(labels, review);
    }
    gateway_names::check(matched.gateways.items(), review);
    if let Some(namespace) = matched
        .source_namespace
        .as_ref()
        .filter(|it| !it.is_empty() && !host::is_label(it))
    {
        review.push(refusal(
            namespace.span,
            format!("`{}` is no namespace", namespace.value),
        ));
    }
}

fn check_header_name(name: &Spanned<SmolStr>, mesh: bool, review: &mut Review<'_>) {
    if mesh && header::is_claim(name) {
        review.push(
            refusal(
                name.span,
                format!(
                    "`{}` is a claim of a token, which only gateways read",
                    name.value
                ),
            )
            .help("bind the VirtualService to gateways alone"),
        );
    }
    header::check_match_name(name, review);
}

fn check_mirrors(route: &HttpRoute, review: &mut Review<'_>) {
    if let Some(percent) = route
        .mirror_percent
        .as_ref()
        .filter(|percent| percent.value > 100)
    {
        review.push(refusal(
            percent.span,
            format!("`{}` is no percentage from 0 to 100", percent.value),
        ));
    } else if let Some(percent) = &route.mirror_percent {
        let text = "this field is an older spelling of `mirrorPercentage`";
        let newer = format!("write `mirrorPercentage: {{value: {}}}`", percent.value);
        review.push(deprecation(percent.key, text).help(newer));
    }
    fault::check_share(route.mirror_percentage.as_deref(), review);
    if let Some(mirror) = &route.mirror {
        route_destination::check(mirror, review);
    }
    for mirror in route.mirrors.items() {
        if let Some(destination) = &mirror.destination {
            route_destination::check(destination, review);
        }
        fault::check_share(mirror.percentage.as_ref(), review);
    }
}
