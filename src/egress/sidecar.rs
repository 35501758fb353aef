//! The `Sidecar` that holds for a workload: what its egress listeners import, and what becomes of the rest.

use foldhash::HashMap;
use smol_str::SmolStr;

use super::client::Client;
use super::destination::cluster_name;
use super::facts::{Handler, Traced};
use super::host::HostIndex;
use super::protocol::Protocol;
use super::service::Service;
use crate::istio::MeshConfig;
use crate::istio::decode::Items;
use crate::istio::proxy::{CaptureMode, OutboundMode, Sidecar, SidecarEgress};
use crate::istio::resource::{Resource, Spec};
use crate::istio::route::Destination;
use crate::istio::version::IstioVersion;
use crate::source::{Span, Spanned};

/// The Sidecars of a world, by namespace: those with a selector first, then the oldest.
#[derive(Debug, Default)]
pub struct Sidecars<'a> {
    of_namespace: HashMap<Option<&'a str>, Vec<(&'a Resource, &'a Sidecar)>>,
    /// The one of the root namespace without a selector: it holds where a namespace has none.
    of_root: Option<(&'a Resource, &'a Sidecar)>,
}

impl<'a> Sidecars<'a> {
    pub fn new(resources: &[&'a Resource], root_namespace: &str) -> Self {
        let mut all: Vec<_> = resources
            .iter()
            .filter(|resource| !resource.refused)
            .filter_map(|resource| match &resource.spec {
                Spec::Sidecar(sidecar) => Some((*resource, &**sidecar)),
                _ => None,
            })
            .collect();
        all.sort_by_key(|(_, sidecar)| sidecar.workload_selector.is_none());
        let of_root = all.iter().copied().find(|(resource, sidecar)| {
            resource.namespace() == Some(root_namespace) && sidecar.workload_selector.is_none()
        });
        let mut of_namespace: HashMap<_, Vec<_>> = HashMap::default();
        for (resource, sidecar) in all {
            of_namespace
                .entry(resource.namespace())
                .or_default()
                .push((resource, sidecar));
        }
        Self {
            of_namespace,
            of_root,
        }
    }

    /// The one that holds for a workload. One of an unknown namespace holds where no known one does.
    pub fn of(&self, client: &Client) -> Option<(&'a Resource, &'a Sidecar)> {
        let own = client.namespace.as_deref();
        let known = self.of_namespace.get(&own).into_iter().flatten();
        let perhaps = self.of_namespace.get(&None).into_iter().flatten();
        known
            .chain(perhaps)
            .copied()
            .find(|(_, sidecar)| selects(sidecar, client))
            .or(self.of_root)
    }
}

fn selects(sidecar: &Sidecar, client: &Client) -> bool {
    let labels = sidecar
        .workload_selector
        .iter()
        .filter_map(|selector| selector.value.labels.as_ref())
        .flat_map(|labels| labels.value.iter());
    client.has_labels(labels.map(|(key, value)| (&*key.value, &*value.value)))
}

/// What becomes of traffic to hosts that the proxy does not know.
#[derive(Clone, Debug)]
pub struct OutboundPolicy<'m> {
    pub mode: Traced<OutboundMode>,
    /// Where it goes instead of where it was sent.
    pub proxy: Option<&'m Spanned<Destination>>,
}

impl<'m> OutboundPolicy<'m> {
    /// A Sidecar's replaces that of the mesh as a whole; without `mode` each of them means `REGISTRY_ONLY`.
    pub fn of(sidecar: Option<&'m Sidecar>, mesh: &'m MeshConfig) -> Self {
        let own = sidecar.and_then(|sidecar| sidecar.outbound_traffic_policy.as_ref());
        let Some(policy) = own.or(mesh.outbound_traffic_policy.as_ref()) else {
            let mode = Traced::default(
                OutboundMode::AllowAny,
                "neither a Sidecar nor MeshConfig sets outboundTrafficPolicy: ALLOW_ANY",
            );
            return Self { mode, proxy: None };
        };
        let mode = match &policy.value.mode {
            Some(mode) => Traced::line(mode.value, mode.span),
            None => Traced::line(OutboundMode::default(), policy.key),
        };
        Self {
            mode,
            proxy: own.and_then(|own| own.value.egress_proxy.as_ref()),
        }
    }

