//! `WorkloadGroup`: what the machines of one service have in common.

use smol_str::SmolStr;

use super::decode::{List, Map, message};
use super::service::WorkloadEntry;

message! {
    WorkloadGroup {
        metadata: WorkloadMetadata = "metadata",
        template: WorkloadEntry = rare "template",
        probe: ReadinessProbe = "probe",
    }
    WorkloadMetadata {
        labels: Map<SmolStr> = "labels",
        annotations: Map<SmolStr> = "annotations",
    }
    /// The way it asks; how often does not matter here.
    ReadinessProbe {
        http_get: HttpProbe = "httpGet",
        tcp_socket: TcpProbe = "tcpSocket",
        exec: ExecProbe = "exec",
    }
    HttpProbe {
        http_headers: List<ProbeHeader> = "httpHeaders",
    }
    ProbeHeader {
        name: SmolStr = "name",
    }
    TcpProbe {
        host: SmolStr = "host",
    }
    ExecProbe {
        command: List<SmolStr> = "command",
    }
}
