//! `VirtualService`.

use smol_str::SmolStr;

use super::decode::{List, Map, enumeration, message};
use super::value::{Bool, Duration, Int, Number, PortSelector};

message! {
    VirtualService {
        hosts: List<SmolStr> = "hosts",
        gateways: List<SmolStr> = rare "gateways",
        http: List<HttpRoute> = "http",
        tls: List<TlsRoute> = rare "tls",
        tcp: List<TcpRoute> = rare "tcp",
        export_to: List<SmolStr> = rare "exportTo",
    }
    HttpRoute {
        name: SmolStr = rare "name",
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
        name: SmolStr = rare "name",
        uri: StringMatch = rare "uri",
        scheme: StringMatch = rare "scheme",
        method: StringMatch = rare "method",
        authority: StringMatch = rare "authority",
        headers: Map<StringMatch> = rare "headers",
        port: Int = rare "port",
        source_labels: Map<SmolStr> = rare "sourceLabels",
        gateways: List<SmolStr> = rare "gateways",
        query_params: Map<StringMatch> = rare "queryParams",
        ignore_uri_case: Bool = rare "ignoreUriCase",
        without_headers: Map<StringMatch> = rare "withoutHeaders",
        source_namespace: SmolStr = rare "sourceNamespace",
        stat_prefix: SmolStr = rare "statPrefix",
    }
    StringMatch {
        exact: SmolStr = rare "exact",
        prefix: SmolStr = rare "prefix",
        regex: SmolStr = rare "regex",
    }
    HttpRouteDestination {
        destination: Destination = "destination",
        weight: Int = rare "weight",
        headers: Headers = rare "headers",
    }
    Destination {
        host: SmolStr = "host",
        subset: SmolStr = rare "subset",
        port: PortSelector = rare "port",
    }
    HttpRedirect {
        uri: SmolStr = "uri",
        authority: SmolStr = "authority",
        port: Int = "port",
        derive_port: RedirectPort = "derivePort",
        scheme: SmolStr = "scheme",
        redirect_code: Int = "redirectCode",
        prefix_rewrite: SmolStr = "prefixRewrite",
    }
    DirectResponse {
        status: Int = "status",
        body: HttpBody = "body",
    }
    HttpBody {
        string: SmolStr = "string",
        bytes: SmolStr = "bytes",
    }
    Delegate {
        name: SmolStr = "name",
        namespace: SmolStr = "namespace",
    }
    HttpRewrite {
        uri: SmolStr = "uri",
        authority: SmolStr = "authority",
        uri_regex_rewrite: RegexRewrite = rare "uriRegexRewrite",
    }
    RegexRewrite {
        pattern: SmolStr = "match",
        rewrite: SmolStr = "rewrite",
    }
    HttpRetry {
        attempts: Int = "attempts",
        per_try_timeout: Duration = "perTryTimeout",
        retry_on: SmolStr = "retryOn",
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
        grpc_status: SmolStr = "grpcStatus",
        http2_error: SmolStr = "http2Error",
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
        allow_origin: List<SmolStr> = "allowOrigin",
        allow_origins: List<StringMatch> = "allowOrigins",
        allow_methods: List<SmolStr> = "allowMethods",
        allow_headers: List<SmolStr> = "allowHeaders",
        expose_headers: List<SmolStr> = "exposeHeaders",
        max_age: Duration = "maxAge",
        allow_credentials: Bool = "allowCredentials",
        unmatched_preflights: UnmatchedPreflights = "unmatchedPreflights",
    }
    Headers {
        request: HeaderOperations = "request",
        response: HeaderOperations = "response",
    }
    HeaderOperations {
        set: Map<SmolStr> = "set",
        add: Map<SmolStr> = "add",
        remove: List<SmolStr> = "remove",
    }
    TlsRoute {
        matches: List<TlsMatch> = "match",
        route: List<RouteDestination> = "route",
    }
    TlsMatch {
        sni_hosts: List<SmolStr> = "sniHosts",
        destination_subnets: List<SmolStr> = rare "destinationSubnets",
        port: Int = rare "port",
        source_labels: Map<SmolStr> = rare "sourceLabels",
        gateways: List<SmolStr> = rare "gateways",
        source_namespace: SmolStr = rare "sourceNamespace",
    }
    TcpRoute {
        matches: List<L4Match> = "match",
        route: List<RouteDestination> = "route",
    }
    L4Match {
        destination_subnets: List<SmolStr> = rare "destinationSubnets",
        port: Int = rare "port",
        source_subnet: SmolStr = rare "sourceSubnet",
        source_labels: Map<SmolStr> = rare "sourceLabels",
        gateways: List<SmolStr> = rare "gateways",
        source_namespace: SmolStr = rare "sourceNamespace",
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
