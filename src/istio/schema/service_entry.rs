//! `ServiceEntry`.

use super::workload::{ENTRY, SELECTOR};
use super::{PORT, Rule, STRING, STRINGS, Schema, cel, field, list, meta, object, words};

pub(super) static OBJECT: Schema =
    object(&meta::fields(field("spec", SPEC).required())).rules(meta::RULES);

const SPEC: Schema = object(&[
    field("addresses", list(&STRING.size(0, 64)).size(0, 256)),
    field("endpoints", list(&ENDPOINT).size(0, 4096)),
    field("exportTo", STRINGS),
    field("hosts", list(&HOST).size(1, 256)).required(),
    field("location", words(&["MESH_EXTERNAL", "MESH_INTERNAL"])),
    field(
        "ports",
        list(&SERVICE_PORT)
            .size(0, 256)
            .keyed_by("name")
            .rules(&[Rule::Cel(cel::distinct_ports)]),
    ),
    field(
        "resolution",
        words(&["NONE", "STATIC", "DNS", "DNS_ROUND_ROBIN"]),
    )
    .until(28),
    field(
        "resolution",
        words(&["NONE", "STATIC", "DNS", "DNS_ROUND_ROBIN", "DYNAMIC_DNS"]),
    )
    .since(28),
    field("subjectAltNames", STRINGS),
    field("workloadSelector", SELECTOR),
])
.rules(&[
    Rule::AtMostOne(&["workloadSelector", "endpoints"]),
    Rule::Cel(cel::cidr_needs_fixed_addresses),
    Rule::Cel(cel::none_has_no_endpoints),
    Rule::Cel(cel::one_endpoint_in_round_robin),
]);

const HOST: Schema = STRING.rules(&[Rule::Cel(cel::host_is_no_lone_wildcard)]);

const ENDPOINT: Schema = ENTRY.rules(&[
    Rule::Cel(cel::address_or_network),
    Rule::Cel(cel::socket_without_ports),
]);

const SERVICE_PORT: Schema = object(&[
    field("name", STRING.size(0, 256)).required(),
    field("number", PORT).required(),
    field("protocol", STRING.size(0, 256)),
    field("targetPort", PORT),
]);
