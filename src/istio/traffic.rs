//! `DestinationRule` and the policies in it, which `MeshConfig` shares.

use smol_str::SmolStr;

use super::decode::{List, Map, enumeration, message};
use super::value::{Bool, Duration, Int, Number, PortSelector};

message! {
    DestinationRule {
        host: SmolStr = "host",
        traffic_policy: TrafficPolicy = "trafficPolicy",
        subsets: List<Subset> = rare "subsets",
        export_to: List<SmolStr> = rare "exportTo",
        workload_selector: LabelSelector = rare "workloadSelector",
    }
    LabelSelector {
        match_labels: Map<SmolStr> = "matchLabels",
    }
    Subset {
        name: SmolStr = "name",
        labels: Map<SmolStr> = "labels",
        traffic_policy: TrafficPolicy = rare "trafficPolicy",
    }
    TrafficPolicy {
        load_balancer: LoadBalancer = rare "loadBalancer",
        connection_pool: ConnectionPool = rare "connectionPool",
        outlier_detection: OutlierDetection = rare "outlierDetection",
        tls: ClientTls = rare "tls",
        port_level_settings: List<PortTrafficPolicy> = rare "portLevelSettings",
        tunnel: Tunnel = rare "tunnel",
        proxy_protocol: ProxyProtocol = rare "proxyProtocol",
        retry_budget: RetryBudget = rare "retryBudget",
    }
    PortTrafficPolicy {
        port: PortSelector = "port",
        load_balancer: LoadBalancer = rare "loadBalancer",
        connection_pool: ConnectionPool = rare "connectionPool",
        outlier_detection: OutlierDetection = rare "outlierDetection",
        tls: ClientTls = rare "tls",
    }
    Tunnel {
        protocol: SmolStr = "protocol",
        target_host: SmolStr = "targetHost",
        target_port: Int = "targetPort",
    }
    ProxyProtocol {
        version: ProxyProtocolVersion = "version",
    }
    RetryBudget {
        percent: Number = "percent",
        min_retry_concurrency: Int = "minRetryConcurrency",
        budget_interval: Duration = "budgetInterval",
    }
    LoadBalancer {
        simple: SimpleLb = "simple",
        consistent_hash: ConsistentHash = rare "consistentHash",
        locality_lb_setting: LocalityLbSetting = rare "localityLbSetting",
        zone_aware_lb_setting: ZoneAwareLbSetting = rare "zoneAwareLbSetting",
        warmup_duration_secs: Duration = rare "warmupDurationSecs",
        warmup: Warmup = rare "warmup",
    }
    Warmup {
        duration: Duration = "duration",
        minimum_percent: Number = "minimumPercent",
        aggression: Number = "aggression",
    }
    ConsistentHash {
        http_header_name: SmolStr = rare "httpHeaderName",
        http_cookie: HttpCookie = rare "httpCookie",
        use_source_ip: Bool = rare "useSourceIp",
        http_query_parameter_name: SmolStr = rare "httpQueryParameterName",
        ring_hash: RingHash = rare "ringHash",
        maglev: Maglev = rare "maglev",
        minimum_ring_size: Int = rare "minimumRingSize",
    }
    RingHash {
        minimum_ring_size: Int = "minimumRingSize",
    }
    Maglev {
        table_size: Int = "tableSize",
    }
    HttpCookie {
        name: SmolStr = "name",
        path: SmolStr = "path",
        ttl: Duration = "ttl",
        attributes: List<CookieAttribute> = "attributes",
    }
    CookieAttribute {
        name: SmolStr = "name",
        value: SmolStr = "value",
    }
    LocalityLbSetting {
        distribute: List<Distribute> = "distribute",
        failover: List<Failover> = "failover",
        failover_priority: List<SmolStr> = "failoverPriority",
        enabled: Bool = "enabled",
    }
    ZoneAwareLbSetting {
        enabled: Bool = "enabled",
        failover: List<Failover> = "failover",
        failover_priority: List<SmolStr> = "failoverPriority",
        min_cluster_size: Int = "minClusterSize",
    }
    Distribute {
        from: SmolStr = "from",
        to: Map<Int> = "to",
    }
    Failover {
        from: SmolStr = "from",
        to: SmolStr = "to",
    }
    ConnectionPool {
        tcp: TcpPool = "tcp",
        http: HttpPool = "http",
    }
    TcpPool {
        max_connections: Int = rare "maxConnections",
        connect_timeout: Duration = rare "connectTimeout",
        tcp_keepalive: TcpKeepalive = rare "tcpKeepalive",
        max_connection_duration: Duration = rare "maxConnectionDuration",
        idle_timeout: Duration = rare "idleTimeout",
    }
    TcpKeepalive {
        probes: Int = rare "probes",
        time: Duration = "time",
        interval: Duration = "interval",
    }
    HttpPool {
        http1_max_pending_requests: Int = rare "http1MaxPendingRequests",
        http2_max_requests: Int = rare "http2MaxRequests",
        max_requests_per_connection: Int = rare "maxRequestsPerConnection",
        max_retries: Int = rare "maxRetries",
        idle_timeout: Duration = rare "idleTimeout",
        h2_upgrade_policy: H2UpgradePolicy = rare "h2UpgradePolicy",
        use_client_protocol: Bool = rare "useClientProtocol",
        max_concurrent_streams: Int = rare "maxConcurrentStreams",
        http2_keep_alive: Http2KeepAlive = rare "http2KeepAlive",
    }
    Http2KeepAlive {
        interval: Duration = "interval",
        timeout: Duration = "timeout",
    }
    OutlierDetection {
        consecutive_errors: Int = rare "consecutiveErrors",
        split_external_local_origin_errors: Bool = rare "splitExternalLocalOriginErrors",
        consecutive_local_origin_failures: Int = rare "consecutiveLocalOriginFailures",
        consecutive_gateway_errors: Int = rare "consecutiveGatewayErrors",
        consecutive_5xx_errors: Int = rare "consecutive5xxErrors",
        interval: Duration = rare "interval",
        base_ejection_time: Duration = rare "baseEjectionTime",
        max_ejection_percent: Int = rare "maxEjectionPercent",
        min_health_percent: Int = rare "minHealthPercent",
        http_error_codes: List<Int> = rare "outlierDetectionHttpErrorCodes",
    }
    ClientTls {
        mode: ClientTlsMode = "mode",
        client_certificate: SmolStr = rare "clientCertificate",
        private_key: SmolStr = rare "privateKey",
        ca_certificates: SmolStr = rare "caCertificates",
        credential_name: SmolStr = rare "credentialName",
        subject_alt_names: List<SmolStr> = rare "subjectAltNames",
        sni: SmolStr = rare "sni",
        insecure_skip_verify: Bool = rare "insecureSkipVerify",
        ca_crl: SmolStr = rare "caCrl",
    }
}

enumeration! {
    SimpleLb {
        Unspecified = "UNSPECIFIED",
        LeastConn = "LEAST_CONN",
        Random = "RANDOM",
        Passthrough = "PASSTHROUGH",
        RoundRobin = "ROUND_ROBIN",
        LeastRequest = "LEAST_REQUEST",
    }
    H2UpgradePolicy { Default = "DEFAULT", DoNotUpgrade = "DO_NOT_UPGRADE", Upgrade = "UPGRADE" }
    ClientTlsMode { Disable = "DISABLE", Simple = "SIMPLE", Mutual = "MUTUAL", IstioMutual = "ISTIO_MUTUAL" }
    ProxyProtocolVersion { V1 = "V1", V2 = "V2" }
}
