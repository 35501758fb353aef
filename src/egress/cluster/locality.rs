//! Locality load balancing: which setting holds, and how it orders the endpoints of a cluster.
//!
//! The proxy's own locality is unknown, which Istio treats as an empty one.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use crate::egress::client::Client;
use crate::egress::endpoint::{Instance, in_locality, locality_parts};
use crate::egress::mesh::Mesh;
use crate::egress::policy::Policy;
use crate::egress::service::Definition;
use crate::istio::decode::Items;
use crate::istio::traffic::{Distribute, Failover};
use crate::source::Spanned;

/// The setting that holds for a cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct Setting<'m> {
    distribute: &'m [Spanned<Distribute>],
    failover: &'m [Spanned<Failover>],
    priorities: Vec<&'m str>,
    /// Endpoints are ordered even where no outlier detection finds the dead ones.
    forced: bool,
    zone_aware: bool,
}

/// The endpoints of one locality and priority.
#[derive(Clone, Debug)]
pub(super) struct Group<'m> {
    pub(super) locality: String,
    pub(super) priority: u32,
    pub(super) instances: Vec<Instance<'m>>,
}

impl<'m> Setting<'m> {
    /// The rule's, else what the service asks for, else the mesh's; `None`: switched off.
    pub(super) fn of(
        policy: &Policy<'m>,
        service: &Definition<'m>,
        mesh: &Mesh<'m>,
    ) -> Option<Self> {
        let balancer = policy.load_balancer.map(|block| &block.value);
        let zone_aware = |setting: &'m crate::istio::traffic::ZoneAwareLbSetting| {
            let enabled = setting.enabled.as_ref().is_none_or(|enabled| enabled.value);
            enabled.then(|| Self {
                failover: setting.failover.items(),
                priorities: texts(setting.failover_priority.items()),
                forced: true,
                zone_aware: true,
                ..Self::default()
            })
        };
        let locality = |setting: &'m crate::istio::traffic::LocalityLbSetting| {
            let enabled = setting.enabled.as_ref().is_none_or(|enabled| enabled.value);
            enabled.then(|| Self {
                distribute: setting.distribute.items(),
                failover: setting.failover.items(),
                priorities: texts(setting.failover_priority.items()),
                ..Self::default()
            })
        };
        let ruled = balancer.filter(|_| mesh.version.knows_zone_aware_lb());
        if let Some(setting) = ruled.and_then(|balancer| balancer.zone_aware_lb_setting.as_ref()) {
            return zone_aware(&setting.value);
        }
        if let Some(setting) = balancer.and_then(|balancer| balancer.locality_lb_setting.as_ref()) {
            return locality(&setting.value);
        }
        if let Some((distribution, _)) = service.traffic_distribution {
            return Some(Self {
                priorities: distribution.priorities().to_vec(),
                forced: true,
                ..Self::default()
            });
        }
        match (mesh.zone_aware_lb(), mesh.locality_lb()) {
            (Some(setting), _) => zone_aware(setting),
            (None, Some(setting)) => locality(setting),
            (None, None) => Some(Self::default()),
        }
    }

    /// Whether Envoy weighs the localities of a priority against each other.
    pub(super) fn is_weighted(&self, outlier: bool) -> bool {
        let failover = self.forced || outlier;
        !self.zone_aware
            && (failover && (!self.failover.is_empty() || !self.priorities.is_empty())
                || !self.distribute.is_empty())
    }

    /// Gives the endpoints of each locality their priority. `by_labels`: `failoverPriority` can be applied.
    pub(super) fn order(
        &self,
        mut groups: Vec<Group<'m>>,
        client: &Client,
        outlier: bool,
        by_labels: bool,
    ) -> Vec<Group<'m>> {
        if !self.distribute.is_empty() {
            self.distribute(&mut groups);
            return groups;
        }
        if !(self.forced || outlier) {
            return groups;
        }
        if !self.priorities.is_empty() {
            if by_labels && !client.labels.is_empty() {
                groups = self.by_labels(groups, client);
            }
            if self.failover.is_empty() && !self.zone_aware {
                return groups;
            }
        }
        for group in &mut groups {
            let (steps, priority) = match self.zone_aware {
                true => (
                    3,
                    if region(&group.locality).is_empty() {
                        0
                    } else {
                        2
                    },
                ),
                false => (5, distance(&group.locality)),
            };
            group.priority = group
                .priority
                .saturating_mul(steps)
                .saturating_add(priority);
        }
        compact(&mut groups);
        groups
    }

    /// Only `from: *` matches a proxy without a locality. Endpoints of localities that are not named get nothing.
    fn distribute(&self, groups: &mut [Group<'m>]) {
        let from = |from: &str| {
            from.split('/').all(|part| part.is_empty() || part == "*") && from.starts_with('*')
        };
        let matching = self
            .distribute
            .iter()
            .find(|d| d.value.from.as_ref().is_some_and(|f| from(&f.value)));
        let Some(distribute) = matching else { return };
        let to: Vec<&str> = distribute
            .value
            .to
            .iter()
            .flat_map(|to| to.value.iter())
            .map(|(to, _)| &*to.value)
            .collect();
        for group in groups {
            if !to.iter().any(|rule| in_locality(&group.locality, rule)) {
                group.instances.clear();
            }
        }
    }

    /// One step down for each label, from the last, in which the endpoint differs from the client.
    fn by_labels(&self, groups: Vec<Group<'m>>, client: &Client) -> Vec<Group<'m>> {
        let wanted: Vec<(&str, &str)> = self
            .priorities
            .iter()
            .map(
                |label| match label.split('=').collect::<Vec<_>>().as_slice() {
                    [label, value] => (*label, *value),
                    [label, ..] => (*label, client.labels.get(*label).map_or("", String::as_str)),
                    [] => ("", ""),
                },
            )
            .collect();
        let mut ordered = Vec::new();
        for group in groups {
            let mut split: BTreeMap<u32, Vec<Instance<'m>>> = BTreeMap::new();
            for instance in group.instances {
                let differs = wanted
                    .iter()
                    .position(|(label, value)| instance.label(label) != *value);
                let steps = differs.map_or(0, |at| wanted.len() - at);
                split
                    .entry(u32::try_from(steps).unwrap_or(u32::MAX))
                    .or_default()
                    .push(instance);
            }
            ordered.extend(split.into_iter().map(|(priority, instances)| Group {
                locality: group.locality.clone(),
                priority,
                instances,
            }));
        }
        compact(&mut ordered);
        ordered
    }
}

/// Priorities without gaps, in the same order.
fn compact(groups: &mut [Group<'_>]) {
    let mut priorities: Vec<u32> = groups.iter().map(|group| group.priority).collect();
    priorities.sort_unstable();
    priorities.dedup();
    for group in groups {
        let place = priorities
            .binary_search(&group.priority)
            .unwrap_or_default();
        group.priority = u32::try_from(place).unwrap_or(u32::MAX);
    }
}

/// How far an endpoint is from a proxy without a locality: 0 where it has none either, 3 for another region.
fn distance(locality: &str) -> u32 {
    match locality_parts(locality) {
        ["", "", ""] => 0,
        ["", "", _] => 1,
        ["", _, _] => 2,
        _ => 3,
    }
}

fn region(locality: &str) -> &str {
    let [region, _, _] = locality_parts(locality);
    region
}

fn texts(list: &[Spanned<SmolStr>]) -> Vec<&str> {
    list.iter().map(|item| item.value.as_str()).collect()
}
