//! Which virtual host of a sidecar's HTTP listener takes a request.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use foldhash::HashMap;

use super::effective::EffectiveService;
use super::host::{HostIndex, is_wildcard, of_service};
use super::http_match::Place;
use super::protocol::Protocol;
use super::proxy::Proxy;
use super::service::{Origin, Port, Resolution};
use super::sidecar::EgressListener;
use super::virtual_service::{Binding, VirtualService};
use super::visibility::Exposure;

/// The virtual hosts of one HTTP connection manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteTable {
    /// The port of the listener.
    pub port: u32,
    /// The listener is that of one service, found by sniffing: its virtual host takes everything.
    pub only: Option<String>,
}

/// What decides over a request.
#[derive(Clone, Debug)]
pub enum VirtualHost<'m> {
    /// The HTTP rules of a VirtualService, for this host of it or for a service that it covers.
    Rules {
        service: &'m VirtualService<'m>,
        host: String,
    },
    /// A service that no VirtualService is for.
    Service {
        service: EffectiveService<'m>,
        port: &'m Port<'m>,
    },
    /// What becomes of requests to unknown hosts.
    Unknown,
}

/// The services whose requests a route table sorts, by host in lower case.
#[derive(Debug, Default)]
pub struct PortServices<'m> {
    /// The port as rules see it.
    port: u32,
    by_name: HashMap<Cow<'m, str>, EffectiveService<'m>>,
    by_address: HashMap<&'m str, Cow<'m, str>>,
    patterns: OnceLock<Patterns>,
}

/// The names of the services, for the patterns of VirtualServices: found when one asks for them.
#[derive(Debug, Default)]
struct Patterns {
    /// Those that speak HTTP or may do so.
    http: HostIndex<String>,
    all: HostIndex<()>,
}

impl<'m> PortServices<'m> {
    /// Of several services of one host the last stays.
    pub(super) fn new(services: &[EffectiveService<'m>], port: u32) -> Self {
        let mut by_name = HashMap::default();
        by_name.reserve(services.len());
        for service in services {
            let name = in_lower_case(&service.base.host.name);
            by_name.insert(name, service.clone());
        }
        let mut addressed: Vec<_> = by_name
            .iter()
            .filter_map(|(name, service)| Some((name, service.base.definition.addresses.last()?)))
            .filter(|(_, address)| !address.is_any())
            .collect();
        addressed.sort_unstable_by_key(|(name, _)| *name);
        let by_address = addressed
            .into_iter()
            .map(|(name, address)| (address.text, name.clone()))
            .collect();
        Self {
            port,
            by_name,
            by_address,
            patterns: OnceLock::new(),
        }
    }

    pub fn get(&self, name: &str) -> Option<&EffectiveService<'m>> {
        self.by_name.get(name)
    }

    /// Whether the service of this name speaks HTTP or may do so.
    fn is_http(&self, name: &str) -> bool {
        let service = self.get(name);
        service.is_some_and(|service| http_port(service, self.port).is_some())
    }

    fn patterns(&self) -> &Patterns {
        self.patterns.get_or_init(|| {
            let mut names: Vec<&str> = self.by_name.keys().map(|name| &**name).collect();
            names.sort_unstable();
            let mut out = Patterns::default();
            for name in names {
                out.all.insert(name, ());
                if self.is_http(name) {
                    out.http.insert(name, name.to_owned());
                }
            }
            out
        })
    }
}

fn in_lower_case(name: &str) -> Cow<'_, str> {
    match name
        .bytes()
        .any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii())
    {
        true => Cow::Owned(name.to_lowercase()),
        false => Cow::Borrowed(name),
    }
}

/// The port of a service through which a table reaches it, where that is one for HTTP.
fn http_port<'m>(service: &EffectiveService<'m>, port: u32) -> Option<&'m Port<'m>> {
    // Asked as a proxy, Envoy knows hosts without a port, and those stand for port 80.
    let number = if port == 0 { 80 } else { port };
    service
        .port(number)
        .filter(|port| port.protocol.is_http_or_sniffed())
}

/// The port that rules see. Where the application uses the sidecar as its HTTP proxy there is none: 0.
pub(super) fn route_port(listener: &EgressListener<'_>, port: u32) -> u32 {
    let protocol = listener.port.map(|port| port.protocol);
    if protocol == Some(Protocol::HttpProxy) {
        0
    } else {
        port
    }
}

