//! The VirtualServices that only act through others.

use std::collections::BTreeMap;

use crate::istio::decode::Items;
use crate::istio::resource::Resource;
use crate::istio::route as api;

/// The VirtualServices that others can delegate to, by name and namespace.
pub(super) struct Delegates<'a>(
    BTreeMap<(&'a str, Option<&'a str>), (&'a Resource, &'a api::VirtualService)>,
);

impl<'a> Delegates<'a> {
    pub(super) fn of(specs: &[(&'a Resource, &'a api::VirtualService)]) -> Self {
        let mut by_name = BTreeMap::new();
        for &(resource, spec) in specs {
            if spec.hosts.items().is_empty() {
                by_name
                    .entry((resource.name(), resource.namespace()))
                    .or_insert((resource, spec));
            }
        }
        Self(by_name)
    }

    /// The one of that name in the namespace, or where one of the two is unknown.
    pub(super) fn find(
        &self,
        name: &'a str,
        namespace: Option<&'a str>,
    ) -> Option<(&'a Resource, &'a api::VirtualService)> {
        let known = self.0.get(&(name, namespace));
        let perhaps = || match namespace {
            Some(_) => self.0.get(&(name, None)),
            None => {
                let mut of_name = self.0.range((name, None)..);
                of_name
                    .next()
                    .filter(|((found, _), _)| *found == name)
                    .map(|(_, found)| found)
            }
        };
        known.or_else(perhaps).copied()
    }
}
