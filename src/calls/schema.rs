//! What a file with calls looks like.

use std::collections::BTreeMap;

use schemars::JsonSchema;

use crate::egress::facts::Speaks;

/// JSON Schema of a file with calls.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(File).to_value()
}

/// Calls to ask about.
#[derive(JsonSchema)]
#[schemars(title = "egress-lint calls", deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "only its type is published")]
    calls: Vec<Call>,
}

/// A connection or request that a client makes.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its type is published")]
struct Call {
    client: Option<Client>,
    /// What `Host` or SNI carries.
    host: String,
    /// The port that the client connects to; of a gateway, that of the listener on the pod.
    #[schemars(range(min = 1, max = 65535))]
    port: u32,
    protocol: Speaks,
    /// The IP that the client connects to; without it, one that no resource names.
    address: Option<String>,
    /// Of an HTTP request.
    path: Option<String>,
}

/// Who calls; without a namespace, one that is unknown.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its type is published")]
struct Client {
    namespace: Option<String>,
    labels: Option<BTreeMap<String, String>>,
    proxy: Option<Proxy>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its type is published")]
enum Proxy {
    Sidecar,
    Gateway,
}
