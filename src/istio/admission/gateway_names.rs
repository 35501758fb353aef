//! Names of gateways, as a `VirtualService` lists them.

use smol_str::SmolStr;

use super::host::{domain_fault, is_label};
use super::{Review, deprecation, refusal};
use crate::diag::{Diagnostic, Edit, Fix, Safety};
use crate::source::Spanned;

pub(super) fn check(names: &[Spanned<SmolStr>], review: &mut Review<'_>) {
    check_each(names, review);
    for name in names {
        if let Some(newer) = newer(name) {
            review.push(as_host(name, newer));
        }
    }
}

/// Istio stops at the first name without a namespace: those behind it are not looked at.
fn check_each(names: &[Spanned<SmolStr>], review: &mut Review<'_>) {
    for name in names {
        let Some((namespace, gateway)) = name.split_once('/') else {
            if let Some(fault) = domain_fault(name) {
                review.push(refusal(
                    name.span,
                    format!("`{}` is no gateway: {fault}", name.value),
                ));
            }
            break;
        };
        if !is_label(namespace) || !is_label(gateway) {
            review.push(
                refusal(name.span, format!("`{}` is no gateway", name.value))
                    .help("write `NAMESPACE/NAME`, or `mesh`"),
            );
        }
    }
}

/// `NAMESPACE/NAME` for a name that is written like the host of a service.
fn newer(name: &str) -> Option<String> {
    let mut labels = name.split('.');
    let (gateway, namespace) = (labels.next()?, labels.next()?);
    let names = is_label(namespace) && is_label(gateway);
    names.then(|| format!("{namespace}/{gateway}"))
}

fn as_host(name: &Spanned<SmolStr>, newer: String) -> Diagnostic {
    let text = format!("`{}` names a gateway as if it were a host", name.value);
    let message = format!("write `{newer}`");
    deprecation(name.span, text).help(message.clone()).fix(Fix {
        safety: Safety::Safe,
        message,
        edits: vec![Edit {
            span: name.span,
            text: format!("\"{newer}\""),
        }],
    })
}
