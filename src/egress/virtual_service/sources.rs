//! The clients that the conditions of a VirtualService ask for.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use super::{Binding, VirtualService};
use crate::egress::client::Client;
use crate::istio::Rare;
use crate::istio::decode::{Items, Map};

/// So many of them are named; more are of no other kind.
const SOURCES: usize = 4;

/// So many conditions are asked.
const CONDITIONS: usize = 256;

impl VirtualService<'_> {
    /// The clients with a sidecar that its conditions ask for, by `sourceNamespace` or `sourceLabels`: some of them.
    pub fn sources(&self) -> BTreeSet<Client> {
        let mut found = BTreeSet::new();
        if !self.bindings.contains(&Binding::Mesh) {
            return found;
        }
        let http = self.http().flat_map(|rule| rule.matches());
        let http = http.filter_map(|condition| {
            let labels = condition.halves().map(|half| &half.written.source_labels);
            let namespace = condition.source_namespace().map(|it| &it.value);
            self.source(namespace, labels)
        });
        let tls = self.spec.tls.items().iter();
        let tls = tls.flat_map(|rule| rule.value.matches.items());
        let tls = tls.map(|it| (&it.source_namespace, &it.source_labels));
        let tcp = self.spec.tcp.items().iter();
        let tcp = tcp.flat_map(|rule| rule.value.matches.items());
        let tcp = tcp.map(|it| (&it.source_namespace, &it.source_labels));
        let bytes = tls.chain(tcp).filter_map(|(namespace, labels)| {
            let namespace = namespace.as_ref().map(|it| &it.value);
            self.source(namespace, [labels])
        });
        for client in http.take(CONDITIONS).chain(bytes.take(CONDITIONS)) {
            if found.len() < SOURCES {
                found.insert(client);
            }
        }
        found
    }

    /// `None` for a condition that asks for nobody in particular.
    fn source<'w>(
        &self,
        namespace: Option<&SmolStr>,
        labels: impl IntoIterator<Item = &'w Rare<Map<SmolStr>>>,
    ) -> Option<Client> {
        let labels = labels.into_iter().flatten();
        let labels = labels.flat_map(|labels| labels.value.iter());
        let labels: BTreeMap<String, String> = labels
            .map(|(key, value)| (key.value.to_string(), value.value.to_string()))
            .collect();
        let namespace = namespace.filter(|namespace| !namespace.is_empty());
        let named = namespace.map(|namespace| Client::sidecar(Some(namespace)));
        (named.is_some() || !labels.is_empty()).then(|| Client {
            labels,
            ..named.unwrap_or_else(|| self.client())
        })
    }
}
