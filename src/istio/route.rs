//! `VirtualService`.

use super::decode::{List, Map, enumeration, message};
use super::value::{Bool, Duration, Int, Number, PortSelector};

message! {
    VirtualService {
        hosts: List<String> = "hosts",
        gateways: List<String> = "gateways",
        http: List<HttpRoute> = "http",
        tls: List<TlsRoute> = "tls",
        tcp: List<TcpRoute> = "tcp",
        export_to: List<String> = "exportTo",
    }
    HttpRoute {
        name: String = "name",
        matches: List<HttpMatch> = "match",
        route: List<HttpRouteDestination> = "route",
        redirect: Box<HttpRedirect> = "redirect",
        direct_response: Box<DirectResponse> = "directResponse",
        delegate: Box<Delegate> = "delegate",
        rewrite: Box<HttpRewrite> = "rewrite",
        timeout: Duration = "timeout",
        retries: Box<HttpRetry> = "retries",
        fault: Box<FaultInjection> = "fault",
        mirror: Box<Destination> = "mirror",
        mirrors: List<HttpMirrorPolicy> = "mirrors",
        mirror_percent: Int = "mirrorPercent" | "mirror_percent",
        mirror_percentage: Percent = "mirrorPercentage",
        cors_policy: Box<CorsPolicy> = "corsPolicy",
        headers: Box<Headers> = "headers",
    }
    HttpMatch {
        name: String = "name",
        uri: Box<StringMatch> = "uri",
        scheme: Box<StringMatch> = "scheme",
        method: Box<StringMatch> = "method",
        authority: Box<StringMatch> = "authority",
        headers: Map<StringMatch> = "headers",
        port: Int = "port",
        source_labels: Map<String> = "sourceLabels",
        gateways: List<String> = "gateways",
        query_params: Map<StringMatch> = "queryParams",
        ignore_uri_case: Bool = "ignoreUriCase",
        without_headers: Map<StringMatch> = "withoutHeaders",
        source_namespace: String = "sourceNamespace",
        stat_prefix: String = "statPrefix",
    }
    StringMatch {
        exact: String = "exact",
        prefix: String = "prefix",
        regex: String = "regex",
    }
    HttpRouteDestination {
        destination: Destination = "destination",
        weight: Int = "weight",
        headers: Box<Headers> = "headers",
    }
    Destination {
        host: String = "host",
        subset: String = "subset",
        port: PortSelector = "port",
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
        uri_regex_rewrite: RegexRewrite = "uriRegexRewrite",
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
        destination_subnets: List<String> = "destinationSubnets",
        port: Int = "port",
        source_labels: Map<String> = "sourceLabels",
        gateways: List<String> = "gateways",
        source_namespace: String = "sourceNamespace",
    }
    TcpRoute {
        matches: List<L4Match> = "match",
        route: List<RouteDestination> = "route",
    }
    L4Match {
        destination_subnets: List<String> = "destinationSubnets",
        port: Int = "port",
        source_subnet: String = "sourceSubnet",
        source_labels: Map<String> = "sourceLabels",
        gateways: List<String> = "gateways",
        source_namespace: String = "sourceNamespace",
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
