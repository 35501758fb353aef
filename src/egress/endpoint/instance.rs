//! One endpoint, and what it is made from.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;

use smol_str::SmolStr;

use crate::egress::client::Client;
use crate::egress::service::{Port, Service, TargetPort};
use crate::egress::workload::Workload;
use crate::istio::decode::Map;
use crate::istio::service::WorkloadEntry;
use crate::source::Span;

/// One address of one port.
#[derive(Clone, Debug)]
pub struct Instance<'m> {
    pub address: &'m str,
    /// `None`: no file tells the address, and one is assumed.
    pub address_line: Option<Span>,
    pub port: u32,
    pub port_line: Span,
    /// The port of the service.
    pub service_port: u32,
    /// `None`: the host stands for itself, and no label selects it.
    labels: Option<BTreeMap<Cow<'m, str>, Cow<'m, str>>>,
    pub locality: Option<(Cow<'m, str>, Span)>,
    pub weight: u32,
    /// The endpoint has a sidecar that takes mutual TLS; `false` where that is known not to be so.
    pub mutual_tls: bool,
}

/// The address that a gateway's pod is given, as no file tells it.
const GATEWAY_ADDRESS: &str = "10.9.8.7";

impl Instance<'_> {
    pub(in crate::egress) fn label(&self, key: &str) -> &str {
        self.labels
            .as_ref()
            .and_then(|labels| labels.get(key))
            .map_or("", |value| value)
    }

    /// Whether a subset with these labels has it.
    pub(in crate::egress) fn has_labels(&self, wanted: &Map<SmolStr>) -> bool {
        wanted.iter().all(|(key, value)| {
            let labels = self.labels.as_ref();
            labels
                .and_then(|labels| labels.get(key.value.as_str()))
                .is_some_and(|own| **own == value.value)
        })
    }

    /// Whether EDS may carry it: it is no name that had to be resolved.
    pub(in crate::egress) fn is_ip(&self) -> bool {
        self.port == 0 || self.address.is_empty() || self.address.parse::<IpAddr>().is_ok()
    }
}

/// A gateway's pod, at the `targetPort` of the service. What its containers call their ports is not known.
pub(super) fn of_pod<'m>(pod: &'m Client, port: &'m Port<'m>) -> Option<Instance<'m>> {
    let (number, port_line) = match &port.target() {
        Some(target) => target.number()?,
        None => (port.number, port.number_line),
    };
    let labels = pod.labels.iter();
    let labels = labels.map(|(key, value)| (Cow::Borrowed(&**key), Cow::Borrowed(&**value)));
    Some(Instance {
        address: GATEWAY_ADDRESS,
        address_line: None,
        port: number,
        port_line,
        service_port: port.number,
        labels: Some(labels.collect()),
        locality: None,
        weight: 1,
        mutual_tls: false,
    })
}

pub(super) fn host_itself<'m>(service: &Service<'m>, port: &'m Port<'m>) -> Instance<'m> {
    let target = port.target().and_then(|target| target.number());
    let (number, port_line) = target.unwrap_or((port.number, port.number_line));
    Instance {
        address: &service.host.name,
        address_line: Some(service.host.line),
        port: number,
        port_line,
        service_port: port.number,
        labels: None,
        locality: None,
        weight: 1,
        mutual_tls: false,
    }
}

