//! What a host name stands for: `ServiceEntry`, `WorkloadEntry`, `WorkloadGroup`, and the Kubernetes `Service`.

use super::decode::{List, Map, enumeration, message};
use super::value::{Int, IntOrString};

message! {
    ServiceEntry {
        hosts: List<String> = "hosts",
        addresses: List<String> = rare "addresses",
        ports: List<ServicePort> = "ports",
        location: Location = "location",
        resolution: Resolution = "resolution",
        endpoints: List<WorkloadEntry> = rare "endpoints",
        workload_selector: WorkloadSelector = rare "workloadSelector",
        export_to: List<String> = rare "exportTo",
        subject_alt_names: List<String> = rare "subjectAltNames",
    }
    ServicePort {
        number: Int = "number",
        protocol: String = "protocol",
        name: String = "name",
        target_port: Int = rare "targetPort",
    }
    WorkloadSelector {
        labels: Map<String> = "labels",
    }
    WorkloadEntry {
        address: String = "address",
        ports: Map<Int> = rare "ports",
        labels: Map<String> = "labels",
        network: String = rare "network",
        locality: String = rare "locality",
        weight: Int = rare "weight",
        service_account: String = rare "serviceAccount",
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
        cluster_ip: String = rare "clusterIP",
        cluster_ips: List<String> = rare "clusterIPs",
        service_type: String = rare "type",
        external_name: String = rare "externalName",
        selector: Map<String> = "selector",
        ports: List<KubeServicePort> = "ports",
    }
    KubeServicePort {
        name: String = "name",
        port: Int = "port",
        target_port: IntOrString = "targetPort",
        protocol: String = "protocol",
        app_protocol: String = rare "appProtocol",
    }
}
