//! The clusters that routes lead to.

use std::borrow::Cow;

use super::facts::Traced;
use super::http_rule::Target;
use super::service::Service;
use crate::source::Span;

/// `outbound|443|subset|host`.
pub(super) fn cluster_name(port: u32, subset: &str, host: &str) -> String {
    format!("outbound|{port}|{subset}|{host}")
}

/// The cluster of a destination. Without a port it is that of the service's only port, else that of the listener.
/// `service` is what the place knows under the host, with the numbers of its ports as the place sees them.
pub(super) fn cluster_of(
    target: &Target<'_>,
    service: Option<(&Service<'_>, &[u32])>,
    listener_port: u32,
) -> Traced<String> {
    let mut lines: Vec<Span> = vec![target.line];
    let port = match target.port() {
        Some(port) => {
            lines.push(port.span);
            u32::try_from(port.value).unwrap_or(0)
        }
        None => match service {
            Some((_, &[only])) => only,
            _ => listener_port,
        },
    };
    let subset = target.destination.subset.as_ref();
    lines.extend(subset.map(|subset| subset.span));
    let alias = service.and_then(|(service, _)| service.definition.alias_of);
    let host = match alias {
        Some(alias) => {
            lines.push(alias.span);
            Cow::Borrowed(alias.value.as_str())
        }
        None => target.host(),
    };
    let subset = subset.map_or("", |subset| &subset.value);
    Traced::lines(cluster_name(port, subset, &host), lines)
}
