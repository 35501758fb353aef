//! The endpoints of a cluster, in the order of their priorities.

use super::Plan;
use super::locality::{Group, Setting};
use crate::egress::endpoint::{self, Instance, Wanted};
use crate::egress::facts::{ClusterType, Endpoint, Traced};
use crate::egress::policy::Policy;
use crate::egress::service::Resolution;
use crate::istio::traffic::Subset;
use crate::source::Spanned;

impl<'m> Plan<'m> {
    /// The endpoints of the port, or those of a subset.
    pub(super) fn instances(&self, subset: Option<&Spanned<Subset>>) -> Vec<Instance<'m>> {
        let dns = matches!(
            self.service.resolution,
            Resolution::Dns | Resolution::DnsRoundRobin
        );
        let wanted = match dns {
            true => Wanted::Number(self.port.number),
            // The first port of the number gives the name, be it the UDP one.
            false => Wanted::Name(
                self.service
                    .port(self.port.number)
                    .map_or(self.port.name, |port| port.name),
            ),
        };
        let mut all = endpoint::instances(
            &self.model.registry,
            &self.model.workloads,
            &self.service.base,
            wanted,
        );
        if !dns {
            all.retain(Instance::is_ip);
        }
        if let Some(labels) = subset.and_then(|subset| subset.value.labels.as_ref()) {
            all.retain(|instance| instance.has_labels(&labels.value));
        }
        all
    }

    pub(super) fn endpoints(
        &self,
        cluster_type: ClusterType,
        setting: Option<&Setting<'m>>,
    ) -> Vec<Endpoint> {
        if matches!(
            cluster_type,
            ClusterType::OriginalDst | ClusterType::DynamicForwardProxy
        ) {
            return Vec::new();
        }
        let mut groups: Vec<Group<'m>> = Vec::new();
        let mut all = self.instances(self.subset);
        let place = |instance: &Instance<'_>| {
            instance
                .locality
                .as_ref()
                .map_or(String::new(), |(l, _)| l.to_string())
        };
        all.sort_by_cached_key(place);
        for instance in all {
            let locality = place(&instance);
            match groups.last_mut() {
                Some(group) if group.locality == locality => group.instances.push(instance),
                _ => groups.push(Group {
                    locality,
                    priority: 0,
                    instances: vec![instance],
                }),
            }
        }
        if let Some(setting) = setting {
            let eds = cluster_type == ClusterType::Eds;
            // For EDS only the rule's own outlier detection counts, not the mesh's default.
            let outlier = match eds {
                true => self.own_outlier(),
                false => self.policy.outlier_detection.is_some(),
            };
            let version = self.model.mesh.version;
            let by_labels = eds || self.subset.is_none() && version.failover_priority_for_dns();
            groups = setting.order(groups, self.client, outlier, by_labels);
        }
        groups.into_iter().flat_map(facts).collect()
    }

    pub(super) fn own_outlier(&self) -> bool {
        let own = Policy::of(self.whole_policy(), self.subset, self.port.number, None);
        own.outlier_detection.is_some()
    }
}

fn facts(group: Group<'_>) -> impl Iterator<Item = Endpoint> {
    let priority = group.priority;
    group.instances.into_iter().map(move |instance| Endpoint {
        address: match instance.address_line {
            Some(line) => Traced::line(instance.address.to_owned(), line),
            None => Traced::default(
                instance.address.to_owned(),
                "the pod of a gateway; its address is assumed",
            ),
        },
        port: Traced::line(instance.port, instance.port_line),
        weight: instance.weight,
        priority,
        locality: instance
            .locality
            .map(|(locality, line)| Traced::line(locality.into_owned(), line)),
    })
}
