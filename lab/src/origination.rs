//! What `trace` says of the TLS of a cluster, as Envoy's transport socket.

use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use crate::bootstrap::set;

/// The cluster of the agent that hands over certificates. Nobody answers there: what the lab has, Envoy reads from files.
pub(crate) const AGENT: &str = "sds-grpc";

/// The transport socket of a cluster; `None` where nothing is encrypted. `system` is the file with the authorities that
/// the system trusts.
pub(crate) fn transport_socket(facts: &Value, system: &Path) -> anyhow::Result<Option<Value>> {
    let tls = &facts["tls"];
    // Without the label of a sidecar an endpoint gets plain text from automatic mutual TLS.
    if tls.is_null() || tls["auto"] == true {
        return Ok(None);
    }
    if !matches!(tls["mode"].as_str(), Some("SIMPLE" | "MUTUAL")) {
        bail!("there are no certificates of the mesh here: {tls}");
    }
    let mut common = json!({
        // Istio's versions; without them Envoy stops at 1.2.
        "tls_params": {"tls_minimum_protocol_version": "TLSv1_2", "tls_maximum_protocol_version": "TLSv1_3"},
        "alpn_protocols": tls["alpn"],
    });
    match tls["ca"].as_str() {
        Some(secret) => common["validation_context"] = validation(secret, &tls["sans"], system)?,
        None => common["validation_context"] = json!({}),
    }
    if let Some(secret) = tls["client_certificate"].as_str() {
        let (name, value) = client_certificate(secret)?;
        common[name] = json!([value]);
    }
    let mut context = json!({
        "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
        "common_tls_context": common,
    });
    set(&mut context, [("sni", tls["sni"].clone())]);
    Ok(Some(json!({
        "name": "envoy.transport_sockets.tls",
        "typed_config": context,
    })))
}

fn validation(secret: &str, sans: &Value, system: &Path) -> anyhow::Result<Value> {
    let file = secret.strip_prefix("file-root:");
    let file = match file.with_context(|| format!("`{secret}` is no file"))? {
        "system" => system,
        file => Path::new(file),
    };
    let sans = sans.as_array().into_iter().flatten();
    let names: Vec<Value> = sans.map(|name| json!({"exact": name})).collect();
    Ok(json!({"trusted_ca": {"filename": file}, "match_subject_alt_names": names}))
}

/// The field of the context, and its value: the files, or where they are not there the secret that never comes.
fn client_certificate(secret: &str) -> anyhow::Result<(&'static str, Value)> {
    let files = secret.strip_prefix("file-cert:");
    let files = files.and_then(|files| files.split_once('~'));
    let (certificate, key) = files.with_context(|| format!("`{secret}` is no file"))?;
    if Path::new(certificate).exists() && Path::new(key).exists() {
        let files = json!({"certificate_chain": {"filename": certificate}, "private_key": {"filename": key}});
        return Ok(("tls_certificates", files));
    }
    let agent = json!({
        "api_type": "GRPC",
        "transport_api_version": "V3",
        "grpc_services": [{"envoy_grpc": {"cluster_name": AGENT}}],
    });
    let config = json!({"resource_api_version": "V3", "api_config_source": agent});
    Ok((
        "tls_certificate_sds_secret_configs",
        json!({"name": secret, "sds_config": config}),
    ))
}

/// The agent, where nobody listens.
pub(crate) fn agent() -> Value {
    json!({
        "name": AGENT,
        "type": "STATIC",
        "connect_timeout": "1s",
        "load_assignment": {
            "cluster_name": AGENT,
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"pipe": {"path": "/nobody/listens/here"}}}}]}],
        },
        "typed_extension_protocol_options": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
                "explicit_http_config": {"http2_protocol_options": {}},
            },
        },
    })
}
