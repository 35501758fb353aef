//! `VirtualService`.

use super::decode::{List, Map, enumeration, message};
use super::value::{Bool, Duration, Int, Number, PortSelector};

message! {
    VirtualService {
        hosts: List<String> = "hosts",
        gateways: List<String> = "gateways",
        http: List<HttpRoute> = "http",
        tls: List<TlsRoute> = rare "tls",
        tcp: List<TcpRoute> = rare "tcp",
        export_to: List<String> = rare "exportTo",
    }
    HttpRoute {
        name: String = rare "name",
        matches: List<HttpMatch> = "match",
        route: List<HttpRouteDestination> = "route",
        redirect: HttpRedirect = rare "redirect",
        direct_response: DirectResponse = rare "directResponse",
        delegate: Delegate = rare "delegate",
        rewrite: HttpRewrite = rare "rewrite",
        timeout: Duration = rare "timeout",
        retries: HttpRetry = rare "retries",
        fault: FaultInjection = rare "fault",
        mirror: Destination = rare "mirror",
        mirrors: List<HttpMirrorPolicy> = rare "mirrors",
        mirror_percent: Int = rare "mirrorPercent" | "mirror_percent",
        mirror_percentage: Percent = rare "mirrorPercentage",
        cors_policy: CorsPolicy = rare "corsPolicy",
        headers: Headers = rare "headers",
    }
    HttpMatch {
        name: String = rare "name",
        uri: StringMatch = rare "uri",
        scheme: StringMatch = rare "scheme",
        method: StringMatch = rare "method",
        authority: StringMatch = rare "authority",
        headers: Map<StringMatch> = rare "headers",
        port: Int = rare "port",
        source_labels: Map<String> = rare "sourceLabels",
        gateways: List<String> = rare "gateways",
        query_params: Map<StringMatch> = rare "queryParams",
        ignore_uri_case: Bool = rare "ignoreUriCase",
        without_headers: Map<StringMatch> = rare "withoutHeaders",
        source_namespace: String = rare "sourceNamespace",
        stat_prefix: String = rare "statPrefix",
    }
    StringMatch {
        exact: String = rare "exact",
        prefix: String = rare "prefix",
        regex: String = rare "regex",
    }
    HttpRouteDestination {
        destination: Destination = "destination",
        weight: Int = rare "weight",
        headers: Headers = rare "headers",
    }
    Destination {
        host: String = "host",
        subset: String = rare "subset",
        port: PortSelector = rare "port",
    }
    HttpRedirect {
        uri: String = "uri",
        authority: String = "authority",
        port: Int = "port",
        derive_port: RedirectPort = "derivePort",
        scheme: String = "scheme",
        redirect_code: Int = "redirectCode",
        prefix_rewrite: String = "prefixRewrite",
    }
    DirectResponse {
        status: Int = "status",
        body: HttpBody = "body",
    }
    HttpBody {
        string: String = "string",
        bytes: String = "bytes",
    }
    Delegate {
        name: String = "name",
        namespace: String = "namespace",
    }
    HttpRewrite {
        uri: String = "uri",
        authority: String = "authority",
        uri_regex_rewrite: RegexRewrite = rare "uriRegexRewrite",
    }
    RegexRewrite {
        pattern: String = "match",
        rewrite: String = "rewrite",
    }
    HttpRetry {
        attempts: Int = "attempts",
        per_try_timeout: Duration = "perTryTimeout",
        retry_on: String = "retryOn",
        retry_remote_localities: Bool = "retryRemoteLocalities",
        retry_ignore_previous_hosts: Bool = "retryIgnorePreviousHosts",
        backoff: Duration = "backoff",
    }
    FaultInjection {
        delay: FaultDelay = "delay",
        abort: FaultAbort = "abort",
    }
    FaultDelay {
        percent: Int = "percent",
        fixed_delay: Duration = "fixedDelay",
        exponential_delay: Duration = "exponentialDelay",
        percentage: Percent = "percentage",
    }
    FaultAbort {
        http_status: Int = "httpStatus",
        grpc_status: String = "grpcStatus",
        http2_error: String = "http2Error",
        percentage: Percent = "percentage",
    }
    Percent {
        value: Number = "value",
    }
    HttpMirrorPolicy {
        destination: Destination = "destination",
        percentage: Percent = "percentage",
    }
    CorsPolicy {
        allow_origin: List<String> = "allowOrigin",
        allow_origins: List<StringMatch> = "allowOrigins",
        allow_methods: List<String> = "allowMethods",
        allow_headers: List<String> = "allowHeaders",
        expose_headers: List<String> = "exposeHeaders",
        max_age: Duration = "maxAge",
        allow_credentials: Bool = "allowCredentials",
        unmatched_preflights: UnmatchedPreflights = "unmatchedPreflights",
    }
    Headers {
        request: HeaderOperations = "request",
        response: HeaderOperations = "response",
    }
    HeaderOperations {
        set: Map<String> = "set",
        add: Map<String> = "add",
        remove: List<String> = "remove",
    }
    TlsRoute {
        matches: List<TlsMatch> = "match",
        route: List<RouteDestination> = "route",
    }
    TlsMatch {
        sni_hosts: List<String> = "sniHosts",
        destination_subnets: List<String> = rare "destinationSubnets",
        port: Int = rare "port",
        source_labels: Map<String> = rare "sourceLabels",
        gateways: List<String> = rare "gateways",
        source_namespace: String = rare "sourceNamespace",
    }
    TcpRoute {
        matches: List<L4Match> = "match",
        route: List<RouteDestination> = "route",
    }
    L4Match {
        destination_subnets: List<String> = rare "destinationSubnets",
        port: Int = rare "port",
        source_subnet: String = rare "sourceSubnet",
        source_labels: Map<String> = rare "sourceLabels",
        gateways: List<String> = rare "gateways",
        source_namespace: String = rare "sourceNamespace",
    }
    RouteDestination {
        destination: Destination = "destination",
        weight: Int = "weight",
    }
}

enumeration! {
    RedirectPort { FromProtocolDefault = "FROM_PROTOCOL_DEFAULT", FromRequestPort = "FROM_REQUEST_PORT" }
    UnmatchedPreflights { Unspecified = "UNSPECIFIED", Forward = "FORWARD", Ignore = "IGNORE" }
}
