//! Every external destination of the files, as each of the proxies that may have it differently has it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::client::{Client, ProxyKind};
use super::cluster::ClusterName;
use super::effective::EffectiveService;
use super::facts::ClusterFacts;
use super::gateway::selector;
use super::host::HostIndex;
use super::model::Model;
use super::proxy::Proxy;
use super::service::{Definition, Origin, Port};
use super::virtual_service::{Binding, VirtualService};

/// How many clients are looked at for each reason that one line can give to many hosts. Real trees have few.
const CLIENTS: usize = 16;
/// Workloads that are looked at for one host because a rule selects them.
const SELECTED: usize = 64;
/// Clusters of subsets that are looked at for one host in one proxy.
const OF_SUBSETS: usize = 256;

/// A cluster of a host that a ServiceEntry defines, in one of the proxies that have it.
#[derive(Clone, Debug)]
pub struct Destination<'m> {
    pub proxy: Rc<Proxy<'m>>,
    pub service: Rc<EffectiveService<'m>>,
    pub port: &'m Port<'m>,
    /// Empty for the whole service.
    pub subset: &'m str,
    pub facts: ClusterFacts,
}

impl Destination<'_> {
    pub fn client(&self) -> &Client {
        &self.proxy.scope.client
    }

    pub fn cluster_name(&self) -> ClusterName<'_> {
        ClusterName {
            port: self.port.number,
            subset: self.subset,
            host: self.service.name(),
        }
    }
}

/// Finds the destinations of a model. Computes nothing that it is not asked for, and each proxy once.
#[derive(Debug)]
pub struct Inventory<'m> {
    model: &'m Model<'m>,
    proxies: RefCell<HashMap<Client, Rc<Proxy<'m>>>>,
    routes: HostIndex<&'m VirtualService<'m>>,
    /// Kubernetes Services by the first label of their selector.
    selecting: HashMap<(&'m str, &'m str), Vec<&'m Definition<'m>>>,
}

impl<'m> Inventory<'m> {
    pub fn new(model: &'m Model<'m>) -> Self {
        let mut routes = HostIndex::default();
        for service in model.virtual_services.iter() {
            for (host, _) in &service.hosts {
                routes.insert(host, service);
            }
        }
        let mut selecting: HashMap<_, Vec<_>> = HashMap::new();
        for definition in model.registry.definitions() {
            let labels = definition.selector.as_deref().unwrap_or_default();
            if let (Origin::Kubernetes, Some(label)) = (definition.origin, labels.first()) {
                selecting.entry(*label).or_default().push(definition);
            }
        }
        Self {
            model,
            proxies: RefCell::default(),
            routes,
            selecting,
        }
    }

