//! What a host name stands for: `ServiceEntry`, `WorkloadEntry`, `WorkloadGroup`, and the Kubernetes `Service`.

use std::net::IpAddr;

use smol_str::SmolStr;

use super::decode::{Items, List, Map, enumeration, message};
use super::value::{Int, IntOrString};

message! {
    ServiceEntry {
        hosts: List<SmolStr> = "hosts",
        addresses: List<SmolStr> = rare "addresses",
        ports: List<ServicePort> = "ports",
        location: Location = "location",
        resolution: Resolution = "resolution",
        endpoints: List<WorkloadEntry> = rare "endpoints",
        workload_selector: WorkloadSelector = rare "workloadSelector",
        export_to: List<SmolStr> = rare "exportTo",
        subject_alt_names: List<SmolStr> = rare "subjectAltNames",
    }
    ServicePort {
        number: Int = "number",
        protocol: SmolStr = "protocol",
        name: SmolStr = "name",
        target_port: Int = rare "targetPort",
    }
    WorkloadSelector {
        labels: Map<SmolStr> = "labels",
    }
    WorkloadEntry {
        address: SmolStr = "address",
        ports: Map<Int> = rare "ports",
        labels: Map<SmolStr> = "labels",
        network: SmolStr = rare "network",
        locality: SmolStr = rare "locality",
        weight: Int = rare "weight",
        service_account: SmolStr = rare "serviceAccount",
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

impl ServiceEntry {
    /// The one name under `endpoints`: what DNS is asked for in place of the hosts.
    pub fn stand_in(&self) -> Option<&str> {
        let [endpoint] = self.endpoints.items() else {
            return None;
        };
        let address = endpoint.value.address.as_ref()?.value.as_str();
        let is_name = !address.contains('/') && address.parse::<IpAddr>().is_err();
        is_name.then_some(address)
    }
}

message! {
    /// The parts of a Kubernetes `Service` that decide where traffic goes. Its other fields are not ours to judge.
    KubeService {
        cluster_ip: SmolStr = rare "clusterIP",
        cluster_ips: List<SmolStr> = rare "clusterIPs",
        service_type: SmolStr = rare "type",
        external_name: SmolStr = rare "externalName",
        selector: Map<SmolStr> = "selector",
        ports: List<KubeServicePort> = "ports",
        traffic_distribution: SmolStr = rare "trafficDistribution",
    }
    KubeServicePort {
        name: SmolStr = "name",
        port: Int = "port",
        target_port: IntOrString = "targetPort",
        protocol: SmolStr = "protocol",
        app_protocol: SmolStr = rare "appProtocol",
    }
}
