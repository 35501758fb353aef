//! `WorkloadEntry`, which is also an endpoint of a `ServiceEntry`; `WorkloadGroup`; selectors of workloads.

use super::{
    LABELS, PORT, Rule, STRING, Schema, UINT32, cel, field, integer, list, map, meta, object,
};

pub(super) static ENTRY_OBJECT: Schema =
    object(&meta::fields(field("spec", SPEC).required())).rules(meta::RULES);

const SPEC: Schema = ENTRY.rules(&[
    Rule::Cel(cel::address_or_network),
    Rule::Cel(cel::socket_without_ports),
]);

pub(super) const ENTRY: Schema = object(&[
    field(
        "address",
        STRING.size(0, 256).rules(&[Rule::Cel(cel::socket_path)]),
    ),
    field("labels", LABELS.size(0, 256)),
    field("locality", STRING.size(0, 2048)),
    field("network", STRING.size(0, 2048)),
    field(
        "ports",
        map(&PORT).size(0, 128).rules(&[Rule::Cel(cel::port_names)]),
    ),
    field("serviceAccount", STRING.size(0, 253)),
    field("weight", UINT32),
]);

/// `workloadSelector` of all kinds but `DestinationRule`.
pub(super) const SELECTOR: Schema = object(&[field("labels", map(&LABEL_VALUE).size(0, 256))]);

const LABEL_VALUE: Schema = STRING.size(0, 63).rules(&[Rule::Cel(cel::no_wildcard)]);

pub(super) const MATCH_LABELS: Schema = object(&[field(
    "matchLabels",
    map(&LABEL_VALUE)
        .size(0, 4096)
        .rules(&[Rule::Cel(cel::label_keys)]),
)]);

pub(super) static GROUP_OBJECT: Schema =
    object(&meta::fields(field("spec", GROUP).required())).rules(meta::RULES);

const GROUP: Schema = object(&[
    field(
        "metadata",
        object(&[
            field("annotations", LABELS.size(0, 256)),
            field("labels", LABELS.size(0, 256)),
        ]),
    ),
    field("probe", PROBE),
    field(
        "template",
        ENTRY.rules(&[Rule::Cel(cel::socket_without_ports)]),
    )
    .required(),
]);

const COUNT: Schema = integer(0, i32::MAX as i64);

const PROBE: Schema = object(&[
    field(
        "exec",
        object(&[field("command", list(&STRING.size(1, usize::MAX))).required()]),
    ),
    field("failureThreshold", COUNT),
    field(
        "grpc",
        object(&[field("port", PORT), field("service", STRING)]),
    )
    .since(25),
    field("httpGet", HTTP_PROBE),
    field("initialDelaySeconds", COUNT),
    field("periodSeconds", COUNT),
    field("successThreshold", COUNT),
    field(
        "tcpSocket",
        object(&[field("host", STRING), field("port", PORT).required()]),
    ),
    field("timeoutSeconds", COUNT),
])
.rules(&[Rule::AtMostOne(&["httpGet", "tcpSocket", "exec", "grpc"])]);

const HTTP_PROBE: Schema = object(&[
    field("host", STRING),
    field(
        "httpHeaders",
        list(&object(&[
            field("name", STRING.rules(&[Rule::Cel(cel::header_name)])),
            field("value", STRING),
        ])),
    ),
    field("path", STRING),
    field("port", PORT).required(),
    field("scheme", STRING.rules(&[Rule::Cel(cel::http_scheme)])),
]);
