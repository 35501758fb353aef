//! `MeshConfig`, as far as egress depends on it.

use smol_str::SmolStr;

use super::decode::{Decode as _, Decoder, List, Map, message};
use super::placeholder::touches;
use super::proxy::OutboundTrafficPolicy;
use super::route::HttpRetry;
use super::traffic::{
    ConnectionPool, H2UpgradePolicy, LabelSelector, LocalityLbSetting, OutlierDetection,
    TcpKeepalive, ZoneAwareLbSetting,
};
use super::value::{Bool, Duration, Int, Text};
use super::version::IstioVersion;
use super::{admission, schema};
use crate::diag::Diagnostic;
use crate::source::Span;
use crate::yaml::Node;

message! {
    MeshConfig {
        outbound_traffic_policy: OutboundTrafficPolicy = "outboundTrafficPolicy",
        connect_timeout: Duration = "connectTimeout",
        dns_refresh_rate: Duration = "dnsRefreshRate",
        default_http_retry_policy: HttpRetry = rare "defaultHttpRetryPolicy",
        default_traffic_policy: DefaultTrafficPolicy = "defaultTrafficPolicy",
        tcp_keepalive: TcpKeepalive = "tcpKeepalive",
        h2_upgrade_policy: H2UpgradePolicy = "h2UpgradePolicy",
        locality_lb_setting: LocalityLbSetting = rare "localityLbSetting",
        zone_aware_lb_setting: ZoneAwareLbSetting = rare "zoneAwareLbSetting",
        enable_auto_mtls: Bool = "enableAutoMtls",
        default_service_export_to: List<SmolStr> = "defaultServiceExportTo",
        default_virtual_service_export_to: List<SmolStr> = "defaultVirtualServiceExportTo",
        default_destination_rule_export_to: List<SmolStr> = "defaultDestinationRuleExportTo",
        discovery_selectors: List<LabelSelector> = "discoverySelectors",
        root_namespace: SmolStr = "rootNamespace",
        trust_domain: SmolStr = "trustDomain",
        default_config: ProxyDefaults = rare "defaultConfig",
        extension_providers: List<ExtensionProvider> = "extensionProviders",
    }
    /// What proxies ask about requests, or send spans and logs to. It is of one kind; these are reached over HTTP.
    ExtensionProvider {
        target: ProviderTarget = "envoyExtAuthzHttp" | "envoyExtAuthzGrpc" | "zipkin" | "lightstep" | "datadog"
            | "opencensus" | "skywalking" | "opentelemetry" | "envoyHttpAls" | "envoyTcpAls" | "envoyOtelAls" | "sds",
    }
    ProviderTarget {
        /// A host, perhaps after its namespace and `/`.
        service: SmolStr = "service",
        port: Int = "port",
    }
    DefaultTrafficPolicy {
        connection_pool: ConnectionPool = rare "connectionPool",
        outlier_detection: OutlierDetection = rare "outlierDetection",
    }
    /// The `ProxyConfig` inside of `MeshConfig`.
    ProxyDefaults {
        proxy_metadata: Map<Text> = "proxyMetadata",
        proxy_stats_matcher: ProxyStatsMatcher = "proxyStatsMatcher",
    }
    ProxyStatsMatcher {
        inclusion_prefixes: List<SmolStr> = "inclusionPrefixes",
        inclusion_suffixes: List<SmolStr> = "inclusionSuffixes",
        inclusion_regexps: List<SmolStr> = "inclusionRegexps",
    }
}

/// A mesh configuration as it was read.
#[derive(Debug)]
pub struct ReadMesh {
    pub config: MeshConfig,
    /// Places whose value is unknown, sorted.
    pub placeholders: Vec<Span>,
    /// What istiod would not take, and fields that are probably misspelt.
    pub diagnostics: Vec<Diagnostic>,
}

impl MeshConfig {
    /// Reads it from the map that holds its fields; `None` where the node is no map.
    pub fn read(node: Node<'_>) -> Option<ReadMesh> {
        let mut decoder = Decoder::default();
        let config = Self::decode(node, &mut decoder)?;
        decoder.placeholders.sort_unstable();
        let mut diagnostics = schema::check_mesh(node, IstioVersion::NEWEST);
        diagnostics.extend(admission::check_mesh(&config, IstioVersion::NEWEST));
        diagnostics.retain(|finding| !touches(finding, &decoder.placeholders));
        Some(ReadMesh {
            config,
            placeholders: decoder.placeholders,
            diagnostics,
        })
    }
}
