//! How Istio names clusters.

/// The name of a cluster as Istio writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterName<'n> {
    pub port: u32,
    /// Empty for the cluster of the whole service.
    pub subset: &'n str,
    pub host: &'n str,
}

impl<'n> ClusterName<'n> {
    /// `outbound|443|subset|host`; `None` for other names, such as `PassthroughCluster`.
    pub fn parse(name: &'n str) -> Option<Self> {
        let mut parts = name.strip_prefix("outbound|")?.splitn(3, '|');
        let (port, subset, host) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self {
            port: port.parse().ok()?,
            subset,
            host,
        })
    }
}

impl std::fmt::Display for ClusterName<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "outbound|{}|{}|{}", self.port, self.subset, self.host)
    }
}
