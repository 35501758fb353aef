//! `EnvoyFilter`, as far as it tells what it touches; the configuration it patches in stays opaque.

use smol_str::SmolStr;

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
        group: SmolStr = "group",
        kind: SmolStr = "kind",
        name: SmolStr = "name",
        namespace: SmolStr = "namespace",
    }
    ConfigPatch {
        apply_to: ApplyTo = "applyTo",
        matches: PatchMatch = rare "match",
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
        proxy_version: SmolStr = "proxyVersion",
    }
    ClusterMatch {
        port_number: Int = "portNumber",
        service: SmolStr = "service",
        subset: SmolStr = "subset",
        name: SmolStr = "name",
    }
    ListenerMatch {
        port_number: Int = "portNumber",
        port_name: SmolStr = "portName",
        filter_chain: FilterChainMatch = "filterChain",
        name: SmolStr = "name",
    }
    FilterChainMatch {
        name: SmolStr = "name",
        sni: SmolStr = "sni",
        filter: FilterMatch = "filter",
    }
    FilterMatch {
        name: SmolStr = "name",
        sub_filter: SubFilterMatch = "subFilter",
    }
    SubFilterMatch {
        name: SmolStr = "name",
    }
    RouteConfigurationMatch {
        port_number: Int = "portNumber",
        port_name: SmolStr = "portName",
        gateway: SmolStr = "gateway",
        vhost: VirtualHostMatch = "vhost",
        name: SmolStr = "name",
    }
    VirtualHostMatch {
        name: SmolStr = "name",
        domain_name: SmolStr = "domainName",
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