    /// Whether unknown hosts are reached at all.
    pub fn allows_any(&self) -> bool {
        self.mode.value != OutboundMode::RegistryOnly
    }

    /// Whether the proxy resolves the names of requests to unknown hosts itself.
    pub fn resolves_names(&self) -> bool {
        self.mode.value == OutboundMode::AllowAnyDynamicDns
    }

    /// The cluster that traffic to unknown hosts goes to, where it is not sent on to where the client sent it.
    pub fn cluster(&self, handler: Handler) -> Option<Traced<String>> {
        if handler == Handler::Http && self.resolves_names() {
            return Some(self.mode.clone().map(|_| BY_NAME.to_owned()));
        }
        let proxy = self.proxy?;
        // Istio takes this host as it is written, and no port as 0.
        let port = proxy
            .value
            .port
            .as_ref()
            .and_then(|port| port.value.number.as_ref());
        let name = cluster_name(
            number(port.map(|port| port.value)),
            proxy.value.subset.as_ref().map_or("", |it| &it.value),
            text(&proxy.value.host),
        );
        Some(Traced::line(name, proxy.key))
    }
}

/// The cluster that resolves the `Host` of each request.
const BY_NAME: &str = "AllowAnyDynamicDNSCluster";

/// The port that an egress listener is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenerPort {
    pub number: u32,
    pub protocol: Protocol,
    pub line: Span,
}

/// One egress listener of a Sidecar, or the one that imports everything where there is no Sidecar.
#[derive(Clone, Debug, Default)]
pub struct EgressListener<'m> {
    /// Its place among those of the Sidecar.
    pub place: usize,
    pub written: Option<&'m Spanned<SidecarEgress>>,
    /// Without one it is for all ports that the others are not for.
    pub port: Option<ListenerPort>,
    imports: Imports,
}

impl<'m> EgressListener<'m> {
    /// Those of the Sidecar, or the one that holds without.
    pub fn all(
        sidecar: Option<&'m Sidecar>,
        client: Option<&str>,
        version: IstioVersion,
    ) -> Vec<Self> {
        let written = sidecar.map_or(&[][..], |sidecar| sidecar.egress.items());
        if written.is_empty() {
            return vec![Self::default()];
        }
        written
            .iter()
            .enumerate()
            .map(|(place, written)| Self {
                place,
                written: Some(written),
                port: written.value.port.as_ref().map(|port| ListenerPort {
                    number: number(port.value.number.as_ref().map(|number| number.value)),
                    protocol: Protocol::parse(text(&port.value.protocol)),
                    line: port.key,
                }),
                imports: Imports::read(written.value.hosts.items(), client, version),
            })
            .collect()
    }

    /// The port that services must have to be imported. As a proxy for HTTP it takes them all.
    pub fn required_port(&self) -> Option<u32> {
        let port = self.port?;
        (port.number != 0 && port.protocol != Protocol::HttpProxy).then_some(port.number)
    }

    /// Whether the application connects to the proxy itself, instead of being redirected to it.
    pub fn binds_to_port(&self) -> bool {
        self.written.is_some_and(|written| {
            let mode = written.value.capture_mode.as_ref();
            mode.is_some_and(|mode| mode.value == CaptureMode::None)
                || text(&written.value.bind).starts_with("unix://")
        })
    }

