//! Ports: their numbers, names and protocols.

use smol_str::SmolStr;

use super::host::is_label;
use super::{Review, refusal};
use crate::source::Spanned;

const PROTOCOLS: [&str; 12] = [
    "tcp",
    "udp",
    "grpc",
    "grpc-web",
    "http",
    "http_proxy",
    "http2",
    "https",
    "tls",
    "mongo",
    "redis",
    "mysql",
];

/// A protocol as Istio reads it: in any case. `None` for an unknown one and for none.
pub(super) fn protocol(text: &str) -> Option<&'static str> {
    PROTOCOLS
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(text))
}

pub(super) fn is_http(protocol: Option<&str>) -> bool {
    matches!(
        protocol,
        Some("http" | "http2" | "http_proxy" | "grpc" | "grpc-web")
    )
}

pub(super) fn is_tls(protocol: Option<&str>) -> bool {
    matches!(protocol, Some("https" | "tls"))
}

/// Refuses a protocol that Istio does not know; none at all is right.
pub(super) fn check_protocol(value: Option<&Spanned<SmolStr>>, review: &mut Review<'_>) {
    let Some(value) = value.filter(|value| !value.is_empty() && protocol(value).is_none()) else {
        return;
    };
    review.push(
        refusal(value.span, format!("`{}` is no protocol that Istio knows", value.value))
            .help("write one of `HTTP`, `HTTP2`, `GRPC`, `GRPC-Web`, `HTTPS`, `TLS`, `TCP`, `Mongo`, `MySQL`, `Redis`, `UDP`"),
    );
}

/// Refuses a name that is no DNS label.
pub(super) fn check_name(name: &Spanned<SmolStr>, review: &mut Review<'_>) {
    if !is_label(name) {
        review.push(
            refusal(name.span, format!("`{}` is no port name", name.value))
                .help("use letters, digits and inner `-`, at most 63"),
        );
    }
}

/// Refuses a number that is no port.
pub(super) fn check_number(number: &Spanned<i64>, review: &mut Review<'_>) {
    if !is_number(number.value) {
        review.push(refusal(
            number.span,
            format!("`{}` is no port: ports are 1 to 65535", number.value),
        ));
    }
}

/// The same where 0 stands for none.
pub(super) fn check_optional_number(number: Option<&Spanned<i64>>, review: &mut Review<'_>) {
    if let Some(number) = number.filter(|number| number.value != 0) {
        check_number(number, review);
    }
}

pub(super) fn is_number(number: i64) -> bool {
    (1..=65535).contains(&number)
}
