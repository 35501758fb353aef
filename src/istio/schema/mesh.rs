//! `MeshConfig`. It has no CRD: Istio reads it from a text, and passes over what it does not know.
//!
//! Source: `mesh/v1alpha1/config.proto` of Istio's API. Only what egress depends on is looked into.

use super::destination_rule::{
    CONNECTION_POOL, LOCALITY, OUTLIER_DETECTION, TCP_KEEPALIVE, ZONE_AWARE,
};
use super::virtual_service::RETRIES;
use super::{ANY, BOOL, DURATION, STRING, STRINGS, Schema, field, list, map, object, words};

pub(super) static CONFIG: Schema = object(&[
    field("accessLogEncoding", ANY),
    field("accessLogFile", ANY),
    field("accessLogFormat", ANY),
    field("ca", ANY),
    field("caCertificates", ANY),
    field("certificates", ANY),
    field("configSources", ANY),
    field("connectTimeout", DURATION),
    field("defaultConfig", object(&PROXY)),
    field("defaultDestinationRuleExportTo", STRINGS),
    field("defaultHttpRetryPolicy", RETRIES),
    field("defaultInboundHttpRetryPolicy", RETRIES),
    field("defaultProviders", ANY),
    field("defaultServiceExportTo", STRINGS),
    field(
        "defaultTrafficPolicy",
        object(&[
            field("connectionPool", CONNECTION_POOL),
            field("outlierDetection", OUTLIER_DETECTION),
        ]),
    ),
    field("defaultVirtualServiceExportTo", STRINGS),
    field("disableEnvoyListenerLog", BOOL),
    field("discoverySelectors", list(&ANY)),
    field("dnsRefreshRate", DURATION),
    field("enableAutoMtls", BOOL),
    field("enableEnvoyAccessLogService", BOOL),
    field("enablePrometheusMerge", BOOL),
    field("enableTracing", BOOL),
    field("extensionProviders", ANY),
    field("h2UpgradePolicy", words(&["DO_NOT_UPGRADE", "UPGRADE"])),
    field("hboneIdleTimeout", DURATION),
    field("inboundClusterStatName", STRING),
    field("inboundTrafficPolicy", ANY),
    field("ingressClass", STRING),
    field("ingressControllerMode", ANY),
    field("ingressSelector", STRING),
    field("ingressService", STRING),
    field("localityLbSetting", LOCALITY),
    field("meshMTLS", ANY),
    field("outboundClusterStatName", STRING),
    field(
        "outboundTrafficPolicy",
        object(&[
            field(
                "mode",
                words(&["REGISTRY_ONLY", "ALLOW_ANY", "ALLOW_ANY_DYNAMIC_DNS"]),
            ),
            field("tls", ANY),
        ]),
    ),
    field("pathNormalization", ANY),
    field("protocolDetectionTimeout", DURATION),
    field("proxyHttpPort", ANY),
    field("proxyInboundListenPort", ANY),
    field("proxyListenPort", ANY),
    field("rootNamespace", STRING),
    field("serviceEntryVisibility", ANY),
    field("serviceScopeConfigs", ANY),
    field("serviceSettings", ANY),
    field("tcpKeepalive", TCP_KEEPALIVE),
    field("tlsDefaults", ANY),
    field("trustDomain", STRING),
    field("trustDomainAliases", STRINGS),
    field("verifyCertificateAtClient", BOOL),
    field("zoneAwareLbSetting", ZONE_AWARE),
]);

const PROXY: [super::Field; 2] = [
    // Values that are no strings are made strings on the way, by the operator for one.
    field("proxyMetadata", map(&ANY)),
    field(
        "proxyStatsMatcher",
        object(&[
            field("inclusionPrefixes", STRINGS),
            field("inclusionRegexps", STRINGS),
            field("inclusionSuffixes", STRINGS),
        ]),
    ),
];
