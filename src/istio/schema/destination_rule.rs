//! `DestinationRule`, and the connection pool that it shares with `Sidecar`.

use super::workload::MATCH_LABELS;
use super::{
    ANY_DURATION, BOOL, DURATION, INT32, LABELS, PORT_SELECTOR, Rule, STRING, STRINGS, Schema,
    UINT32, UINT64, field, integer, list, map, meta, number, object, words,
};

pub(super) static OBJECT: Schema = object(&meta::fields(field("spec", SPEC))).rules(meta::RULES);

const SPEC: Schema = object(&[
    field("exportTo", STRINGS),
    field("host", STRING).required(),
    field("subsets", list(&SUBSET)),
    field("trafficPolicy", TRAFFIC_POLICY),
    field("workloadSelector", MATCH_LABELS),
]);

const SUBSET: Schema = object(&[
    field("labels", LABELS),
    field("name", STRING).required(),
    field("trafficPolicy", TRAFFIC_POLICY),
]);

const TRAFFIC_POLICY: Schema = object(&[
    field("connectionPool", CONNECTION_POOL),
    field("loadBalancer", LOAD_BALANCER),
    field("outlierDetection", OUTLIER_DETECTION),
    field("portLevelSettings", list(&PORT_LEVEL).size(0, 4096)),
    field(
        "proxyProtocol",
        object(&[field("version", words(&["V1", "V2"]))]),
    ),
    field("retryBudget", RETRY_BUDGET).since(27),
    field("tls", TLS),
    field("tunnel", TUNNEL),
]);

const PORT_LEVEL: Schema = object(&[
    field("connectionPool", CONNECTION_POOL),
    field("loadBalancer", LOAD_BALANCER),
    field("outlierDetection", OUTLIER_DETECTION),
    field("port", PORT_SELECTOR),
    field("tls", TLS),
]);

const RETRY_BUDGET: Schema = object(&[
    field("budgetInterval", ANY_DURATION).since(31),
    field("minRetryConcurrency", UINT32),
    field("percent", number(0.0, 100.0).nullable()),
]);

const TUNNEL: Schema = object(&[
    field("protocol", STRING),
    field("targetHost", STRING).required(),
    field("targetPort", UINT32).required(),
]);

const TLS: Schema = object(&[
    field("caCertificates", STRING),
    field("caCrl", STRING),
    field("clientCertificate", STRING),
    field("credentialName", STRING),
    field("insecureSkipVerify", BOOL.nullable()),
    field(
        "mode",
        words(&["DISABLE", "SIMPLE", "MUTUAL", "ISTIO_MUTUAL"]),
    ),
    field("privateKey", STRING),
    field("sni", STRING),
    field("subjectAltNames", STRINGS),
]);

pub(super) const CONNECTION_POOL: Schema = object(&[field("http", HTTP), field("tcp", TCP)]);

const HTTP: Schema = object(&[
    field(
        "h2UpgradePolicy",
        words(&["DEFAULT", "DO_NOT_UPGRADE", "UPGRADE"]),
    ),
    field("http1MaxPendingRequests", INT32),
    field(
        "http2KeepAlive",
        object(&[field("interval", DURATION), field("timeout", DURATION)]),
    )
    .since(31),
    field("http2MaxRequests", INT32),
    field("idleTimeout", DURATION),
    field("maxConcurrentStreams", INT32),
    field("maxRequestsPerConnection", INT32),
    field("maxRetries", INT32),
    field("useClientProtocol", BOOL),
]);

const TCP: Schema = object(&[
    field("connectTimeout", DURATION),
    field("idleTimeout", DURATION).until(26),
    field("idleTimeout", ANY_DURATION).since(26),
    field("maxConnectionDuration", DURATION),
    field("maxConnections", INT32),
    field("tcpKeepalive", TCP_KEEPALIVE),
]);

pub(super) const TCP_KEEPALIVE: Schema = object(&[
    field("interval", DURATION),
    field("probes", UINT32),
    field("time", DURATION),
]);

pub(super) const OUTLIER_DETECTION: Schema = object(&[
    field("baseEjectionTime", DURATION),
    field("consecutive5xxErrors", UINT32.nullable()),
    field("consecutiveErrors", INT32),
    field("consecutiveGatewayErrors", UINT32.nullable()),
    field("consecutiveLocalOriginFailures", UINT32.nullable()),
    field("interval", DURATION),
    field("maxEjectionPercent", INT32),
    field("minHealthPercent", INT32),
    field("outlierDetectionHttpErrorCodes", list(&integer(100, 599))).since(31),
    field("splitExternalLocalOriginErrors", BOOL),
]);

const LOAD_BALANCER: Schema = object(&[
    field("backendUtilization", BACKEND_UTILIZATION).since(32),
    field("consistentHash", CONSISTENT_HASH),
    field("localityLbSetting", LOCALITY),
    field(
        "simple",
        words(&[
            "UNSPECIFIED",
            "LEAST_CONN",
            "RANDOM",
            "PASSTHROUGH",
            "ROUND_ROBIN",
            "LEAST_REQUEST",
        ]),
    ),
    field("warmup", WARMUP),
    field("warmupDurationSecs", DURATION),
    field("zoneAwareLbSetting", ZONE_AWARE).since(31),
])
.rules(&[Rule::AtMostOne(&[
    "simple",
    "consistentHash",
    "backendUtilization",
])]);

const BACKEND_UTILIZATION: Schema = object(&[
    field("errorUtilizationPenaltyPercent", UINT32),
    field("metricNamesForComputingUtilization", STRINGS),
    field("weightExpirationPeriod", ANY_DURATION),
    field("weightStabilizationPeriod", ANY_DURATION),
    field("weightUpdatePeriod", ANY_DURATION),
]);

const WARMUP: Schema = object(&[
    field("aggression", number(1.0, f64::INFINITY).nullable()).until(29),
    field("aggression", number(0.0, f64::INFINITY).nullable()).since(29),
    field("duration", DURATION).required(),
    field("minimumPercent", number(0.0, 100.0).nullable()),
]);

const CONSISTENT_HASH: Schema = object(&[
    field("httpCookie", COOKIE),
    field("httpHeaderName", STRING),
    field("httpQueryParameterName", STRING),
    field("maglev", object(&[field("tableSize", UINT64)])),
    field("minimumRingSize", UINT64),
    field("ringHash", object(&[field("minimumRingSize", UINT64)])),
    field("useSourceIp", BOOL),
])
.rules(&[
    Rule::AtMostOne(&[
        "httpHeaderName",
        "httpCookie",
        "useSourceIp",
        "httpQueryParameterName",
    ]),
    Rule::AtMostOne(&["ringHash", "maglev"]),
]);

const COOKIE: Schema = object(&[
    field(
        "attributes",
        list(&object(&[
            field("name", STRING).required(),
            field("value", STRING),
        ])),
    )
    .since(28),
    field("name", STRING).required(),
    field("path", STRING),
    field("ttl", ANY_DURATION),
]);

const FAILOVER: Schema = list(&object(&[field("from", STRING), field("to", STRING)]));

pub(super) const LOCALITY: Schema = object(&[
    field(
        "distribute",
        list(&object(&[field("from", STRING), field("to", map(&UINT32))])),
    ),
    field("enabled", BOOL.nullable()),
    field("failover", FAILOVER),
    field("failoverPriority", STRINGS),
]);

pub(super) const ZONE_AWARE: Schema = object(&[
    field("enabled", BOOL.nullable()),
    field("failover", FAILOVER),
    field("failoverPriority", STRINGS),
    field("minClusterSize", integer(1, u32::MAX as i64).nullable()),
]);
