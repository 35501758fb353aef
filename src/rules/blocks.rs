//! The blocks that resources hold, found by the lines that the model names as reasons.

use foldhash::{HashMap, HashSet};

use super::context::{existing, policies};
use crate::istio::decode::{Items, Rare};
use crate::istio::resource::Spec;
use crate::istio::route::VirtualService;
use crate::istio::traffic::{
    ClientTls, ConnectionPool, DestinationRule, OutlierDetection, PortTrafficPolicy, TrafficPolicy,
};
use crate::source::{Span, Spanned};
use crate::world::World;

#[derive(Debug, Default)]
pub(super) struct Blocks<'a> {
    /// By their keys.
    pub(super) outlier: HashMap<Span, &'a Spanned<OutlierDetection>>,
    /// By their keys and their `attempts`.
    pub(super) retries: HashMap<Span, Span>,
    /// By their modes.
    pub(super) tls: HashMap<Span, &'a ClientTls>,
    /// The names of Secrets in them, and their keys.
    pub(super) credential_names: HashSet<Span>,
    /// The entries of `portLevelSettings` by their numbers.
    pub(super) ports: HashMap<Span, &'a Spanned<PortTrafficPolicy>>,
    /// By their keys, those beside `portLevelSettings`.
    pub(super) pools: HashMap<Span, &'a ConnectionPool>,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(world: &'a World<'a>) -> Self {
        let mut blocks = Self::default();
        for resource in existing(world) {
            match &resource.spec {
                Spec::DestinationRule(rule) => blocks.of_rule(rule),
                Spec::VirtualService(service) => blocks.of_routes(service),
                _ => {}
            }
        }
        blocks
    }

    fn of_rule(&mut self, rule: &'a DestinationRule) {
        for policy in policies(rule) {
            self.outlier.extend(keyed(&policy.outlier_detection));
            self.tls(policy.tls.as_deref());
            let entries = policy.port_level_settings.items();
            for entry in entries {
                self.outlier.extend(keyed(&entry.outlier_detection));
                self.tls(entry.tls.as_deref());
                let port = entry.port.as_ref();
                let number = port.and_then(|port| port.value.number.as_ref());
                self.ports.extend(number.map(|number| (number.span, entry)));
            }
            if !entries.is_empty() {
                self.pool(policy);
            }
        }
    }

    fn tls(&mut self, block: Option<&'a Spanned<ClientTls>>) {
        let Some(block) = block.map(|block| &block.value) else {
            return;
        };
        let mode = block.mode.as_ref();
        self.tls.extend(mode.map(|mode| (mode.span, block)));
        let name = block.credential_name.iter();
        self.credential_names
            .extend(name.flat_map(|name| [name.span, name.key]));
    }

    fn pool(&mut self, policy: &'a TrafficPolicy) {
        let pool = policy.connection_pool.as_ref();
        self.pools.extend(pool.map(|pool| (pool.key, &pool.value)));
    }

    fn of_routes(&mut self, service: &VirtualService) {
        let rules = service.http.items().iter();
        for retries in rules.filter_map(|rule| rule.retries.as_ref()) {
            self.retries.insert(retries.key, retries.span);
            if let Some(attempts) = &retries.attempts {
                self.retries.insert(attempts.span, retries.span);
            }
        }
    }
}

fn keyed<T>(block: &Rare<T>) -> Option<(Span, &Spanned<T>)> {
    block.as_deref().map(|block| (block.key, block))
}