/// The search for a virtual host in one table.
struct Search<'s, 'm> {
    proxy: &'s Proxy<'m>,
    listener: &'s EgressListener<'m>,
    services: Arc<PortServices<'m>>,
    /// As rules see it.
    port: u32,
}

/// The virtual host for a request; `None` where none takes it.
pub(super) fn find<'m>(
    proxy: &Proxy<'m>,
    table: &RouteTable,
    host: &str,
) -> Option<VirtualHost<'m>> {
    let listener = proxy.scope.listener_of(table.port)?;
    let search = Search {
        proxy,
        listener,
        services: proxy.services_on(table.port),
        port: route_port(listener, table.port),
    };
    if let Some(only) = &table.only {
        // The virtual host has the name in lower case and is looked for as it is written.
        return search.of_name(only);
    }
    search
        .of_host(&host.to_lowercase())
        .or(Some(VirtualHost::Unknown))
}

impl<'m> Search<'_, 'm> {
    fn of_host(&self, host: &str) -> Option<VirtualHost<'m>> {
        self.of_domain(host).or_else(|| self.of_pattern(host))
    }

    /// The virtual host that has the name as a domain. Several may claim it.
    fn of_domain(&self, host: &str) -> Option<VirtualHost<'m>> {
        let own = self.of_name(host);
        let known = own.is_some() && self.services.get(host).is_some();
        own.into_iter()
            .chain(self.of_other_names(host, known))
            .min_by_key(|found| self.turn(found))
    }

    /// The virtual host that has this very name or pattern as a domain.
    fn of_name(&self, name: &str) -> Option<VirtualHost<'m>> {
        match self.services.get(name) {
            Some(service) => self.of_service(service),
            None => self.of_unregistered(name),
        }
    }

    /// The virtual host of a service: that of the first VirtualService that has rules for it, or its own.
    fn of_service(&self, service: &EffectiveService<'m>) -> Option<VirtualHost<'m>> {
        let port = http_port(service, self.port)?;
        let name = service.base.host.name.to_lowercase();
        // A name of a VirtualService beats a pattern, a long pattern a short one; of one pattern only the first
        // VirtualService counts, even if it has no rule for this place.
        let rules = if is_wildcard(&name) || self.all_of(&name).is_empty() {
            let first = self.most_specific(&name);
            first.filter(|service| self.has_rules(service))
        } else {
            let mut named = self.all_of(&name).into_iter();
            named.find(|service| self.has_rules(service))
        };
        if let Some(rules) = rules {
            return Some(VirtualHost::Rules {
                service: rules,
                host: name,
            });
        }
        (service.base.definition.resolution != Resolution::Alias).then(|| VirtualHost::Service {
            service: service.clone(),
            port,
        })
    }

    /// The VirtualServices for this very name, in order.
    fn all_of(&self, name: &str) -> Vec<&'m VirtualService<'m>> {
        self.imported(self.proxy.model.virtual_services.of_host(name))
    }

    /// The first VirtualService with the most specific host that covers the name.
    fn most_specific(&self, name: &str) -> Option<&'m VirtualService<'m>> {
        self.proxy
            .model
            .virtual_services
            .covering(name)
            .find_map(|group| self.imported(group).into_iter().next())
    }

    fn imported(&self, numbers: &[usize]) -> Vec<&'m VirtualService<'m>> {
        let scope = &self.proxy.scope;
        scope
            .imported_virtual_services(self.listener, numbers.iter().copied())
            .into_iter()
            .filter_map(|at| self.proxy.model.virtual_services.get(at))
            .collect()
    }

    /// The virtual host of a name that is no service here: on port 80 any VirtualService makes one, elsewhere one
    /// that is also for a service of the port.
    fn of_unregistered(&self, name: &str) -> Option<VirtualHost<'m>> {
        let numbers = self.proxy.model.virtual_services.of_host(name);
        if numbers.is_empty() || self.covers_a_service(name) {
            return None;
        }
        let mut candidates = self.imported(numbers).into_iter();
        let service = candidates.find(|service| {
            self.has_rules(service) && (self.port == 80 || self.is_for_a_service(service))
        })?;
        Some(VirtualHost::Rules {
            service,
            host: name.to_owned(),
        })
    }

    /// A pattern that covers services stands for them only.
    fn covers_a_service(&self, name: &str) -> bool {
        is_wildcard(name)
            && self
                .services
                .patterns()
                .all
                .overlapping(name)
                .next()
                .is_some()
    }

    fn is_for_a_service(&self, virtual_service: &VirtualService<'m>) -> bool {
        let hosts = &virtual_service.hosts;
        hosts.iter().any(|(host, _)| {
            let host = host.to_lowercase();
            if !is_wildcard(&host) {
                return self.services.is_http(&host);
            }
            let mut covered = self.services.patterns().http.overlapping(&host).flatten();
            covered.any(|name| {
                let first = self.most_specific(name);
                first.is_some_and(|first| std::ptr::eq(first, virtual_service))
            })
        })
    }

    fn has_rules(&self, virtual_service: &VirtualService<'m>) -> bool {
        let place = self.place();
        let mut rules = virtual_service.http();
        rules.any(|rule| rule.routes(place).next().is_some())
    }

    fn place(&self) -> Place<'_> {
        Place {
            port: self.port,
            binding: Binding::Mesh,
            client: &self.proxy.scope.client,
        }
    }

    /// The virtual hosts that a service would have under other names than its own: what it is an alias of, shorter
    /// names of Kubernetes Services, names with a dot at the end, and addresses. `known`: the name is that of a
    /// service itself, which no shortened name takes away.
    fn of_other_names(&self, host: &str, known: bool) -> impl Iterator<Item = VirtualHost<'m>> {
        let own = self.proxy.scope.client.namespace();
        let shortened = host.strip_suffix('.').map(str::to_owned);
        let shortened = shortened.into_iter().chain(kubernetes_name(host, own));
        let shortened: Vec<String> = shortened.filter(|_| !known).collect();
        let whole = std::iter::once(host.to_owned()).chain(shortened.iter().cloned());
        let aliases = &self.proxy.model.aliases;
        let concrete: Vec<String> = whole
            .filter_map(|name| {
                let concrete = aliases.concrete(&name)?.to_lowercase();
                let service = &self.services.get(&concrete)?.base;
                let host = service.name();
                let known = self
                    .listener
                    .imports_alias(service.namespace(), host, &name);
                known.then_some(concrete)
            })
            .collect();
        let address = self
            .services
            .by_address
            .get(host)
            .map(|name| name.to_string());
        shortened
            .into_iter()
            .chain(concrete)
            .chain(address)
            .filter_map(|name| self.services.get(&name))
            .filter_map(|service| self.of_service(service))
    }

    /// Its place among those that claim a name: the first VirtualService gets it, before all services without one.
    fn turn(&self, found: &VirtualHost<'_>) -> (bool, Option<(Exposure, usize)>) {
        match found {
            VirtualHost::Rules { service, .. } => {
                let all = &self.proxy.model.virtual_services;
                let exposure = all.exposure(service, self.proxy.scope.client.namespace());
                (false, exposure.map(|exposure| (exposure, service.rank)))
            }
            VirtualHost::Service { .. } | VirtualHost::Unknown => (true, None),
        }
    }

    /// The longest pattern that covers the host.
    fn of_pattern(&self, host: &str) -> Option<VirtualHost<'m>> {
        let starts = host.char_indices().map(|(at, _)| at).skip(1);
        starts
            .chain(std::iter::once(host.len()))
            .filter_map(|at| host.get(at..))
            .find_map(|suffix| {
                self.of_name(&format!("*{suffix}"))
                    .or_else(|| self.of_headless(suffix.strip_prefix('.')?))
            })
    }

    /// A pod of a headless Service.
    fn of_headless(&self, name: &str) -> Option<VirtualHost<'m>> {
        let full = kubernetes_name(name, self.proxy.scope.client.namespace());
        let services = std::iter::once(name.to_owned()).chain(full);
        services
            .filter_map(|name| self.services.get(&name))
            .filter(|service| {
                service.base.definition.origin == Origin::Kubernetes
                    && service.base.definition.resolution == Resolution::Passthrough
            })
            .find_map(|service| self.of_service(service))
    }
}

/// What a short name of a Kubernetes Service may stand for: `name`, `name.namespace`, `name.namespace.svc`.
pub(super) fn kubernetes_name(host: &str, own: Option<&str>) -> Option<String> {
    let mut parts = host.split('.');
    let name = parts.next().filter(|name| !name.is_empty())?;
    match (parts.next(), parts.next(), parts.next()) {
        (None, _, _) => Some(of_service(name, own)),
        (Some(namespace), None, _) | (Some(namespace), Some("svc"), None) => {
            Some(of_service(name, Some(namespace)))
        }
        _ => None,
    }
}
