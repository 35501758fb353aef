//! Services of Kubernetes, read as Istio's registry reads them.

use std::borrow::Cow;

use super::{
    Address, Definition, Host, Origin, Resolution, TrafficDistribution, address, pairs, port,
};
use crate::egress::host;
use crate::egress::visibility::Reach;
use crate::istio::decode::Items;
use crate::istio::resource::Resource;
use crate::istio::service::KubeService;

/// As the API server has it where a Service has no address of its own.
const HEADLESS: &str = "None";

pub(super) fn read<'a>(resource: &'a Resource, service: &'a KubeService) -> Definition<'a> {
    let kind = service.service_type.as_ref();
    let is_external = kind.is_some_and(|it| it.value == "ExternalName");
    let external = service.external_name.as_deref();
    let external = external.filter(|name| is_external && !name.value.is_empty());
    let headless = service.cluster_ip.as_ref();
    let headless = headless.filter(|ip| ip.value == HEADLESS);
    let (resolution, resolution_line) = match (headless, external) {
        (Some(ip), _) => (Resolution::Passthrough, Some(ip.span)),
        (None, Some(_)) => (Resolution::Alias, kind.map(|it| it.span)),
        (None, None) => (Resolution::Static, None),
    };
    let name = resource.meta.name.as_ref();
    let distribution = service.traffic_distribution.as_ref();
    let ports = service.ports.items().iter();
    let selector = service.selector.as_ref();
    Definition {
        resource,
        origin: Origin::Kubernetes,
        hosts: vec![Host {
            name: Cow::Owned(host::of_service(resource.name(), resource.namespace())),
            line: name.map_or(resource.kind, |name| name.span),
            rank: 0,
        }],
        addresses: addresses(service).into(),
        ports: ports.map(port::of_kubernetes).collect(),
        resolution,
        resolution_line,
        mesh_external: external.is_some(),
        export_to: export_to(resource),
        reach: Reach::Listed,
        selector: selector.map(|selector| pairs(&selector.value)),
        traffic_distribution: distribution
            .and_then(|wanted| Some((TrafficDistribution::specified(&wanted.value)?, wanted.span))),
        alias_of: external,
    }
}

fn addresses(service: &KubeService) -> Vec<Address<'_>> {
    let first = service.cluster_ip.as_ref();
    let first = first.filter(|ip| !ip.value.is_empty() && ip.value != HEADLESS);
    match (first, service.cluster_ips.items()) {
        (None, _) => Vec::new(),
        (Some(_), several @ [_, _, ..]) => several.iter().filter_map(address::read).collect(),
        (Some(ip), _) => address::read(ip).into_iter().collect(),
    }
}

fn export_to(resource: &Resource) -> Box<[Cow<'_, str>]> {
    let list = resource
        .meta
        .annotations
        .get("networking.istio.io/exportTo");
    let list = list.filter(|list| !list.value.is_empty());
    let entries = list.into_iter().flat_map(|list| list.value.split(','));
    entries.map(|entry| Cow::Borrowed(entry.trim())).collect()
}
