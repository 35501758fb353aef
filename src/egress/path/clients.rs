//! The clients from whose sidecars a host is looked at.

use std::collections::BTreeSet;

use crate::egress::client::Client;
use crate::egress::host::{HostIndex, service_of};
use crate::egress::model::Model;
use crate::egress::path::Question;
use crate::egress::service::{Definition, Origin};
use crate::egress::virtual_service::{Binding, VirtualService};

/// From more namespaces than this a host is not looked at.
const CLIENTS: usize = 16;

/// So many rules of a host are asked for the clients they are for.
const LOOKED_AT: usize = 256;

/// So many namespaces are remembered for each host of a VirtualService.
const BEHIND: usize = 4;

/// Who is looked at as a client of a host.
pub(super) struct Clients<'m> {
    /// By the host, the place among these of its VirtualService's clients.
    routes: HostIndex<usize>,
    of_routes: Vec<OfRoutes>,
    /// The namespaces of the gateways through which hosts are reached.
    gateways: HostIndex<String>,
    pub(super) model: &'m Model<'m>,
}

/// The clients of one VirtualService.
struct OfRoutes {
    /// Those of its namespace.
    own: Client,
    /// Those that its conditions ask for.
    sources: BTreeSet<Client>,
}

impl<'m> Clients<'m> {
    pub(super) fn new(model: &'m Model<'m>) -> Self {
        let (mut routes, mut gateways) = (HostIndex::default(), HostIndex::default());
        let mut at_gateways = HostIndex::default();
        let for_gateways = |it: &&VirtualService<'_>| it.bindings != [Binding::Mesh];
        for service in model.virtual_services.iter().filter(for_gateways) {
            for (host, _) in &service.hosts {
                at_gateways.insert(host, ());
            }
        }
        let mut of_routes = Vec::new();
        for service in model.virtual_services.iter() {
            let behind = namespaces_behind(service);
            let at = of_routes.len();
            of_routes.push(OfRoutes {
                own: service.client(),
                sources: service.sources(),
            });
            for (host, _) in &service.hosts {
                routes.insert(host, at);
                let goes_on = !behind.is_empty() && at_gateways.overlapping(host).next().is_some();
                for namespace in behind.iter().filter(|_| goes_on) {
                    gateways.insert(host, namespace.clone());
                }
            }
        }
        Self {
            routes,
            of_routes,
            gateways,
            model,
        }
    }

    /// The clients of a host: those of the namespace that defines it, of those that have a rule for it, and those that
    /// a rule asks for.
    pub(super) fn of(&self, definition: &Definition<'_>, host: &str) -> BTreeSet<Client> {
        let mut found = BTreeSet::from([definition.client()]);
        let rules = self.model.rules.covering(host).take(LOOKED_AT);
        // A rule for everything is for no host in particular.
        let rules = rules.filter(|(rule, _)| rule.host != "*");
        let of_rules = rules.map(|(rule, _)| rule.client());
        // Beside the gateway a rule is for the gateway: nothing else there need be a client.
        let gateways = self.gateways.overlapping(host).flatten().take(LOOKED_AT);
        let gateways: BTreeSet<_> = gateways.map(String::as_str).collect();
        let of_rules = of_rules.filter(|client| {
            let namespace = client.namespace();
            namespace.is_none_or(|namespace| !gateways.contains(namespace))
        });
        let routes = self.routes.overlapping(host).flatten().take(LOOKED_AT);
        let routes: Vec<_> = routes.filter_map(|&at| self.of_routes.get(at)).collect();
        let own = routes.iter().map(|routes| routes.own.clone());
        let sources = routes.iter().flat_map(|routes| routes.sources.iter());
        for client in of_rules.chain(own).chain(sources.cloned()) {
            // An unknown namespace may be that of the definition: it is no other client.
            let known = client.namespace().is_some() && definition.namespace().is_some();
            if found.len() < CLIENTS
                && (known || !client.labels.is_empty())
                && self.sees(&client, definition, host)
            {
                found.insert(client);
            }
        }
        found
    }

    fn sees(&self, client: &Client, definition: &Definition<'_>, host: &str) -> bool {
        let registry = &self.model.registry;
        let mut services = registry.of_host_in(host, definition.namespace());
        services.any(|service| registry.exposure(&service, client.namespace()).is_some())
    }

    /// Who asks for a destination that no file defines: of a host that is defined, though not on this port, its clients.
    pub(super) fn askers(&self, question: &Question) -> BTreeSet<Client> {
        if let Some(client) = &question.client {
            return BTreeSet::from([client.clone()]);
        }
        let definitions = self.model.registry.definitions().iter();
        let entries = definitions.filter(|it| it.origin == Origin::ServiceEntry);
        let mut found: BTreeSet<Client> = entries
            .filter_map(|entry| {
                let hosts = entry.hosts.iter().take(LOOKED_AT);
                let host = hosts
                    .map(|host| &*host.name)
                    .find(|it| question.wants_host(it))?;
                Some(self.of(entry, host))
            })
            .flatten()
            .take(CLIENTS)
            .collect();
        if found.is_empty() {
            found.insert(Client::default());
        }
        found
    }
}

/// The namespaces of the Services that a VirtualService leads sidecars to.
fn namespaces_behind(service: &VirtualService<'_>) -> Vec<String> {
    if !service.bindings.contains(&Binding::Mesh) {
        return Vec::new();
    }
    let destinations = service.destinations();
    let hosts = destinations.iter().take(LOOKED_AT);
    let namespaces = hosts.filter_map(|(host, _)| Some(service_of(host)?.1));
    let namespaces: BTreeSet<&str> = namespaces.collect();
    namespaces
        .into_iter()
        .take(BEHIND)
        .map(str::to_owned)
        .collect()
}
