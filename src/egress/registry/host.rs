//! The services of one host.

use smallvec::SmallVec;

use super::Registry;
use crate::egress::service::Service;

/// Their ranks in Istio's order.
#[derive(Debug, Default)]
pub(super) struct OfHost {
    pub(super) ranks: SmallVec<[u32; 2]>,
    /// The same, by namespace.
    pub(super) by_namespace: SmallVec<[u32; 2]>,
}

/// The same, to be asked.
#[derive(Clone, Copy, Debug)]
pub(in crate::egress) struct OneHost<'m> {
    pub(super) registry: &'m Registry<'m>,
    pub(super) of_host: &'m OfHost,
}

impl<'m> OneHost<'m> {
    /// In Istio's order.
    pub(in crate::egress) fn services(self) -> impl Iterator<Item = Service<'m>> {
        let ranks = self.of_host.ranks.iter();
        ranks.filter_map(move |&rank| self.registry.at(rank))
    }

    /// The service, where there is but one.
    pub(in crate::egress) fn only(self) -> Option<Service<'m>> {
        match self.of_host.ranks.as_slice() {
            [only] => self.registry.at(*only),
            _ => None,
        }
    }

    /// Those of one namespace, in Istio's order.
    pub(in crate::egress) fn services_in(
        self,
        namespace: Option<&str>,
    ) -> impl Iterator<Item = Service<'m>> + use<'_, 'm> {
        let ranks = &self.of_host.by_namespace;
        let is_before = |&rank: &u32| {
            let service = self.registry.at(rank);
            service.is_some_and(|service| service.namespace() < namespace)
        };
        let (_, from) = ranks.split_at(ranks.partition_point(is_before));
        from.iter()
            .filter_map(move |&rank| self.registry.at(rank))
            .take_while(move |service| service.namespace() == namespace)
    }
}
