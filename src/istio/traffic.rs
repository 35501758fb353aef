//! `DestinationRule` and the policies in it, which `MeshConfig` shares.

use super::decode::{List, Map, enumeration, message};
use super::value::{Bool, Duration, Int, Number, PortSelector};

message! {
    DestinationRule {
        host: String = "host",
        traffic_policy: TrafficPolicy = "trafficPolicy",
        subsets: List<Subset> = "subsets",
        export_to: List<String> = rare "exportTo",
        workload_selector: LabelSelector = rare "workloadSelector",
    }
    LabelSelector {
        match_labels: Map<String> = "matchLabels",
    }
    Subset {
        name: String = "name",
        labels: Map<String> = "labels",
        traffic_policy: TrafficPolicy = rare "trafficPolicy",
    }
    TrafficPolicy {
        load_balancer: Box<LoadBalancer> = "loadBalancer",
        connection_pool: Box<ConnectionPool> = "connectionPool",
        outlier_detection: Box<OutlierDetection> = "outlierDetection",
        tls: Box<ClientTls> = "tls",
        port_level_settings: List<PortTrafficPolicy> = rare "portLevelSettings",
        tunnel: Tunnel = rare "tunnel",
        proxy_protocol: ProxyProtocol = rare "proxyProtocol",
        retry_budget: RetryBudget = rare "retryBudget",
    }
    PortTrafficPolicy {
        port: PortSelector = "port",
        load_balancer: Box<LoadBalancer> = "loadBalancer",
        connection_pool: Box<ConnectionPool> = "connectionPool",
        outlier_detection: Box<OutlierDetection> = "outlierDetection",
        tls: Box<ClientTls> = "tls",
    }
    Tunnel {
        protocol: String = "protocol",
        target_host: String = "targetHost",
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
        consistent_hash: ConsistentHash = "consistentHash",
        locality_lb_setting: LocalityLbSetting = "localityLbSetting",
        zone_aware_lb_setting: ZoneAwareLbSetting = "zoneAwareLbSetting",
        warmup_duration_secs: Duration = "warmupDurationSecs",
        warmup: Warmup = "warmup",
    }
    Warmup {
        duration: Duration = "duration",
        minimum_percent: Number = "minimumPercent",
        aggression: Number = "aggression",
    }
    ConsistentHash {
        http_header_name: String = "httpHeaderName",
        http_cookie: HttpCookie = "httpCookie",
        use_source_ip: Bool = "useSourceIp",
        http_query_parameter_name: String = "httpQueryParameterName",
        ring_hash: RingHash = "ringHash",
        maglev: Maglev = "maglev",
        minimum_ring_size: Int = "minimumRingSize",
    }
    RingHash {
        minimum_ring_size: Int = "minimumRingSize",
    }
    Maglev {
        table_size: Int = "tableSize",
    }
    HttpCookie {
        name: String = "name",
        path: String = "path",
        ttl: Duration = "ttl",
        attributes: List<CookieAttribute> = "attributes",
    }
    CookieAttribute {
        name: String = "name",
        value: String = "value",
    }
    LocalityLbSetting {
        distribute: List<Distribute> = "distribute",
        failover: List<Failover> = "failover",
        failover_priority: List<String> = "failoverPriority",
        enabled: Bool = "enabled",
    }
    ZoneAwareLbSetting {
        enabled: Bool = "enabled",
        failover: List<Failover> = "failover",
        failover_priority: List<String> = "failoverPriority",
        min_cluster_size: Int = "minClusterSize",
    }
    Distribute {
        from: String = "from",
        to: Map<Int> = "to",
    }
    Failover {
        from: String = "from",
        to: String = "to",
    }
    ConnectionPool {
        tcp: TcpPool = "tcp",
        http: HttpPool = "http",
    }
    TcpPool {
        max_connections: Int = "maxConnections",
        connect_timeout: Duration = "connectTimeout",
        tcp_keepalive: TcpKeepalive = "tcpKeepalive",
        max_connection_duration: Duration = "maxConnectionDuration",
        idle_timeout: Duration = "idleTimeout",
    }
    TcpKeepalive {
        probes: Int = "probes",
        time: Duration = "time",
        interval: Duration = "interval",
    }
    HttpPool {
        http1_max_pending_requests: Int = "http1MaxPendingRequests",
        http2_max_requests: Int = "http2MaxRequests",
        max_requests_per_connection: Int = "maxRequestsPerConnection",
        max_retries: Int = "maxRetries",
        idle_timeout: Duration = "idleTimeout",
        h2_upgrade_policy: H2UpgradePolicy = "h2UpgradePolicy",
        use_client_protocol: Bool = "useClientProtocol",
        max_concurrent_streams: Int = "maxConcurrentStreams",
        http2_keep_alive: Http2KeepAlive = "http2KeepAlive",
    }
    Http2KeepAlive {
        interval: Duration = "interval",
        timeout: Duration = "timeout",
    }
    OutlierDetection {
        consecutive_errors: Int = "consecutiveErrors",
        split_external_local_origin_errors: Bool = "splitExternalLocalOriginErrors",
        consecutive_local_origin_failures: Int = "consecutiveLocalOriginFailures",
        consecutive_gateway_errors: Int = "consecutiveGatewayErrors",
        consecutive_5xx_errors: Int = "consecutive5xxErrors",
        interval: Duration = "interval",
        base_ejection_time: Duration = "baseEjectionTime",
        max_ejection_percent: Int = "maxEjectionPercent",
        min_health_percent: Int = "minHealthPercent",
        http_error_codes: List<Int> = "outlierDetectionHttpErrorCodes",
    }
    ClientTls {
        mode: ClientTlsMode = "mode",
        client_certificate: String = "clientCertificate",
        private_key: String = "privateKey",
        ca_certificates: String = "caCertificates",
        credential_name: String = "credentialName",
        subject_alt_names: List<String> = "subjectAltNames",
        sni: String = "sni",
        insecure_skip_verify: Bool = "insecureSkipVerify",
        ca_crl: String = "caCrl",
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
