//! Where routes lead to.

use super::super::route::Destination;
use super::host::{is_label, wildcard_domain_fault};
use super::{Review, port, refusal};
use crate::source::{Span, Spanned};

pub(super) fn check(destination: &Destination, review: &mut Review<'_>) {
    if let Some(host) = &destination.host {
        let fault = if **host == "*" {
            Some("`*` is none".to_owned())
        } else {
            wildcard_domain_fault(host)
        };
        if let Some(fault) = fault {
            review.push(refusal(
                host.span,
                format!("`{}` is no host to send to: {fault}", host.value),
            ));
        }
    }
    if let Some(subset) = destination
        .subset
        .as_ref()
        .filter(|subset| !subset.is_empty() && !is_label(subset))
    {
        review.push(
            refusal(subset.span, format!("`{}` is no subset name", subset.value))
                .help("use letters, digits and inner `-`, at most 63"),
        );
    }
    if let Some(port) = &destination.port {
        match &port.number {
            Some(number) => port::check_number(number, review),
            None => review.push(refusal(port.key, "the port needs a `number`").absent("number")),
        }
    }
}

/// The weights of one route: none negative, and not all zero where there are several.
pub(super) fn check_weights<'w>(
    route_key: Span,
    weights: impl Iterator<Item = Option<&'w Spanned<i64>>>,
    review: &mut Review<'_>,
) {
    let (mut total, mut count) = (0_i64, 0_usize);
    for weight in weights {
        count += 1;
        let Some(weight) = weight else { continue };
        total = total.saturating_add(weight.value);
        if weight.value < 0 {
            review.push(refusal(
                weight.span,
                format!("the weight `{}` is negative", weight.value),
            ));
        }
    }
    if count > 1 && total == 0 {
        review.push(
            refusal(
                route_key,
                format!("the weights of the {count} destinations add up to 0"),
            )
            .help("give each destination a `weight`"),
        );
    }
}