    /// The address that all listeners of it stand on, where it says one.
    pub fn bind(&self) -> Option<&'m str> {
        let bind = text(&self.written?.value.bind);
        match (bind, self.binds_to_port()) {
            ("", true) => Some("127.0.0.1"),
            ("", false) => None,
            (bind, _) => Some(bind),
        }
    }

    /// Whether it takes every service and VirtualService that the namespace sees.
    pub fn imports_everything(&self) -> bool {
        self.written.is_none()
    }

    /// Whether the service is imported.
    pub fn imports_service(&self, service: &Service<'_>) -> bool {
        self.imports_everything()
            || self
                .imports
                .takes(service.namespace(), service.name(), Reach::Covering)
    }

    /// Whether a service of that namespace is known under another name, too: the entries that import the service
    /// must import the name.
    pub fn imports_alias(&self, namespace: Option<&str>, host: &str, alias: &str) -> bool {
        self.imports_everything() || self.imports.takes_alias(namespace, host, alias)
    }

    /// Whether a VirtualService of that namespace is imported: for one, it is enough that a host of it and an
    /// imported one have a name in common.
    pub fn imports_virtual_service<'h>(
        &self,
        namespace: Option<&str>,
        mut hosts: impl Iterator<Item = &'h str>,
    ) -> bool {
        self.imports_everything()
            || hosts.any(|host| self.imports.takes(namespace, host, Reach::Overlapping))
    }
}

/// The `hosts` of an egress listener.
#[derive(Clone, Debug, Default)]
struct Imports {
    of_namespace: HashMap<String, HostIndex<()>>,
    /// `*/…`
    of_all: HostIndex<()>,
    /// Everything that is imported from some namespace, for hosts whose namespace is unknown.
    of_any: HostIndex<()>,
    excluded: HashMap<String, HostIndex<()>>,
    excluded_everywhere: HostIndex<()>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Covering,
    Overlapping,
}

impl Imports {
    fn read(hosts: &[Spanned<SmolStr>], client: Option<&str>, version: IstioVersion) -> Self {
        let mut out = Self::default();
        for entry in hosts {
            let Some((namespace, host)) = entry.value.split_once('/') else {
                continue;
            };
            let exclusion = namespace
                .strip_prefix('~')
                .filter(|_| version.knows_sidecar_exclusions());
            let namespace = match exclusion.unwrap_or(namespace) {
                "" if exclusion.is_some() => "*",
                namespace => namespace,
            };
            let (everywhere, of_namespace) = match exclusion {
                Some(_) => (&mut out.excluded_everywhere, &mut out.excluded),
                None => (&mut out.of_all, &mut out.of_namespace),
            };
            let own = || client.map_or_else(String::new, str::to_owned);
            match namespace {
                "*" => everywhere.insert(host, ()),
                "." => of_namespace.entry(own()).or_default().insert(host, ()),
                named => of_namespace
                    .entry(named.to_owned())
                    .or_default()
                    .insert(host, ()),
            }
            if exclusion.is_none() {
                out.of_any.insert(host, ());
            }
        }
        out
    }

    fn takes(&self, namespace: Option<&str>, host: &str, reach: Reach) -> bool {
        let named = |map: &'_ HashMap<String, HostIndex<()>>, reach| {
            let index = namespace.and_then(|namespace| map.get(namespace));
            index.is_some_and(|index| has(index, host, reach))
        };
        let taken = match namespace {
            Some(_) => named(&self.of_namespace, reach) || has(&self.of_all, host, reach),
            None => has(&self.of_any, host, reach),
        };
        taken
            && !named(&self.excluded, Reach::Covering)
            && !has(&self.excluded_everywhere, host, Reach::Covering)
    }

    fn takes_alias(&self, namespace: Option<&str>, host: &str, alias: &str) -> bool {
        let named = namespace.and_then(|namespace| self.of_namespace.get(namespace));
        let by_name = named.filter(|index| has(index, host, Reach::Covering));
        let entries = match namespace {
            Some(_) => by_name.unwrap_or(&self.of_all),
            None => &self.of_any,
        };
        has(entries, alias, Reach::Covering)
    }
}

fn has(index: &HostIndex<()>, host: &str, reach: Reach) -> bool {
    match reach {
        Reach::Covering => index.covering(host).next().is_some(),
        Reach::Overlapping => index.overlapping(host).next().is_some(),
    }
}

fn number(value: Option<i64>) -> u32 {
    value
        .and_then(|value| u32::try_from(value).ok())
        .unwrap_or(0)
}

fn text(text: &Option<Spanned<SmolStr>>) -> &str {
    text.as_ref().map_or("", |text| &text.value)
}
