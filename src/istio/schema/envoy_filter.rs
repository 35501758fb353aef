//! `EnvoyFilter`.

use super::workload::SELECTOR;
use super::{
    ANY_OBJECT, INT32, LABELS, PORT, Rule, STRING, Schema, UINT32, cel, field, list, meta, object,
    words,
};

pub(super) static OBJECT: Schema = object(&meta::fields(field("spec", SPEC))).rules(meta::RULES);

const SPEC: Schema = object(&[
    field("configPatches", list(&CONFIG_PATCH)),
    field("priority", INT32),
    field("targetRefs", list(&TARGET_REF).size(0, 16)),
    field("workloadSelector", SELECTOR),
])
.rules(&[Rule::AtMostOne(&["workloadSelector", "targetRefs"])]);

const TARGET_REF: Schema = object(&[
    field(
        "group",
        STRING.size(0, 253).rules(&[Rule::Cel(cel::group_name)]),
    ),
    field(
        "kind",
        STRING.size(1, 63).rules(&[Rule::Cel(cel::kind_name)]),
    )
    .required(),
    field("name", STRING.size(1, 253)).required(),
    field("namespace", STRING.rules(&[Rule::Cel(cel::empty)])),
])
.rules(&[Rule::Cel(cel::target_kind)]);

const CONFIG_PATCH: Schema = object(&[
    field(
        "applyTo",
        words(&[
            "INVALID",
            "LISTENER",
            "FILTER_CHAIN",
            "NETWORK_FILTER",
            "HTTP_FILTER",
            "ROUTE_CONFIGURATION",
            "VIRTUAL_HOST",
            "HTTP_ROUTE",
            "CLUSTER",
            "EXTENSION_CONFIG",
            "BOOTSTRAP",
            "LISTENER_FILTER",
        ]),
    ),
    field("match", MATCH),
    field("patch", PATCH),
]);

const PATCH: Schema = object(&[
    field(
        "filterClass",
        words(&["UNSPECIFIED", "AUTHN", "AUTHZ", "STATS"]),
    ),
    field("operation", words(OPERATIONS)).until(31),
    field("operation", words(OPERATIONS_FROM_31)).since(31),
    field("value", ANY_OBJECT),
]);

const OPERATIONS: &[&str] = &[
    "INVALID",
    "MERGE",
    "ADD",
    "REMOVE",
    "INSERT_BEFORE",
    "INSERT_AFTER",
    "INSERT_FIRST",
    "REPLACE",
];

const OPERATIONS_FROM_31: &[&str] = &[
    "INVALID",
    "MERGE",
    "ADD",
    "REMOVE",
    "INSERT_BEFORE",
    "INSERT_AFTER",
    "INSERT_FIRST",
    "REPLACE",
    "MERGE_AND_REPLACE_LIST",
];

const FILTER: Schema = object(&[
    field("name", STRING),
    field("subFilter", object(&[field("name", STRING)])),
]);

const MATCH: Schema = object(&[
    field(
        "cluster",
        object(&[
            field("name", STRING),
            field("portNumber", UINT32),
            field("service", STRING),
            field("subset", STRING),
        ]),
    ),
    field(
        "context",
        words(&["ANY", "SIDECAR_INBOUND", "SIDECAR_OUTBOUND", "GATEWAY"]),
    )
    .until(29),
    field(
        "context",
        words(&[
            "ANY",
            "SIDECAR_INBOUND",
            "SIDECAR_OUTBOUND",
            "GATEWAY",
            "WAYPOINT",
        ]),
    )
    .since(29),
    field("listener", LISTENER),
    field(
        "proxy",
        object(&[field("metadata", LABELS), field("proxyVersion", STRING)]),
    ),
    field("routeConfiguration", ROUTE_CONFIGURATION),
    field("waypoint", WAYPOINT).since(29),
])
.rules(&[
    Rule::AtMostOne(&["listener", "routeConfiguration", "cluster", "waypoint"]),
    Rule::Cel(cel::waypoint_in_its_context),
]);

const LISTENER: Schema = object(&[
    field(
        "filterChain",
        object(&[
            field("applicationProtocols", STRING),
            field("destinationPort", UINT32),
            field("filter", FILTER),
            field("name", STRING),
            field("sni", STRING),
            field("transportProtocol", STRING),
            field("transportSocket", STRING).since(32),
        ]),
    ),
    field("listenerFilter", STRING),
    field("name", STRING),
    field("portName", STRING),
    field("portNumber", UINT32),
]);

const ROUTE_CONFIGURATION: Schema = object(&[
    field("gateway", STRING),
    field("name", STRING),
    field("portName", STRING),
    field("portNumber", UINT32),
    field("vhost", VIRTUAL_HOST),
]);

const VIRTUAL_HOST: Schema = object(&[
    field("domainName", STRING).since(25),
    field("name", STRING),
    field(
        "route",
        object(&[
            field(
                "action",
                words(&["ANY", "ROUTE", "REDIRECT", "DIRECT_RESPONSE"]),
            ),
            field("name", STRING),
        ]),
    ),
]);

const WAYPOINT: Schema = object(&[
    field("filter", FILTER),
    field("portNumber", PORT),
    field("route", object(&[field("name", STRING)])),
]);
