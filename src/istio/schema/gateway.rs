//! `Gateway`.

use super::{
    BOOL, LABELS, Rule, STRING, STRINGS, Schema, UINT32, field, list, meta, object, words,
};

pub(super) static OBJECT: Schema = object(&meta::fields(field("spec", SPEC))).rules(meta::RULES);

const SPEC: Schema = object(&[field("selector", LABELS), field("servers", list(&SERVER))]);

const SERVER: Schema = object(&[
    field("bind", STRING),
    field("defaultEndpoint", STRING),
    field("hosts", STRINGS).required(),
    field("name", STRING),
    field("port", PORT).required(),
    field("tls", SERVER_TLS),
]);

const PORT: Schema = object(&[
    field("name", STRING).required(),
    field("number", UINT32).required(),
    field("protocol", STRING).required(),
    field("targetPort", UINT32),
]);

const TLS_VERSION: Schema = words(&["TLS_AUTO", "TLSV1_0", "TLSV1_1", "TLSV1_2", "TLSV1_3"]);

pub(super) const SERVER_TLS: Schema = object(&[
    field("caCertCredentialName", STRING).since(28),
    field("caCertificates", STRING),
    field("caCrl", STRING),
    field("cipherSuites", STRINGS),
    field("credentialName", STRING),
    field("credentialNames", list(&STRING).size(1, 2)).since(26),
    field("ecdhCurves", STRINGS).since(32),
    field("httpsRedirect", BOOL),
    field("insecureSkipVerify", BOOL.nullable()).since(31),
    field("maxProtocolVersion", TLS_VERSION),
    field("minProtocolVersion", TLS_VERSION),
    field(
        "mode",
        words(&[
            "PASSTHROUGH",
            "SIMPLE",
            "MUTUAL",
            "AUTO_PASSTHROUGH",
            "ISTIO_MUTUAL",
            "OPTIONAL_MUTUAL",
        ]),
    ),
    field("privateKey", STRING),
    field("serverCertificate", STRING),
    field("subjectAltNames", STRINGS),
    field("tlsCertificates", list(&CERTIFICATE).size(1, 2)).since(26),
    field("verifyCertificateHash", STRINGS),
    field("verifyCertificateSpki", STRINGS),
])
// Istio writes a third rule, which repeats the first.
.rules(&[
    Rule::AtMostOne(&["tlsCertificates", "credentialNames"]),
    Rule::AtMostOne(&["credentialName", "credentialNames"]),
]);

const CERTIFICATE: Schema = object(&[
    field("caCertificates", STRING),
    field("privateKey", STRING),
    field("serverCertificate", STRING),
]);
