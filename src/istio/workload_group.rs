//! `WorkloadGroup`: what the machines of one service have in common.

use super::decode::{Map, message};
use super::service::WorkloadEntry;

message! {
    WorkloadGroup {
        metadata: WorkloadMetadata = "metadata",
        template: Box<WorkloadEntry> = "template",
    }
    WorkloadMetadata {
        labels: Map<String> = "labels",
        annotations: Map<String> = "annotations",
    }
}
