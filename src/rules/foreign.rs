//! Protocols that Istio does not know, and that other controllers make HTTP-like rules for.

use crate::egress::service::Port;

const FOREIGN: [&str; 4] = ["brpc", "dubbo", "metaprotocol", "thrift"];

/// Whether the name of the port says such a protocol.
pub(super) fn is_foreign(port: &Port<'_>) -> bool {
    port.name.split('-').any(|part| FOREIGN.contains(&part))
}
