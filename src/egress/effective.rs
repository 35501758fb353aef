//! The one service that a client sees under a host, made of all that define it.

use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::HashSet;

use super::namespace::{Same, same};
use super::service::{Origin, Port, Service};

/// A service as one client sees it. A copy shares what it holds.
#[derive(Clone, Debug)]
pub struct EffectiveService<'m> {
    /// The definition that decides resolution, addresses, endpoints and all else but the ports.
    pub base: Service<'m>,
    /// Its ports, those of the base first; `None` where it has all of the base and no others.
    chosen: Option<Arc<[&'m Port<'m>]>>,
}

impl<'m> std::ops::Deref for EffectiveService<'m> {
    type Target = Service<'m>;

    fn deref(&self) -> &Self::Target {
        &self.base
    }
}

impl<'m> EffectiveService<'m> {
    /// With all of its ports.
    pub fn of(service: Service<'m>) -> Self {
        Self {
            base: service,
            chosen: None,
        }
    }

    /// With some of its ports.
    pub(super) fn trimmed(service: Service<'m>, ports: Vec<&'m Port<'m>>) -> Self {
        Self {
            base: service,
            chosen: Some(ports.into()),
        }
    }

    /// Its ports, those of the base first.
    pub fn ports(&self) -> impl Iterator<Item = &'m Port<'m>> + use<'_, 'm> {
        let all = self.chosen.is_none().then_some(&self.base.definition.ports);
        let chosen = self.chosen.as_deref().into_iter().flatten().copied();
        all.into_iter().flatten().chain(chosen)
    }

    /// The first port of that number.
    pub fn port(&self, number: u32) -> Option<&'m Port<'m>> {
        self.ports().find(|port| port.number == number)
    }

    /// Takes in further services of the same host, in their order: a Kubernetes Service wins, else the first;
    /// others only add their ports, and only where everything else is the same.
    pub fn take(&mut self, others: impl IntoIterator<Item = EffectiveService<'m>>) {
        let mut others = others.into_iter().peekable();
        if others.peek().is_none() {
            return;
        }
        let mut numbers: HashSet<u32> = self.ports().map(|port| port.number).collect();
        for other in others {
            match (self.base.origin, other.base.origin) {
                (Origin::ServiceEntry, Origin::Kubernetes) => {
                    *self = other;
                    numbers = self.ports().map(|port| port.number).collect();
                }
                (Origin::ServiceEntry, Origin::ServiceEntry)
                    if mergeable(&self.base, &other.base) =>
                {
                    let mut ports: Vec<_> = self.ports().collect();
                    ports.extend(other.ports().filter(|port| numbers.insert(port.number)));
                    self.chosen = Some(ports.into());
                }
                _ => {}
            }
        }
    }
}

fn mergeable(a: &Service<'_>, b: &Service<'_>) -> bool {
    a.namespace() == b.namespace()
        && a.resolution == b.resolution
        && a.has_labels_of(b)
        && a.selector.as_deref().unwrap_or_default() == b.selector.as_deref().unwrap_or_default()
        && (a.export_to == b.export_to || as_set(a) == as_set(b))
}

fn as_set<'s>(service: &'s Service<'_>) -> BTreeSet<&'s str> {
    service
        .definition
        .export_to
        .iter()
        .map(|entry| &**entry)
        .collect()
}

/// Of services of one host that a client sees, in its order, those of the one namespace that it will use:
/// its own, else that of the first Kubernetes Service, else that of the first.
pub fn of_one_namespace<'m>(
    visible: Vec<EffectiveService<'m>>,
    client: Option<&str>,
) -> Vec<EffectiveService<'m>> {
    let preferred = |wanted: Same| {
        visible
            .iter()
            .find(|s| same(s.base.namespace(), client) == wanted)
    };
    let chosen = preferred(Same::Yes)
        .or_else(|| preferred(Same::Perhaps))
        .or_else(|| visible.iter().find(|s| s.base.origin == Origin::Kubernetes))
        .or_else(|| visible.first())
        .map(|s| s.base.namespace());
    let Some(chosen) = chosen else { return visible };
    visible
        .into_iter()
        .filter(|s| s.base.namespace() == chosen)
        .collect()
}
