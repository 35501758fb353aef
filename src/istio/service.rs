//! What a host name stands for: `ServiceEntry`, `WorkloadEntry`, `WorkloadGroup`, and the Kubernetes `Service`.

use super::decode::{List, Map, enumeration, message};
use super::value::{Int, IntOrString};

message! {
    ServiceEntry {
        hosts: List<String> = "hosts",
        addresses: List<String> = "addresses",
        ports: List<ServicePort> = "ports",
        location: Location = "location",
        resolution: Resolution = "resolution",
        endpoints: List<WorkloadEntry> = "endpoints",
        workload_selector: WorkloadSelector = "workloadSelector",
        export_to: List<String> = "exportTo",
        subject_alt_names: List<String> = "subjectAltNames",
    }
    ServicePort {
        number: Int = "number",
        protocol: String = "protocol",
        name: String = "name",
        target_port: Int = "targetPort",
    }
    WorkloadSelector {
        labels: Map<String> = "labels",
    }
    WorkloadEntry {
        address: String = "address",
        ports: Map<Int> = "ports",
        labels: Map<String> = "labels",
        network: String = "network",
        locality: String = "locality",
        weight: Int = "weight",
        service_account: String = "serviceAccount",
    }
}

enumeration! {
    Location { MeshExternal = "MESH_EXTERNAL", MeshInternal = "MESH_INTERNAL" }
    Resolution {
        None = "NONE",
        Static = "STATIC",
        Dns = "DNS",
        DnsRoundRobin = "DNS_ROUND_ROBIN",
        DynamicDns = "DYNAMIC_DNS",
    }
}

message! {
    /// The parts of a Kubernetes `Service` that decide where traffic goes. Its other fields are not ours to judge.
    KubeService {
        cluster_ip: String = "clusterIP",
        cluster_ips: List<String> = "clusterIPs",
        service_type: String = "type",
        external_name: String = "externalName",
        selector: Map<String> = "selector",
        ports: List<KubeServicePort> = "ports",
    }
    KubeServicePort {
        name: String = "name",
        port: Int = "port",
        target_port: IntOrString = "targetPort",
        protocol: String = "protocol",
        app_protocol: String = "appProtocol",
    }
}
