//! A `ServiceEntry` with the resolution `DYNAMIC_DNS`.

use super::super::Items;
use super::super::service::{Location, ServiceEntry};
use super::super::version::IstioVersion;
use super::service_entry::because_of_resolution;
use super::{Review, port, refusal};

pub(super) fn check(entry: &ServiceEntry, review: &mut Review<'_>) {
    for host in entry
        .hosts
        .items()
        .iter()
        .filter(|host| !host.starts_with('*'))
    {
        let finding = refusal(
            host.span,
            format!(
                "the resolution `DYNAMIC_DNS` needs wildcards, and `{}` is none",
                host.value
            ),
        )
        .help("set `resolution` to `DNS` for a single host");
        review.push(because_of_resolution(entry, finding));
    }
    if let Some(addresses) = entry.addresses.as_ref().filter(|list| !list.is_empty()) {
        let finding = refusal(
            addresses.key,
            "the resolution `DYNAMIC_DNS` allows no `addresses`",
        );
        review.push(because_of_resolution(entry, finding).help("remove `addresses`"));
    }
    if let Some(endpoints) = entry.endpoints.as_ref().filter(|list| !list.is_empty()) {
        let finding = refusal(
            endpoints.key,
            "the resolution `DYNAMIC_DNS` allows no `endpoints`",
        );
        review.push(
            because_of_resolution(entry, finding)
                .help("remove `endpoints`: the address is that of the host asked for"),
        );
    }
    let allowed: &[&str] = match review.version.0 {
        ..=28 => &["http"],
        29 => &["http", "tls"],
        _ => &["http", "tls", "grpc", "http2"],
    };
    for port in entry.ports.items() {
        let protocol = port
            .protocol
            .as_ref()
            .and_then(|protocol| port::protocol(protocol));
        // A protocol that nobody knows is refused everywhere.
        let is_unknown =
            protocol.is_none() && port.protocol.as_ref().is_some_and(|it| !it.is_empty());
        if is_unknown || protocol.is_some_and(|protocol| allowed.contains(&protocol)) {
            continue;
        }
        let names: Vec<_> = allowed
            .iter()
            .map(|name| format!("`{}`", name.to_uppercase()))
            .collect();
        let help = format!("write {}", names.join(" or "));
        let finding = match &port.protocol {
            Some(protocol) => refusal(
                protocol.span,
                format!(
                    "the resolution `DYNAMIC_DNS` does not allow the protocol `{}`",
                    protocol.value
                ),
            ),
            None => refusal(port.key, "the resolution `DYNAMIC_DNS` needs a protocol")
                .absent("protocol"),
        };
        review.push(because_of_resolution(entry, finding).help(help));
    }
    check_location(entry, review);
}

fn check_location(entry: &ServiceEntry, review: &mut Review<'_>) {
    let Some(location) = entry
        .location
        .as_ref()
        .filter(|it| it.value == Location::MeshInternal)
    else {
        return;
    };
    if review.version < IstioVersion(30) {
        let finding = refusal(
            location.span,
            "the resolution `DYNAMIC_DNS` needs the location `MESH_EXTERNAL`",
        );
        review.push(because_of_resolution(entry, finding));
        return;
    }
    let waypoint = review.meta.labels.get("istio.io/use-waypoint");
    if let Some(waypoint) = waypoint.filter(|it| !it.is_empty() && !it.eq_ignore_ascii_case("none"))
    {
        let finding = refusal(
            location.span,
            "`MESH_INTERNAL` with the resolution `DYNAMIC_DNS` cannot use a waypoint",
        )
        .because(waypoint.span, "this waypoint");
        review.push(because_of_resolution(entry, finding));
    }
}
