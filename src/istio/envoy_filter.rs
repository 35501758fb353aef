//! `EnvoyFilter`, as far as it tells what it touches; the configuration it patches in stays opaque.

use super::decode::{List, enumeration, message};
use super::service::WorkloadSelector;
use super::value::{Int, Opaque};

message! {
    EnvoyFilter {
        workload_selector: WorkloadSelector = "workloadSelector",
        target_refs: List<TargetRef> = "targetRefs",
        config_patches: List<ConfigPatch> = "configPatches",
        priority: Int = "priority",
    }
    TargetRef {
        group: String = "group",
        kind: String = "kind",
        name: String = "name",
        namespace: String = "namespace",
    }
    ConfigPatch {
        apply_to: ApplyTo = "applyTo",
        matches: Box<PatchMatch> = "match",
        patch: Patch = "patch",
    }
    PatchMatch {
        context: PatchContext = "context",
        cluster: ClusterMatch = "cluster",
        listener: ListenerMatch = "listener",
        route_configuration: RouteConfigurationMatch = "routeConfiguration",
        waypoint: Opaque = "waypoint",
        proxy: ProxyMatch = "proxy",
    }
    ProxyMatch {
        proxy_version: String = "proxyVersion",
    }
    ClusterMatch {
        port_number: Int = "portNumber",
        service: String = "service",
        subset: String = "subset",
        name: String = "name",
    }
    ListenerMatch {
        port_number: Int = "portNumber",
        port_name: String = "portName",
        filter_chain: FilterChainMatch = "filterChain",
        name: String = "name",
    }
    FilterChainMatch {
        name: String = "name",
        sni: String = "sni",
        filter: FilterMatch = "filter",
    }
    FilterMatch {
        name: String = "name",
        sub_filter: SubFilterMatch = "subFilter",
    }
    SubFilterMatch {
        name: String = "name",
    }
    RouteConfigurationMatch {
        port_number: Int = "portNumber",
        port_name: String = "portName",
        gateway: String = "gateway",
        vhost: VirtualHostMatch = "vhost",
        name: String = "name",
    }
    VirtualHostMatch {
        name: String = "name",
        domain_name: String = "domainName",
    }
    Patch {
        operation: PatchOperation = "operation",
        value: Opaque = "value",
    }
}

enumeration! {
    ApplyTo {
        Invalid = "INVALID",
        Listener = "LISTENER",
        FilterChain = "FILTER_CHAIN",
        NetworkFilter = "NETWORK_FILTER",
        HttpFilter = "HTTP_FILTER",
        RouteConfiguration = "ROUTE_CONFIGURATION",
        VirtualHost = "VIRTUAL_HOST",
        HttpRoute = "HTTP_ROUTE",
        Cluster = "CLUSTER",
        ExtensionConfig = "EXTENSION_CONFIG",
        Bootstrap = "BOOTSTRAP",
        ListenerFilter = "LISTENER_FILTER",
    }
    PatchContext {
        Any = "ANY",
        SidecarInbound = "SIDECAR_INBOUND",
        SidecarOutbound = "SIDECAR_OUTBOUND",
        Gateway = "GATEWAY",
        Waypoint = "WAYPOINT",
    }
    PatchOperation {
        Invalid = "INVALID",
        Merge = "MERGE",
        Add = "ADD",
        Remove = "REMOVE",
        InsertBefore = "INSERT_BEFORE",
        InsertAfter = "INSERT_AFTER",
        InsertFirst = "INSERT_FIRST",
        Replace = "REPLACE",
        MergeAndReplaceList = "MERGE_AND_REPLACE_LIST",
    }
}
