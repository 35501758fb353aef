//! The clients from whose sidecars a host is looked at.

use std::collections::BTreeSet;

use crate::egress::client::Client;
use crate::egress::host::HostIndex;
use crate::egress::model::Model;
use crate::egress::path::Question;
use crate::egress::service::{Definition, Origin};

/// From more namespaces than this a host is not looked at.
const CLIENTS: usize = 16;

/// So many rules of a host are asked for the clients they are for.
const LOOKED_AT: usize = 256;

/// Who is looked at as a client of a host.
pub(super) struct Clients<'m> {
    routes: HostIndex<Client>,
    model: &'m Model<'m>,
}

impl<'m> Clients<'m> {
    pub(super) fn new(model: &'m Model<'m>) -> Self {
        let mut routes = HostIndex::default();
        for service in model.virtual_services.iter() {
            for (host, _) in &service.hosts {
                routes.insert(host, Client::sidecar(service.namespace()));
            }
        }
        Self { routes, model }
    }

    /// The clients of a host: those of the namespace that defines it, of those that have a rule for it.
    pub(super) fn of(&self, definition: &Definition<'_>, host: &str) -> BTreeSet<Client> {
        let mut found = BTreeSet::from([Client::sidecar(definition.namespace())]);
        let rules = self.model.rules.covering(host).take(LOOKED_AT);
        // A rule for everything is for no host in particular.
        let rules = rules.filter(|(rule, _)| rule.host != "*");
        let of_rules = rules.map(|(rule, _)| {
            let selected = rule.selected_client();
            selected.unwrap_or_else(|| Client::sidecar(rule.namespace()))
        });
        let routes = self.routes.overlapping(host).flatten().take(LOOKED_AT);
        for client in of_rules.chain(routes.cloned()) {
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
}

/// Who asks for a destination that no file defines: of a host that is defined, though not on this port, its clients.
pub(super) fn askers(model: &Model<'_>, question: &Question) -> BTreeSet<Client> {
    if let Some(client) = &question.client {
        return BTreeSet::from([client.clone()]);
    }
    let clients = Clients::new(model);
    let definitions = model.registry.definitions().iter();
    let entries = definitions.filter(|it| it.origin == Origin::ServiceEntry);
    let mut found: BTreeSet<Client> = entries
        .filter_map(|entry| {
            let hosts = entry.hosts.iter().take(LOOKED_AT);
            let host = hosts
                .map(|host| &*host.name)
                .find(|it| question.wants_host(it))?;
            Some(clients.of(entry, host))
        })
        .flatten()
        .take(CLIENTS)
        .collect();
    if found.is_empty() {
        found.insert(Client::default());
    }
    found
}
