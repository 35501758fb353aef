//! How many hosts a cluster has, as far as the files and the facts tell.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::clusters::Cluster;
use super::context::Context;
use crate::egress::facts::ClusterType;
use crate::egress::host::service_of;
use crate::source::Span;

/// More lines than that say nothing more.
const LABELS: usize = 3;

/// How many hosts a cluster has.
#[derive(Clone, Debug)]
pub(super) enum Count {
    Known {
        hosts: u32,
        lines: Vec<(Span, String)>,
    },
    /// As many names, each of which has one address or more.
    AtLeast(u32),
    Unknown,
}

impl Count {
    /// `None` where the question makes no sense: there is one host whatever DNS answers, or no list of hosts.
    pub(super) fn of(cx: &Context<'_>, cluster: &Cluster<'_>) -> Option<Self> {
        // The pods of a Kubernetes Service are hosts, too; it may be defined elsewhere.
        service_of(cluster.service.name()).is_none().then_some(())?;
        let by_workloads = cluster.service.selector.is_some();
        match cluster.facts.cluster_type.value {
            ClusterType::StrictDns | ClusterType::Eds | ClusterType::Static if by_workloads => {
                Some(Self::Unknown)
            }
            ClusterType::Eds | ClusterType::Static | ClusterType::StrictDns => {
                let endpoints = &cluster.facts.endpoints;
                let all: BTreeMap<(&str, u32), Span> = endpoints
                    .iter()
                    .filter_map(|endpoint| {
                        let line = *endpoint.address.spans().first()?;
                        Some(((endpoint.address.as_str(), endpoint.port.value), line))
                    })
                    .collect();
                let names = all
                    .keys()
                    .filter(|(address, _)| address.parse::<IpAddr>().is_err());
                match (all.len(), names.count()) {
                    (0, _) => None,
                    (_, 0) => Some(Self::of_addresses(&all)),
                    (1, 1) => Some(Self::of_name(cx, cluster)),
                    (several, _) => Some(Self::of_names(cx, &all).unwrap_or_else(|| {
                        Self::AtLeast(u32::try_from(several).unwrap_or(u32::MAX))
                    })),
                }
            }
            ClusterType::LogicalDns
            | ClusterType::OriginalDst
            | ClusterType::DynamicForwardProxy => None,
        }
    }

    fn of_addresses(all: &BTreeMap<(&str, u32), Span>) -> Self {
        let lines = all.values().take(LABELS);
        Self::Known {
            hosts: u32::try_from(all.len()).unwrap_or(u32::MAX),
            lines: lines
                .map(|line| (*line, "one of the hosts".to_owned()))
                .collect(),
        }
    }

    /// The only name that is resolved: the host itself, or one that stands for it.
    fn of_name(cx: &Context<'_>, cluster: &Cluster<'_>) -> Self {
        let facts = cx.facts(cluster.service.definition.resource, cluster.service.name());
        let Some(addresses) = facts.addresses else {
            return Self::Unknown;
        };
        Self::Known {
            hosts: addresses.value,
            lines: addresses
                .span()
                .map(|line| (line, said(addresses.value)))
                .into_iter()
                .collect(),
        }
    }

    /// Several, of which each name has the addresses that the configuration tells.
    fn of_names(cx: &Context<'_>, all: &BTreeMap<(&str, u32), Span>) -> Option<Self> {
        let (mut hosts, mut lines) = (0_u32, BTreeMap::new());
        for (&(address, _), &line) in all {
            let (count, (line, said)) = match address.parse::<IpAddr>() {
                Ok(_) => (1, (line, "one of the hosts".to_owned())),
                Err(_) => {
                    let addresses = cx.config.hosts.facts(address).addresses?;
                    (addresses.value, (addresses.span()?, said(addresses.value)))
                }
            };
            hosts = hosts.saturating_add(count);
            lines.insert(line, said);
        }
        Some(Self::Known {
            hosts,
            lines: lines.into_iter().take(LABELS).collect(),
        })
    }

    /// The most certain and the fewest first.
    pub(super) fn rank(&self) -> (u8, u32) {
        match *self {
            Self::Known { hosts, .. } => (0, hosts),
            Self::AtLeast(hosts) => (1, hosts),
            Self::Unknown => (2, 0),
        }
    }

    /// The number, where it is known.
    pub(super) fn known(&self) -> Option<u32> {
        match *self {
            Self::Known { hosts, .. } => Some(hosts),
            Self::AtLeast(_) | Self::Unknown => None,
        }
    }

    /// The lines that tell it, and what they say.
    pub(super) fn lines(&self) -> &[(Span, String)] {
        match self {
            Self::Known { lines, .. } => lines,
            Self::AtLeast(_) | Self::Unknown => &[],
        }
    }
}

/// What a line says that tells how many addresses a name has.
fn said(addresses: u32) -> String {
    match addresses {
        1 => "its answers hold one address".to_owned(),
        several => format!("its answers hold {several} addresses"),
    }
}
