//! Names of gateways, as a `VirtualService` lists them.

use super::super::Items;
use super::super::decode::List;
use super::host::{domain_fault, is_label};
use super::{Review, refusal};
use crate::source::Spanned;

/// Istio stops at the first name without a namespace: those behind it are not looked at.
pub(super) fn check(names: &Option<Spanned<List<String>>>, review: &mut Review<'_>) {
    for name in names.items() {
        let Some((namespace, gateway)) = name.split_once('/') else {
            if let Some(fault) = domain_fault(name) {
                review.push(refusal(
                    name.span,
                    format!("`{}` is no gateway: {fault}", name.value),
                ));
            }
            return;
        };
        if !is_label(namespace) || !is_label(gateway) {
            review.push(
                refusal(name.span, format!("`{}` is no gateway", name.value))
                    .help("write `NAMESPACE/NAME`, or `mesh`"),
            );
        }
    }
}
