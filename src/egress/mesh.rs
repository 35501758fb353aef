//! `MeshConfig` as the model asks it: what is set, or what holds then.

use smol_str::SmolStr;

use super::facts::Traced;
use super::visibility::DefaultExport;
use crate::istio::decode::{Items, List};
use crate::istio::mesh::{DefaultTrafficPolicy, MeshConfig};
use crate::istio::traffic::{
    ConnectionPool, H2UpgradePolicy, LocalityLbSetting, OutlierDetection, TcpKeepalive,
    ZoneAwareLbSetting,
};
use crate::istio::version::IstioVersion;
use crate::source::Spanned;

/// The mesh's configuration; what it leaves out is Istio's default.
#[derive(Clone, Copy, Debug)]
pub struct Mesh<'a> {
    pub config: &'a MeshConfig,
    pub version: IstioVersion,
}

impl<'a> Mesh<'a> {
    pub fn connect_timeout_ms(&self) -> Traced<i64> {
        match &self.config.connect_timeout {
            Some(timeout) => Traced::line(timeout.value.millis(), timeout.span),
            None => Traced::default(10_000, "MeshConfig.connectTimeout is not set: 10s"),
        }
    }

    pub fn dns_refresh_rate_ms(&self) -> Traced<i64> {
        match &self.config.dns_refresh_rate {
            Some(rate) => Traced::line(rate.value.millis(), rate.span),
            None => Traced::default(60_000, "MeshConfig.dnsRefreshRate is not set: 60s"),
        }
    }

    pub fn tcp_keepalive(&self) -> Option<&'a Spanned<TcpKeepalive>> {
        self.config.tcp_keepalive.as_ref()
    }

    /// The line that makes every HTTP port of a destination HTTP/2.
    pub fn h2_upgrade(&self) -> Option<&'a Spanned<H2UpgradePolicy>> {
        let policy = self.config.h2_upgrade_policy.as_ref();
        policy.filter(|policy| policy.value == H2UpgradePolicy::Upgrade)
    }

    pub fn auto_mtls(&self) -> bool {
        let enabled = self.config.enable_auto_mtls.as_ref();
        enabled.is_none_or(|enabled| enabled.value)
    }

    pub fn locality_lb(&self) -> Option<&'a LocalityLbSetting> {
        let setting = self.config.locality_lb_setting.as_ref()?;
        Some(&setting.value)
    }

    pub fn zone_aware_lb(&self) -> Option<&'a ZoneAwareLbSetting> {
        let setting = self.config.zone_aware_lb_setting.as_ref()?;
        let known = self.version.knows_zone_aware_lb();
        known.then_some(&setting.value)
    }

    /// Holds for what no DestinationRule sets.
    pub fn default_connection_pool(&self) -> Option<&'a Spanned<ConnectionPool>> {
        self.default_traffic_policy()?.connection_pool.as_deref()
    }

    /// Holds for what no DestinationRule sets.
    pub fn default_outlier_detection(&self) -> Option<&'a Spanned<OutlierDetection>> {
        self.default_traffic_policy()?.outlier_detection.as_deref()
    }

    fn default_traffic_policy(&self) -> Option<&'a DefaultTrafficPolicy> {
        let policy = self.config.default_traffic_policy.as_ref()?;
        let known = self.version.knows_default_traffic_policy();
        known.then_some(&policy.value)
    }

    pub fn trust_domain(&self) -> &'a str {
        let domain = self.config.trust_domain.as_ref();
        domain.map_or("cluster.local", |domain| &domain.value)
    }

    pub fn root_namespace(&self) -> Option<&'a str> {
        let namespace = self.config.root_namespace.as_ref()?;
        Some(&namespace.value)
    }

    /// What an absent `exportTo` of a service means.
    pub fn service_export(&self) -> DefaultExport {
        self.default_export(&self.config.default_service_export_to)
    }

    /// What an absent `exportTo` of a VirtualService means.
    pub fn virtual_service_export(&self) -> DefaultExport {
        self.default_export(&self.config.default_virtual_service_export_to)
    }

    fn default_export(&self, field: &Option<Spanned<List<SmolStr>>>) -> DefaultExport {
        let entries: Vec<_> = field
            .items()
            .iter()
            .map(|entry| entry.value.to_string())
            .collect();
        DefaultExport::new(
            (!entries.is_empty()).then_some(entries),
            self.version.honours_only_own_or_all_by_default(),
        )
    }

    /// Whether a DestinationRule without `exportTo` holds in its own namespace only.
    pub fn rules_are_private(&self) -> bool {
        let entries = self.config.default_destination_rule_export_to.items();
        entries.iter().any(|entry| entry.value == ".")
    }
}