    /// The hosts that ServiceEntries define, each once, in Istio's order.
    pub fn hosts(&self) -> Vec<&'m str> {
        let mut known = BTreeSet::new();
        let services = self.model.registry.services();
        let entries = services.filter(|service| service.origin == Origin::ServiceEntry);
        entries
            .map(|service| &*service.host.name)
            .filter(|host| known.insert(*host))
            .collect()
    }

    /// All destinations, host by host.
    pub fn destinations(self) -> impl Iterator<Item = Destination<'m>> + use<'m> {
        let hosts = self.hosts();
        hosts.into_iter().flat_map(move |host| self.of_host(host))
    }

    /// The destinations of one host.
    pub fn of_host(&self, host: &str) -> Vec<Destination<'m>> {
        let mut found = Vec::new();
        for client in self.clients(host) {
            let proxy = self.proxy(client);
            let Some(service) = proxy.scope.service(host) else {
                continue;
            };
            let rule = self.model.rules.of(&proxy.scope.client, &service.base);
            let subsets = rule.iter().flat_map(|rule| rule.subset_names());
            let subsets: BTreeSet<&'m str> = subsets.take(OF_SUBSETS).collect();
            let ports = service.ports.iter().copied();
            let whole = ports.clone().map(|port| (port, ""));
            let parts = ports.flat_map(|port| subsets.iter().map(move |subset| (port, *subset)));
            for (port, subset) in whole.chain(parts.take(OF_SUBSETS)) {
                if let Some(facts) = proxy.cluster_of(&service, port.number, subset) {
                    found.push(Destination {
                        proxy: Rc::clone(&proxy),
                        service: Rc::clone(&service),
                        port,
                        subset,
                        facts,
                    });
                }
            }
        }
        found
    }

    /// The clients that may have a host differently: those of the namespaces that define it, get it, or say
    /// something about it, and the gateways through which it is routed.
    pub fn clients(&self, host: &str) -> BTreeSet<Client> {
        let mut clients = BTreeSet::new();
        for service in self.model.registry.of_host(host) {
            clients.insert(Client::sidecar(service.namespace()));
            let named = service.definition.export_to.iter();
            let named = named.filter(|entry| !matches!(&***entry, "." | "*" | "~"));
            clients.extend(
                named
                    .take(CLIENTS)
                    .map(|entry| Client::sidecar(Some(entry))),
            );
        }
        let mut selected = 0;
        let mut by_wildcard = 0;
        let mut looks = move |exact: bool| {
            by_wildcard += usize::from(!exact);
            by_wildcard <= CLIENTS
        };
        for (rule, exact) in self.model.rules.covering(host) {
            if !looks(exact) {
                break;
            }
            clients.insert(Client::sidecar(rule.namespace()));
            if selected < SELECTED {
                let client = rule.selected_client();
                selected += usize::from(client.is_some());
                clients.extend(client);
            }
        }
        for routes in self.routes_for(host) {
            for binding in routes.bindings.iter().take(CLIENTS) {
                clients.extend(self.bound(routes, binding));
            }
        }
        clients
    }

    /// The VirtualServices of the very host, and some of those that have a name in common with it.
    fn routes_for(&self, host: &str) -> Vec<&'m VirtualService<'m>> {
        let exact = self.routes.same(host).iter();
        let others = self.routes.overlapping(host).flatten();
        exact.chain(others.take(CLIENTS)).copied().collect()
    }

    /// The clients that a VirtualService is for.
    fn bound(&self, routes: &VirtualService<'_>, binding: &Binding<'_>) -> Vec<Client> {
        let Binding::Gateway { namespace, name } = binding else {
            return vec![Client::sidecar(routes.namespace())];
        };
        let router = |namespace: Option<&str>, labels| Client {
            namespace: namespace.map(str::to_owned),
            labels,
            proxy: ProxyKind::Gateway,
        };
        let found = self.model.gateways.named(*namespace, name);
        let labels: BTreeMap<String, String> = found
            .iter()
            .flat_map(|(_, gateway)| selector(gateway))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        // Its pods stand where a Service selects them.
        let services = labels
            .iter()
            .filter_map(|(key, value)| self.selecting.get(&(key.as_str(), value.as_str())))
            .flatten()
            .filter(|service| {
                let mut wanted = service.selector.iter().flatten();
                wanted.all(|(key, value)| labels.get(*key).is_some_and(|own| own == value))
            });
        let mut routers: Vec<_> = services
            .take(CLIENTS)
            .map(|service| router(service.namespace(), labels.clone()))
            .collect();
        if routers.is_empty() {
            routers.push(router(*namespace, labels));
        }
        routers
    }

    fn proxy(&self, client: Client) -> Rc<Proxy<'m>> {
        let mut proxies = self.proxies.borrow_mut();
        let new = |client: &Client| Rc::new(Proxy::new(self.model, client));
        Rc::clone(proxies.entry(client).or_insert_with_key(new))
    }
}

impl<'a> Model<'a> {
    /// Every external destination of the files, as each of the proxies that may have it differently has it.
    pub fn destinations(&self) -> impl Iterator<Item = Destination<'_>> {
        Inventory::new(self).destinations()
    }
}
