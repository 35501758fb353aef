//! ServiceEntries, read as Istio's registry reads them.

use std::borrow::Cow;

use super::{Definition, Host, Origin, Resolution, address, pairs, port};
use crate::egress::visibility::Reach;
use crate::istio::decode::Items;
use crate::istio::resource::Resource;
use crate::istio::service::{Location, Resolution as Declared, ServiceEntry};

pub(super) fn read<'a>(resource: &'a Resource, entry: &'a ServiceEntry) -> Definition<'a> {
    let addresses = entry.addresses.items();
    let valid: Vec<_> = addresses.iter().filter_map(address::read).collect();
    // Addresses that are all invalid leave no service at all.
    let reachable = addresses.is_empty() || !valid.is_empty();
    let resolution = entry.resolution.as_ref();
    let hosts = if reachable { entry.hosts.items() } else { &[] };
    Definition {
        resource,
        origin: Origin::ServiceEntry,
        hosts: hosts
            .iter()
            .map(|host| Host {
                name: Cow::Borrowed(host.value.as_str()),
                line: host.span,
                rank: 0,
            })
            .collect(),
        addresses: valid.into(),
        ports: entry.ports.items().iter().map(port::of_entry).collect(),
        resolution: match resolution.map(|it| it.value).unwrap_or_default() {
            Declared::None => Resolution::Passthrough,
            Declared::Static => Resolution::Static,
            Declared::Dns => Resolution::Dns,
            Declared::DnsRoundRobin => Resolution::DnsRoundRobin,
            Declared::DynamicDns => Resolution::DynamicDns,
        },
        resolution_line: resolution.map(|it| it.span),
        mesh_external: entry
            .location
            .as_ref()
            .is_none_or(|l| l.value == Location::MeshExternal),
        export_to: entry
            .export_to
            .items()
            .iter()
            .map(|e| Cow::Borrowed(e.value.as_str()))
            .collect(),
        reach: Reach::Listed,
        selector: entry.workload_selector.as_ref().map(|selector| {
            selector
                .value
                .labels
                .as_ref()
                .map(|labels| pairs(&labels.value))
                .unwrap_or_default()
        }),
        traffic_distribution: None,
        alias_of: None,
    }
}
