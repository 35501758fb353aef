//! The filter chains of a port whose bytes are passed on: by server name, or by address.

use std::borrow::Cow;
use std::collections::HashSet;
use std::net::IpAddr;

use ipnet::IpNet;
use smol_str::SmolStr;

use super::{Addition, WILDCARD};
use crate::egress::filter_chain::{ChainMatch, FilterChain, Handling, Names};
use crate::egress::host::{self, other_names};
use crate::egress::l4_route::L4Route;
use crate::egress::proxy::Proxy;
use crate::egress::service::Resolution;
use crate::egress::virtual_service::{Section, VirtualService, names_mesh};
use crate::istio::Items;
use crate::istio::decode::{List, Map, Rare};
use crate::source::Spanned;

/// What a service adds to the listeners of a port where no HTTP is seen.
pub(super) struct ByteChains<'b, 's, 'm> {
    pub(super) proxy: &'b Proxy<'m>,
    pub(super) addition: &'b Addition<'s, 'm>,
}

impl<'m> ByteChains<'_, '_, 'm> {
    /// The chains for connections that come in at `bind`, or for these destinations behind it.
    pub(super) fn all(&self, bind: &str, own: Vec<IpNet>) -> Vec<FilterChain<'m>> {
        let addition = self.addition;
        let section = match addition.protocol.is_tls() {
            true => Section::Tls,
            false => Section::Tcp,
        };
        let name = addition.service.base.name();
        let virtual_services = self.proxy.model.virtual_services.overlapping(section, name);
        let scope = &self.proxy.scope;
        let found: Vec<_> = scope
            .imported_virtual_services(addition.listener, virtual_services)
            .into_iter()
            .filter_map(|at| self.proxy.model.virtual_services.get(at))
            .collect();
        match section {
            Section::Tls => self.by_tls_rules(bind, own, &found),
            Section::Tcp => self.by_tcp_rules(own, &found),
        }
    }

    /// One chain for each condition that holds for this client, of all VirtualServices. Where there is none, the
    /// service's own.
    fn by_tls_rules(
        &self,
        bind: &str,
        own: Vec<IpNet>,
        virtual_services: &[&'m VirtualService<'m>],
    ) -> Vec<FilterChain<'m>> {
        let mut chains = Vec::new();
        let mut seen = HashSet::new();
        // Istio forgets to take this back: a condition without subnets inherits those of the one before it.
        let mut subnets = own.clone();
        for service in virtual_services {
            for rule in service.spec.tls.items() {
                for condition in rule.value.matches.items() {
                    let asked = &condition.value;
                    let admitted = self.admits(&L4Condition {
                        gateways: &asked.gateways,
                        labels: &asked.source_labels,
                        port: &asked.port,
                        source_namespace: &asked.source_namespace,
                    });
                    if !admitted {
                        continue;
                    }
                    let written = asked.destination_subnets.items();
                    if !written.is_empty() && self.addition.number > 0 {
                        subnets = nets(written);
                    }
                    let names: Vec<_> = texts(asked.sni_hosts.items());
                    if seen.insert((names.clone(), texts(written))) {
                        chains.push(FilterChain {
                            when: ChainMatch {
                                sniffed_http: false,
                                server_names: names.into_iter().map(Cow::Borrowed).collect(),
                                destinations: subnets.clone().into(),
                            },
                            ends_tls: false,
                            handling: Handling::Tcp(L4Route::Rule {
                                service,
                                route: rule.value.route.items(),
                                line: rule.key,
                                port: self.addition.number,
                            }),
                            lines: self.addition.protocol_line(),
                        });
                    }
                }
            }
        }
        if chains.is_empty() {
            chains.push(self.own_chain(own, |own| self.server_names(bind, !own.is_empty())));
        }
        chains
    }

    /// Where the address does not tell services apart, the server name must.
    fn server_names(&self, bind: &str, in_range: bool) -> Names<'m> {
        let service = &self.addition.service.base;
        let definition = service.definition;
        let range = self
            .addition
            .address
            .is_some_and(|address| address.ip().is_none());
        let anywhere = self.addition.address.is_none() && bind == WILDCARD;
        let dynamic =
            host::is_wildcard(service.name()) && definition.resolution == Resolution::DynamicDns;
        if !(in_range || range || anywhere || dynamic) {
            return Names::new();
        }
        let mut names = Names::new();
        names.push(Cow::Borrowed(&service.host.name));
        for alias in self.proxy.model.aliases.of(service.name()) {
            let listener = self.addition.listener;
            if listener.imports_alias(definition.namespace(), service.name(), alias) {
                let others = other_names(alias, self.proxy.scope.client.namespace());
                names.push(Cow::Borrowed(alias));
                names.extend(others.into_iter().map(Cow::Owned));
            }
        }
        names
    }

    /// The chains up to the first condition that asks for no destination, of all VirtualServices in order; without
    /// one, the service's own behind them.
    fn by_tcp_rules(
        &self,
        own: Vec<IpNet>,
        virtual_services: &[&'m VirtualService<'m>],
    ) -> Vec<FilterChain<'m>> {
        let mut chains = Vec::new();
        let mut own_is_taken = false;
        for service in virtual_services {
            for rule in service.spec.tcp.items() {
                let chain = |destinations| FilterChain {
                    when: ChainMatch {
                        destinations,
                        ..ChainMatch::default()
                    },
                    ends_tls: false,
                    handling: Handling::Tcp(L4Route::Rule {
                        service,
                        route: rule.value.route.items(),
                        line: rule.key,
                        port: self.addition.number,
                    }),
                    lines: self.addition.protocol_line(),
                };
                let conditions = rule.value.matches.items();
                if conditions.is_empty() {
                    chains.push(chain(own.into()));
                    return chains;
                }
                let mut subnets = Vec::new();
                for condition in conditions {
                    let asked = &condition.value;
                    let admitted = self.admits(&L4Condition {
                        gateways: &asked.gateways,
                        labels: &asked.source_labels,
                        port: &asked.port,
                        source_namespace: &asked.source_namespace,
                    });
                    if !admitted {
                        continue;
                    }
                    let written = asked.destination_subnets.items();
                    if written.is_empty() || self.addition.number == 0 {
                        chains.push(chain(own.into()));
                        return chains;
                    }
                    subnets.extend(nets(written));
                }
                if !subnets.is_empty() {
                    own_is_taken |= same_nets(&subnets, &own);
                    chains.push(chain(subnets.into()));
                }
            }
        }
        if !own_is_taken {
            chains.push(self.own_chain(own, |_| Names::new()));
        }
        chains
    }

    fn own_chain(
        &self,
        destinations: Vec<IpNet>,
        names: impl FnOnce(&[IpNet]) -> Names<'m>,
    ) -> FilterChain<'m> {
        let service = self.addition.service;
        // A service with one port is reached through it, whatever the port of the egress listener.
        let mut ports = service.ports();
        let port = match (ports.next(), ports.next()) {
            (Some(only), None) => Some(only),
            _ => self.addition.port,
        };
        let host = service.base.host;
        FilterChain {
            when: ChainMatch {
                sniffed_http: false,
                server_names: names(&destinations),
                destinations: destinations.into(),
            },
            ends_tls: false,
            handling: Handling::Tcp(L4Route::Service {
                host: &host.name,
                port: port.map_or(self.addition.number, |port| port.number),
                lines: [host.line, port.map_or(host.line, |port| port.number_line)],
            }),
            lines: self.addition.protocol_line(),
        }
    }

    fn admits(&self, condition: &L4Condition<'_>) -> bool {
        let client = &self.proxy.scope.client;
        let mesh = names_mesh(condition.gateways.items());
        let labels = condition
            .labels
            .iter()
            .flat_map(|labels| labels.value.iter());
        let port = condition.port.as_ref().map_or(0, |port| port.value);
        let namespace = condition.source_namespace.as_ref();
        mesh && client.has_labels(labels.map(|(key, value)| (&*key.value, &*value.value)))
            && (port == 0 || port == i64::from(self.addition.number))
            && namespace.is_none_or(|wanted| {
                wanted.value.is_empty()
                    || client
                        .namespace
                        .as_ref()
                        .is_none_or(|own| *own == wanted.value)
            })
    }
}

/// What a `match` of a `tls` or `tcp` rule asks for, as far as the proxy's configuration answers it.
struct L4Condition<'c> {
    gateways: &'c Rare<List<SmolStr>>,
    labels: &'c Rare<Map<SmolStr>>,
    port: &'c Rare<i64>,
    source_namespace: &'c Rare<SmolStr>,
}

fn texts(list: &[Spanned<SmolStr>]) -> Vec<&str> {
    list.iter().map(|text| text.value.as_str()).collect()
}

/// The subnets that are ones.
pub(super) fn nets(list: &[Spanned<SmolStr>]) -> Vec<IpNet> {
    list.iter()
        .filter_map(|text| {
            let single = text.value.parse::<IpAddr>().map(IpNet::from);
            single.ok().or_else(|| text.value.parse().ok())
        })
        .collect()
}

fn same_nets(one: &[IpNet], other: &[IpNet]) -> bool {
    let sorted = |nets: &[IpNet]| {
        let mut nets = nets.to_vec();
        nets.sort_unstable();
        nets
    };
    sorted(one) == sorted(other)
}
