//! What differs between Istio versions: the one table that the resolver and the rules ask.

/// A minor version of Istio, `1.x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IstioVersion(pub u32);

impl Default for IstioVersion {
    /// 1.30, for which the evidence was recorded.
    fn default() -> Self {
        Self(30)
    }
}

impl IstioVersion {
    pub const OLDEST: Self = Self(24);
    pub const NEWEST: Self = Self(32);

    /// `1.30`, or `1.30.2`: the patch does not matter.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.strip_prefix('v').unwrap_or(text).split('.');
        if parts.next() != Some("1") {
            return None;
        }
        let minor = Self(parts.next()?.parse().ok()?);
        (Self::OLDEST..=Self::NEWEST)
            .contains(&minor)
            .then_some(minor)
    }
}

impl std::fmt::Display for IstioVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "1.{}", self.0)
    }
}

/// What differs, as questions. The sources compared are those of 1.30 and of 1.32; what changed between them is
/// asked of the version that its release note names.
impl IstioVersion {
    /// ServiceEntries without addresses get one by default, for proxies that capture DNS.
    pub fn allocates_addresses(self) -> bool {
        self >= Self(25)
    }

    /// The route tables of sidecars have the hosts of services in lower case, and the clusters still have them as
    /// they are written.
    pub fn routes_in_lower_case(self) -> bool {
        self >= Self(27)
    }

    /// Of `default…ExportTo` only `.` and `*` are honoured.
    pub fn honours_only_own_or_all_by_default(self) -> bool {
        self < Self(31)
    }

    /// An egress host of a Sidecar can start with `~`, which excludes it.
    pub fn knows_sidecar_exclusions(self) -> bool {
        self >= Self(31)
    }

    /// Of a further service without a protocol the chains for TCP are added to a listener that sniffs already;
    /// before, the listener was left as it was.
    pub fn merges_sniffed_services(self) -> bool {
        self >= Self(31)
    }

    /// A client meets the services that are private to its namespace before those exported to it.
    pub fn private_services_first(self) -> bool {
        self < Self(31)
    }

    /// Every cluster has a panic threshold of 0 unless `minHealthPercent` sets one; before, only those with
    /// `outlierDetection`.
    pub fn panic_threshold_zero_everywhere(self) -> bool {
        self >= Self(31)
    }

    /// `MeshConfig.defaultTrafficPolicy` exists.
    pub fn knows_default_traffic_policy(self) -> bool {
        self >= Self(31)
    }

    /// `zoneAwareLbSetting` exists.
    pub fn knows_zone_aware_lb(self) -> bool {
        self >= Self(31)
    }

    /// Sidecars and gateways have clusters for `resolution: DYNAMIC_DNS`; before, only waypoints did.
    pub fn resolves_hosts_of_requests(self) -> bool {
        self >= Self(30)
    }

    /// Where a VirtualService leads to a host that several other namespaces define, the Kubernetes Service or the
    /// oldest entry is meant; before, the first namespace of the alphabet.
    pub fn routes_to_the_oldest(self) -> bool {
        self >= Self(30)
    }

    /// `failoverPriority` also orders the endpoints of DNS clusters.
    pub fn failover_priority_for_dns(self) -> bool {
        self >= Self(30)
    }

    /// `istio.io/connect-strategy: RACE_FIRST_TCP_CONNECT` makes a DNS cluster logical.
    pub fn knows_connect_strategy(self) -> bool {
        self >= Self(30)
    }
}

/// What was measured on Envoy, by the version that ships with it.
impl IstioVersion {
    /// Whether connections are made where a time of TCP keepalive is 0: no on Envoy 1.36, yes on 1.37 and later, without
    /// keepalive. Measured E20; inferred for versions before Istio 1.28.
    pub fn connects_without_keepalive_time(self) -> bool {
        self >= Self(29)
    }

    /// Whether the pool of a LOGICAL_DNS cluster is drained when the answer changes: no on Envoy 1.36 to 1.38, yes on
    /// 1.39 and 1.40. Measured E1, E1N; inferred for versions before Istio 1.28, since the guard came later.
    pub fn drains_logical_dns(self) -> bool {
        self >= Self(31)
    }
}
