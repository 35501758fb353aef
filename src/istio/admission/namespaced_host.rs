//! `NAMESPACE/HOST`, as Sidecars and Gateways have it.

use smol_str::SmolStr;

use super::super::version::IstioVersion;
use super::host::{is_address, is_label, wildcard_domain_fault};
use super::{Review, refusal};
use crate::source::Spanned;

/// A host of a Sidecar: the namespace must be there.
pub(super) fn check_sidecar(host: &Spanned<SmolStr>, review: &mut Review<'_>) {
    let Some((namespace, name)) = host.split_once('/') else {
        let help = match host.contains('.') {
            true => format!(
                "write `NAMESPACE/{}`, with `*` for any namespace and `.` for the own one",
                host.value
            ),
            false => "write `NAMESPACE/HOST` with the whole name of the host, or `NAMESPACE/*`"
                .to_owned(),
        };
        let text = format!("`{}` has no namespace", host.value);
        review.push(refusal(host.span, text).help(help));
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
    let whole = "write the whole name, as `name.namespace.svc.cluster.local`";
    check_name(host, name, wildcard_domain_fault(name), whole, review);
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
    let whole = match name {
        "localhost" => "leave it out, or take `*`: a Gateway cannot name `localhost`",
        _ => "write the whole name that clients ask for",
    };
    check_name(host, name, fault, whole, review);
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

/// `whole` says how to write a short name.
fn check_name(
    host: &Spanned<SmolStr>,
    name: &str,
    fault: Option<String>,
    whole: &'static str,
    review: &mut Review<'_>,
) {
    if let Some(fault) = fault {
        review.push(refusal(host.span, format!("`{name}` is no host: {fault}")));
    } else if name != "*" && !name.contains('.') {
        review.push(
            refusal(
                host.span,
                format!("`{name}` is a short name, which is not allowed here"),
            )
            .help(whole),
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
    use crate::diag::Diagnostic;
    use crate::istio::resource::Meta;
    use crate::source::{FileId, Span};

    fn found(
        text: &str,
        minor: u32,
        check: fn(&Spanned<SmolStr>, &mut Review<'_>),
    ) -> Vec<Diagnostic> {
        let span = Span::new(FileId(0), 0, 0);
        let mut review = Review {
            version: IstioVersion(minor),
            namespace: None,
            meta: &Meta::default(),
            misspelt: &[],
            findings: Vec::new(),
        };
        check(&Spanned::new(text.into(), span, span), &mut review);
        review.findings
    }

    fn refused(text: &str, minor: u32, check: fn(&Spanned<SmolStr>, &mut Review<'_>)) -> bool {
        !found(text, minor, check).is_empty()
    }

    fn help(text: &str, check: fn(&Spanned<SmolStr>, &mut Review<'_>)) -> String {
        let found = found(text, 30, check);
        let help = found.first().and_then(|it| it.help.clone());
        help.unwrap_or_default().into()
    }

    /// What is proposed is not refused as well.
    #[test]
    fn help_for_short_names() {
        assert!(help("localhost", check_gateway).contains("cannot name `localhost`"));
        assert!(help("shop", check_gateway).contains("that clients ask for"));
        assert!(help("a.example", check_sidecar).contains("`NAMESPACE/a.example`"));
        assert!(help("shop", check_sidecar).contains("the whole name"));
        assert!(help("*/shop", check_sidecar).contains("`name.namespace.svc.cluster.local`"));
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
