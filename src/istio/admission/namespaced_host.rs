//! `NAMESPACE/HOST`, as Sidecars and Gateways have it.

use smol_str::SmolStr;

use super::super::version::IstioVersion;
use super::host::{is_address, is_label, wildcard_domain_fault};
use super::{Review, refusal};
use crate::source::Spanned;

/// A host of a Sidecar: the namespace must be there.
pub(super) fn check_sidecar(host: &Spanned<SmolStr>, review: &mut Review<'_>) {
    let Some((namespace, name)) = host.split_once('/') else {
        review.push(
            refusal(host.span, format!("`{}` has no namespace", host.value)).help(format!(
                "write `NAMESPACE/{}`, with `*` for any namespace and `.` for the own one",
                host.value
            )),
        );
        return;
    };
    let known = |text: &str| matches!(text, "*" | "." | "~") || is_label(text);
    let right = if review.version >= IstioVersion(31) {
        // `~` before it excludes it.
        let rest = namespace.strip_prefix('~').unwrap_or(namespace);
        known(namespace) || rest == "*" || rest == "." || is_label(rest)
    } else {
        known(namespace)
    };
    check_namespace(host, namespace, right, review);
    check_name(host, name, wildcard_domain_fault(name), review);
}

/// A host of a Gateway: the namespace may be missing, and the host may be an address.
pub(super) fn check_gateway(host: &Spanned<SmolStr>, review: &mut Review<'_>) {
    let name = match host.split_once('/') {
        None => host.as_str(),
        Some((namespace, name)) => {
            let right = matches!(namespace, "*" | ".") || is_label(namespace);
            check_namespace(host, namespace, right, review);
            name
        }
    };
    let fault = wildcard_domain_fault(name).filter(|_| !is_address(name));
    check_name(host, name, fault, review);
}

fn check_namespace(host: &Spanned<SmolStr>, namespace: &str, right: bool, review: &mut Review<'_>) {
    if !right {
        review.push(
            refusal(
                host.span,
                format!("`{namespace}` in `{}` is no namespace", host.value),
            )
            .help("write `NAMESPACE/HOST`"),
        );
    }
}

fn check_name(host: &Spanned<SmolStr>, name: &str, fault: Option<String>, review: &mut Review<'_>) {
    if let Some(fault) = fault {
        review.push(refusal(host.span, format!("`{name}` is no host: {fault}")));
    } else if name != "*" && !name.contains('.') {
        review.push(
            refusal(
                host.span,
                format!("`{name}` is a short name, which is not allowed here"),
            )
            .help("write the whole name, as `name.namespace.svc.cluster.local`"),
        );
    } else if name != "*" && name.contains('*') && !name.starts_with("*.") {
        review.push(
            refusal(
                host.span,
                format!("`{name}` has a `*` that is no label of its own"),
            )
            .help("write `*.` before a domain"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::istio::resource::Meta;
    use crate::source::{FileId, Span};

    fn refused(text: &str, minor: u32, check: fn(&Spanned<SmolStr>, &mut Review<'_>)) -> bool {
        let span = Span::new(FileId(0), 0, 0);
        let mut review = Review {
            version: IstioVersion(minor),
            namespace: None,
            meta: &Meta::default(),
            misspelt: &[],
            findings: Vec::new(),
        };
        check(&Spanned::new(text.into(), span, span), &mut review);
        !review.findings.is_empty()
    }

    #[test]
    fn hosts_of_sidecars() {
        for text in ["*/*", "./*", "~/*", "app/a.example", "*/*.example", "*/*."] {
            assert!(!refused(text, 30, check_sidecar), "{text}");
        }
        for text in [
            "",
            "a.example",
            "a/b",
            "/a.example",
            "app/",
            "*/1.2.3.4",
            "a_b/a.example",
            "~app/a.example",
            "*/*a.example",
        ] {
            assert!(refused(text, 30, check_sidecar), "{text}");
        }
        assert!(!refused("~app/a.example", 31, check_sidecar));
    }

    #[test]
    fn hosts_of_gateways() {
        for text in [
            "*",
            "a.example",
            "*.example",
            "*/*",
            "./a.example",
            "app/*",
            "1.2.3.4",
            "app/1.2.3.4",
        ] {
            assert!(!refused(text, 30, check_gateway), "{text}");
        }
        for text in [
            "",
            "a",
            "app/a",
            "app/",
            "/a.example",
            "~/a.example",
            "::1",
            "*a.example",
            "a_b.example",
        ] {
            assert!(refused(text, 30, check_gateway), "{text}");
        }
    }
}
