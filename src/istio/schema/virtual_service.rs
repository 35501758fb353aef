//! `VirtualService`.

use super::{
    BOOL, DOUBLE, DURATION, INT32, LABELS, PORT_SELECTOR, Rule, STRING, STRINGS, Schema, UINT32,
    cel, field, list, map, meta, object, words,
};

pub(super) static OBJECT: Schema = object(&meta::fields(field("spec", SPEC))).rules(meta::RULES);

const SPEC: Schema = object(&[
    field("exportTo", STRINGS),
    field("gateways", STRINGS),
    field("hosts", STRINGS),
    field("http", list(&HTTP)),
    field("tcp", list(&TCP)),
    field("tls", list(&TLS)),
]);

const HTTP: Schema = object(&[
    field("corsPolicy", CORS),
    field(
        "delegate",
        object(&[field("name", STRING), field("namespace", STRING)]),
    ),
    field("directResponse", DIRECT_RESPONSE),
    field(
        "fault",
        object(&[field("abort", ABORT), field("delay", DELAY)]),
    ),
    field("headers", HEADERS),
    field("match", list(&HTTP_MATCH)),
    field("mirror", DESTINATION),
    field("mirrorPercent", UINT32.nullable()),
    field("mirrorPercentage", PERCENT),
    field("mirror_percent", UINT32.nullable()),
    field(
        "mirrors",
        list(&object(&[
            field("destination", DESTINATION).required(),
            field("percentage", PERCENT),
        ])),
    ),
    field("name", STRING),
    field("redirect", REDIRECT),
    field("retries", RETRIES),
    field("rewrite", REWRITE),
    field("route", list(&HTTP_ROUTE)),
    field("timeout", DURATION),
]);

const CORS: Schema = object(&[
    field("allowCredentials", BOOL.nullable()),
    field("allowHeaders", STRINGS),
    field("allowMethods", STRINGS),
    field("allowOrigin", STRINGS),
    field("allowOrigins", list(&STRING_MATCH)),
    field("exposeHeaders", STRINGS),
    field("maxAge", DURATION),
    field(
        "unmatchedPreflights",
        words(&["UNSPECIFIED", "FORWARD", "IGNORE"]),
    ),
]);

const STRING_MATCH: Schema = object(&[
    field("exact", STRING),
    field("prefix", STRING),
    field("regex", STRING),
])
.rules(&[Rule::AtMostOne(&["exact", "prefix", "regex"])]);

const DIRECT_RESPONSE: Schema = object(&[
    field(
        "body",
        object(&[
            field("bytes", STRING).until(29),
            field("bytes", STRING.rules(&[Rule::Cel(cel::base64)])).since(29),
            field("string", STRING),
        ])
        .rules(&[Rule::AtMostOne(&["string", "bytes"])]),
    ),
    field("status", UINT32).required(),
]);

const ABORT: Schema = object(&[
    field("grpcStatus", STRING),
    field("http2Error", STRING),
    field("httpStatus", INT32),
    field("percentage", PERCENT),
])
.rules(&[Rule::AtMostOne(&["httpStatus", "grpcStatus", "http2Error"])]);

const DELAY: Schema = object(&[
    field("exponentialDelay", DURATION),
    field("fixedDelay", DURATION),
    field("percent", INT32),
    field("percentage", PERCENT),
])
.rules(&[Rule::AtMostOne(&["fixedDelay", "exponentialDelay"])]);

const PERCENT: Schema = object(&[field("value", DOUBLE)]);

const HEADERS: Schema = object(&[
    field("request", HEADER_OPERATIONS),
    field("response", HEADER_OPERATIONS),
]);

const HEADER_OPERATIONS: Schema = object(&[
    field("add", LABELS),
    field("remove", STRINGS),
    field("set", LABELS),
]);

const HTTP_MATCH: Schema = object(&[
    field("authority", STRING_MATCH),
    field("gateways", STRINGS),
    field("headers", map(&STRING_MATCH)),
    field("ignoreUriCase", BOOL),
    field("method", STRING_MATCH),
    field("name", STRING),
    field("port", UINT32),
    field("queryParams", map(&STRING_MATCH)),
    field("scheme", STRING_MATCH),
    field("sourceLabels", LABELS),
    field("sourceNamespace", STRING),
    field("statPrefix", STRING),
    field("uri", STRING_MATCH),
    field("withoutHeaders", map(&STRING_MATCH)),
]);

const REDIRECT: Schema = object(&[
    field("authority", STRING),
    field(
        "derivePort",
        words(&["FROM_PROTOCOL_DEFAULT", "FROM_REQUEST_PORT"]),
    ),
    field("port", UINT32),
    field("prefixRewrite", STRING).since(31),
    field("redirectCode", UINT32),
    field("scheme", STRING),
    field("uri", STRING),
])
.rules(&[Rule::AtMostOne(&["port", "derivePort"])]);

pub(super) const RETRIES: Schema = object(&[
    field("attempts", INT32),
    field("backoff", DURATION).since(26),
    field("perTryTimeout", DURATION),
    field("retryIgnorePreviousHosts", BOOL.nullable()).since(26),
    field("retryOn", STRING),
    field("retryRemoteLocalities", BOOL.nullable()),
]);

const REWRITE: Schema = object(&[
    field("authority", STRING),
    field("uri", STRING),
    field(
        "uriRegexRewrite",
        object(&[field("match", STRING), field("rewrite", STRING)]),
    ),
]);

const HTTP_ROUTE: Schema = object(&[
    field("destination", DESTINATION).required(),
    field("headers", HEADERS),
    field("weight", INT32),
]);

pub(super) const DESTINATION: Schema = object(&[
    field("host", STRING).required(),
    field("port", PORT_SELECTOR),
    field("subset", STRING),
]);

const ROUTE: Schema = list(&object(&[
    field("destination", DESTINATION).required(),
    field("weight", INT32),
]));

const TCP: Schema = object(&[
    field(
        "match",
        list(&object(&[
            field("destinationSubnets", STRINGS),
            field("gateways", STRINGS),
            field("port", UINT32),
            field("sourceLabels", LABELS),
            field("sourceNamespace", STRING),
            field("sourceSubnet", STRING),
        ])),
    ),
    field("route", ROUTE),
]);

const TLS: Schema = object(&[
    field(
        "match",
        list(&object(&[
            field("destinationSubnets", STRINGS),
            field("gateways", STRINGS),
            field("port", UINT32),
            field("sniHosts", STRINGS).required(),
            field("sourceLabels", LABELS),
            field("sourceNamespace", STRING),
        ])),
    )
    .required(),
    field("route", ROUTE),
]);
