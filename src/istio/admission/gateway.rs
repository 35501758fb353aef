//! `Gateway`.

use std::collections::HashMap;

use super::super::Items;
use super::super::proxy::{Gateway, GatewayPort, Server, ServerTlsMode};
use super::host::{is_address, is_label, socket_fault};
use super::{Review, namespaced_host, port, refusal, server_tls, warning};
use crate::source::{Span, Spanned};

pub(super) fn check(gateway: &Gateway, spec_key: Span, review: &mut Review<'_>) {
    if let Some(name) = review.meta.name.as_ref().filter(|name| !is_label(name)) {
        review.push(
            refusal(
                name.span,
                format!("`{}` is no name of a Gateway", name.value),
            )
            .help("use letters, digits and inner `-`, at most 63"),
        );
    }
    if gateway.servers.items().is_empty() {
        review.push(match &gateway.servers {
            Some(servers) => refusal(servers.span, "the Gateway has no servers"),
            None => refusal(spec_key, "the Gateway has no servers").absent("servers"),
        });
    }
    let mut names: HashMap<&str, Span> = HashMap::new();
    for server in gateway.servers.items() {
        check_server(server, review);
        let Some(name) = server.port.as_ref().and_then(|port| port.name.as_ref()) else {
            continue;
        };
        let first = *names.entry(name.as_str()).or_insert(name.span);
        if first != name.span {
            review.push(
                refusal(
                    name.span,
                    format!("two servers have the port name `{}`", name.value),
                )
                .because(first, "the other one")
                .help("give each server's port its own name"),
            );
        }
    }
}

fn check_server(server: &Spanned<Server>, review: &mut Review<'_>) {
    if let Some(hosts) = server.hosts.as_ref().filter(|hosts| hosts.is_empty()) {
        review.push(refusal(hosts.span, "the server has no hosts").help("write `*` for all"));
    }
    for host in server.hosts.items() {
        namespaced_host::check_gateway(host, review);
    }
    let socket = server
        .bind
        .as_ref()
        .and_then(|bind| bind.strip_prefix("unix://"));
    if let Some(tls) = &server.tls {
        server_tls::check(tls, review);
    }
    let Some(port) = &server.port else { return };
    let right = check_port(port, socket.is_some(), review);
    check_bind(server, port, socket, review);
    if right {
        check_protocol_and_tls(server, port, review);
    }
}

/// Whether nothing is wrong with it.
fn check_port(port: &Spanned<GatewayPort>, socket: bool, review: &mut Review<'_>) -> bool {
    let before = review.findings.len();
    if let Some(protocol) = &port.protocol
        && port::protocol(protocol).is_none()
    {
        review.push(
            refusal(protocol.span, format!("`{}` is no protocol that Istio knows", protocol.value))
                .help("write one of `HTTP`, `HTTP2`, `GRPC`, `GRPC-Web`, `HTTPS`, `TLS`, `TCP`, `Mongo`, `MySQL`, `Redis`"),
        );
    }
    if let Some(number) = port
        .number
        .as_ref()
        .filter(|number| number.value > 0 || !socket)
    {
        port::check_number(number, review);
    }
    if let Some(target) = port.target_port.as_ref().filter(|target| target.value > 0) {
        review.push(
            refusal(target.span, "`targetPort` has no meaning in a Gateway")
                .help("remove it: the Service of the gateway has it"),
        );
    }
    if let Some(name) = port.name.as_ref().filter(|name| name.is_empty()) {
        review.push(refusal(name.span, "the port needs a name"));
    }
    review.findings.len() == before
}

fn check_bind(server: &Server, port: &GatewayPort, socket: Option<&str>, review: &mut Review<'_>) {
    let Some(bind) = server.bind.as_ref().filter(|bind| !bind.is_empty()) else {
        return;
    };
    match socket {
        Some(path) => {
            if let Some(fault) = socket_fault(path) {
                review.push(refusal(
                    bind.span,
                    format!("`{path}` is no Unix socket: {fault}"),
                ));
            }
            if let Some(number) = port.number.as_ref().filter(|number| number.value != 0) {
                review.push(
                    refusal(number.span, "the port of a Unix socket must be 0")
                        .because(bind.span, "a Unix socket"),
                );
            }
        }
        None if !is_address(bind) => {
            review.push(refusal(
                bind.span,
                format!(
                    "`{}` is neither an IP address nor a Unix socket",
                    bind.value
                ),
            ));
        }
        None => {}
    }
}

fn check_protocol_and_tls(server: &Server, port: &GatewayPort, review: &mut Review<'_>) {
    let Some(written) = &port.protocol else {
        return;
    };
    let protocol = port::protocol(written);
    match &server.tls {
        None if port::is_tls(protocol) => review.push(
            refusal(
                written.span,
                format!("a server for `{}` needs `tls`", written.value),
            )
            .help("add `tls`, with `mode: PASSTHROUGH` where the gateway should not decrypt"),
        ),
        Some(tls) if port::is_http(protocol) => {
            // For plain HTTP `tls` can only redirect.
            let mode = tls.mode.as_ref().map(|mode| mode.value).unwrap_or_default();
            let file = [
                &tls.ca_certificates,
                &tls.private_key,
                &tls.server_certificate,
            ];
            let certificates = file.into_iter().flatten().any(|file| !file.is_empty());
            let passes = matches!(
                mode,
                ServerTlsMode::Passthrough | ServerTlsMode::AutoPassthrough
            );
            if !passes || certificates {
                review.push(
                    refusal(
                        tls.key,
                        format!("a server for `{}` does not do TLS", written.value),
                    )
                    .because(written.span, "plain HTTP")
                    .help("set the protocol to `HTTPS`, or remove `tls`"),
                );
            }
        }
        Some(tls) => {
            server_tls::check_protocol(Some(written), tls.key, review);
            let redirect = tls.https_redirect.as_ref().filter(|it| it.value);
            if let Some(redirect) = redirect {
                review.push(
                    warning(redirect.key, "`httpsRedirect` is for plain HTTP: nothing arrives here that it could redirect")
                        .because(written.span, "this protocol")
                        .help("set it at the server for `HTTP`"),
                );
            }
        }
        None => {}
    }
}