/// The endpoint's own port of that name, else the service's `targetPort`, else its number. A socket has none.
pub(super) fn of_entry<'m>(
    entry: &'m WorkloadEntry,
    place: Span,
    labels: &BTreeMap<&'m str, &'m str>,
    port: &'m Port<'m>,
) -> Instance<'m> {
    let address = entry.address.as_ref();
    let text = address.map_or("", |address| address.value.as_str());
    let socket = text.strip_prefix("unix://");
    let own = entry
        .ports
        .as_ref()
        .and_then(|ports| ports.value.get(port.name))
        .filter(|port| port.value > 0);
    let own = own.and_then(|own| Some((u32::try_from(own.value).ok()?, own.span)));
    let target = || port.target().and_then(|target| target.number());
    let (number, port_line) = match socket {
        Some(_) => (0, port.number_line),
        None => own
            .or_else(target)
            .unwrap_or((port.number, port.number_line)),
    };
    let locality = entry
        .locality
        .as_ref()
        .filter(|locality| !locality.value.is_empty());
    let locality = locality
        .map(|locality| (Cow::Borrowed(locality.value.as_str()), locality.span))
        .or_else(|| {
            let label = labels
                .get("istio-locality")
                .filter(|label| !label.is_empty())?;
            // Labels cannot hold slashes.
            let text = if label.contains('/') {
                label.to_string()
            } else {
                label.replace('.', "/")
            };
            Some((Cow::Owned(text), place))
        });
    let mode = labels.get("security.istio.io/tlsMode").copied();
    let account = entry
        .service_account
        .as_ref()
        .is_some_and(|account| !account.value.is_empty());
    Instance {
        address: socket.unwrap_or(text),
        address_line: Some(address.map_or(place, |address| address.span)),
        port: number,
        port_line,
        service_port: port.number,
        labels: Some(augmented(
            labels,
            locality.as_ref().map(|(text, _)| &**text),
            entry,
        )),
        locality,
        weight: entry
            .weight
            .as_ref()
            .and_then(|weight| u32::try_from(weight.value).ok())
            .unwrap_or(0)
            .max(1),
        mutual_tls: mode.map_or(account, |mode| mode == "istio"),
    }
}

/// Istio adds what it knows of the place.
fn augmented<'m>(
    labels: &BTreeMap<&'m str, &'m str>,
    locality: Option<&str>,
    entry: &'m WorkloadEntry,
) -> BTreeMap<Cow<'m, str>, Cow<'m, str>> {
    let mut out: BTreeMap<_, _> = labels
        .iter()
        .map(|(key, value)| (Cow::Borrowed(*key), Cow::Borrowed(*value)))
        .collect();
    let names = [
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
        "topology.istio.io/subzone",
    ];
    for (name, part) in names
        .into_iter()
        .zip(locality_parts(locality.unwrap_or("")))
    {
        if !part.is_empty() {
            out.insert(Cow::Borrowed(name), Cow::Owned(part.to_owned()));
        }
    }
    if let Some(network) = entry
        .network
        .as_ref()
        .filter(|network| !network.value.is_empty())
    {
        let label = out
            .entry(Cow::Borrowed("topology.istio.io/network"))
            .or_default();
        if label.is_empty() {
            *label = Cow::Borrowed(&network.value);
        }
    }
    out
}

/// A WorkloadEntry behind a Kubernetes Service: its port of the name of the Service's `targetPort` or port.
pub(super) fn of_kubernetes<'m>(
    workload: &Workload<'m>,
    port: &'m Port<'m>,
) -> Option<Instance<'m>> {
    let instance = of_entry(
        workload.entry,
        workload.resource.spec_key,
        &workload.labels,
        port,
    );
    let Some(TargetPort::Name(name, _)) = port.target() else {
        return Some(instance);
    };
    let own = workload
        .entry
        .ports
        .as_ref()
        .and_then(|ports| ports.value.get(name))
        .filter(|own| own.value > 0)?;
    Some(Instance {
        port: u32::try_from(own.value).ok()?,
        port_line: own.span,
        ..instance
    })
}

/// A name or a socket, which only a DNS cluster can have.
pub(super) fn needs_dns(entry: &WorkloadEntry) -> bool {
    entry.address.as_ref().is_some_and(|address| {
        !address.value.is_empty() && address.value.parse::<IpAddr>().is_err()
    })
}

/// Region, zone and subzone.
pub fn locality_parts(locality: &str) -> [&str; 3] {
    let mut parts = locality.split('/');
    std::array::from_fn(|_| parts.next().unwrap_or(""))
}

/// Whether an endpoint of this locality is meant by `rule`, as `distribute` spells it: `region/zone/*`.
pub fn in_locality(locality: &str, rule: &str) -> bool {
    let [region, zone, subzone] = locality_parts(rule);
    let [own_region, own_zone, own_subzone] = locality_parts(locality);
    let part = |rule: &str, own: &str| rule == "*" || rule.is_empty() || rule == own;
    (region == "*" || region == own_region) && part(zone, own_zone) && part(subzone, own_subzone)
}
