//! `Sidecar`.

use super::destination_rule::CONNECTION_POOL;
use super::gateway::SERVER_TLS;
use super::virtual_service::DESTINATION;
use super::workload::SELECTOR;
use super::{STRING, STRINGS, Schema, UINT32, field, list, meta, object, words};

pub(super) static OBJECT: Schema = object(&meta::fields(field("spec", SPEC))).rules(meta::RULES);

const SPEC: Schema = object(&[
    field("egress", list(&EGRESS)),
    field("inboundConnectionPool", CONNECTION_POOL),
    field("ingress", list(&INGRESS)),
    field("outboundTrafficPolicy", OUTBOUND),
    field("workloadSelector", SELECTOR),
]);

const OUTBOUND: Schema = object(&[
    field("egressProxy", DESTINATION),
    field("mode", words(&["REGISTRY_ONLY", "ALLOW_ANY"])),
]);

const EGRESS: Schema = object(&[
    field("bind", STRING),
    field("captureMode", CAPTURE_MODE),
    field("hosts", STRINGS).required(),
    field("port", PORT),
]);

const INGRESS: Schema = object(&[
    field("bind", STRING),
    field("captureMode", CAPTURE_MODE),
    field("connectionPool", CONNECTION_POOL),
    field("defaultEndpoint", STRING),
    field("port", PORT).required(),
    field("tls", SERVER_TLS),
]);

const CAPTURE_MODE: Schema = words(&["DEFAULT", "IPTABLES", "NONE"]);

const PORT: Schema = object(&[
    field("name", STRING),
    field("number", UINT32),
    field("protocol", STRING),
    field("targetPort", UINT32),
]);
