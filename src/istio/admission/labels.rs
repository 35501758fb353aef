//! Labels of workloads and selectors of them.

use smol_str::SmolStr;

use super::super::Map;
use super::host::is_label;
use super::{Review, refusal, warning};
use crate::source::{Span, Spanned};

/// Refuses what Kubernetes would not take as labels.
pub(super) fn check(labels: &Map<SmolStr>, review: &mut Review<'_>) {
    for (key, value) in labels.iter() {
        if !is_key(key) {
            review.push(refusal(
                key.span,
                format!("`{}` is no label name", key.value),
            ));
        }
        if !(value.is_empty() || is_qualified(value)) {
            review.push(
                refusal(value.span, format!("`{}` is no label value", value.value))
                    .help("use letters, digits and inner `-`, `_` or `.`"),
            );
        }
    }
}

/// Refuses empty names and wildcards. `key` is that of the selector.
pub(super) fn check_selector(
    key: Span,
    labels: Option<&Spanned<Map<SmolStr>>>,
    review: &mut Review<'_>,
) {
    let Some(labels) = labels.filter(|labels| !labels.is_empty()) else {
        review.push(
            warning(
                key,
                "a `workloadSelector` without labels selects every workload of the namespace",
            )
            .help("name the labels of the workloads that are meant"),
        );
        return;
    };
    for (key, value) in labels.iter() {
        if key.is_empty() {
            review.push(refusal(key.span, "a selector's label needs a name"));
        }
        if key.contains('*') {
            review.push(refusal(
                key.span,
                format!("a selector knows no wildcard: `{}`", key.value),
            ));
        }
        if value.contains('*') {
            review.push(refusal(
                value.span,
                format!("a selector knows no wildcard: `{}`", value.value),
            ));
        }
    }
}

fn is_key(key: &str) -> bool {
    let (prefix, name) = match key.rsplit_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let right = |prefix: &str| prefix.len() <= 253 && prefix.split('.').all(is_prefix_label);
    prefix.is_none_or(right) && is_qualified(name) && name.len() <= 63
}

/// Unlike elsewhere, the length of each label is free.
fn is_prefix_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    is_label(text)
        || (text.len() > 63
            && text.bytes().all(inner)
            && !text.starts_with('-')
            && !text.ends_with('-'))
}

fn is_qualified(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let edge = |c: char| c.is_ascii_alphanumeric();
    text.bytes().all(inner) && text.starts_with(edge) && text.ends_with(edge)
}
