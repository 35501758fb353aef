//! `exportTo`.

use std::collections::HashMap;

use smol_str::SmolStr;

use super::super::Items;
use super::super::decode::{List, Rare};
use super::host::is_label;
use super::{Review, refusal};
use crate::source::{Span, Spanned};

/// What `exportTo` belongs to, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    ServiceEntry,
    Other,
    /// A DestinationRule with a `workloadSelector`, at this key.
    Selector(Span),
}

pub(super) fn check(list: &Rare<List<SmolStr>>, owner: Owner, review: &mut Review<'_>) {
    let entries = list.items();
    let namespace = review.namespace;
    // `.` is the own namespace; a name that cannot be one stands for an unknown one.
    let own = namespace.unwrap_or(".");
    let mut seen: HashMap<&str, Span> = HashMap::new();
    for entry in entries {
        let target = if *entry.value == *"." {
            own
        } else {
            entry.value.as_str()
        };
        if let Some(first) = seen.get(target) {
            review.push(
                refusal(
                    entry.span,
                    format!("`exportTo` lists `{}` twice", entry.value),
                )
                .because(*first, "first listed here")
                .help("keep one of them"),
            );
            continue;
        }
        let right = match target {
            "." | "*" => true,
            "~" => owner == Owner::ServiceEntry,
            name => is_label(name),
        };
        if right {
            seen.insert(target, entry.span);
        } else if target == "~" {
            review.push(
                refusal(
                    entry.span,
                    "`exportTo` knows `~` (nobody) in a `ServiceEntry` only",
                )
                .help("use `.`"),
            );
        } else {
            review.push(
                refusal(
                    entry.span,
                    format!(
                        "`{}` is no namespace that `exportTo` could mean",
                        entry.value
                    ),
                )
                .help("write `.` for the own namespace, `*` for all, or the name of one"),
            );
        }
    }
    if let Owner::Selector(selector) = owner {
        check_selector(entries, own, &seen, selector, review);
    }
    for (alone, meaning) in [("*", "everybody"), ("~", "nobody")] {
        let Some(span) = seen.get(alone) else {
            continue;
        };
        let Some(other) = entries.iter().find(|entry| entry.value != alone) else {
            continue;
        };
        review.push(
            refusal(
                *span,
                format!("`exportTo` lists `{alone}` ({meaning}) beside others"),
            )
            .because(other.span, "this one too")
            .help(format!("keep `{alone}` or the others")),
        );
    }
}

/// A rule that selects workloads can only be for its own namespace.
fn check_selector(
    entries: &[Spanned<SmolStr>],
    own: &str,
    seen: &HashMap<&str, Span>,
    selector: Span,
    review: &mut Review<'_>,
) {
    if seen.is_empty() {
        return;
    }
    // Any one name may be the unknown namespace.
    let unknown = review.namespace.is_none() && seen.len() == 1 && !seen.contains_key("*");
    let wrong = if seen.contains_key(own) || unknown {
        seen.len() > 1
    } else {
        true
    };
    let foreign = entries
        .iter()
        .find(|entry| *entry.value != *"." && entry.value != own);
    if let Some(foreign) = foreign.filter(|_| wrong) {
        review.push(
            refusal(
                foreign.span,
                format!(
                    "a rule with a `workloadSelector` cannot be exported to `{}`",
                    foreign.value
                ),
            )
            .because(selector, "it selects workloads of its own namespace")
            .help("export it to `.`, or remove `exportTo`"),
        );
    }
}
