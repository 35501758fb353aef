//! `Sidecar`.

use std::collections::{BTreeMap, HashMap};

use smol_str::SmolStr;

use super::super::proxy::{
    CaptureMode, OutboundMode, OutboundTrafficPolicy, ServerTlsMode, Sidecar, SidecarEgress,
    SidecarIngress, SidecarPort,
};
use super::super::{Items, List};
use super::host::{domain_fault, is_address, socket_fault};
use super::{
    Review, also, connection_pool, labels, port, refusal, route_destination, server_tls, warning,
};
use crate::istio::wording::listed;
use crate::source::{Span, Spanned};

pub(super) fn check(sidecar: &Sidecar, spec_key: Span, review: &mut Review<'_>) {
    if let Some(selector) = &sidecar.workload_selector {
        labels::check_selector(selector.key, selector.labels.as_ref(), review);
    }
    let empty = sidecar.egress.items().is_empty()
        && sidecar.ingress.items().is_empty()
        && sidecar.outbound_traffic_policy.is_none()
        && sidecar.inbound_connection_pool.is_none();
    if empty {
        let span = sidecar
            .egress
            .as_ref()
            .map_or(spec_key, |egress| egress.key);
        review.push(
            refusal(span, "the Sidecar sets nothing").help(
                "set `egress`, `ingress`, `outboundTrafficPolicy` or `inboundConnectionPool`",
            ),
        );
    }
    let mut ports = HashMap::new();
    for listener in sidecar.ingress.items() {
        check_ingress(listener, &mut ports, review);
    }
    connection_pool::check(sidecar.inbound_connection_pool.as_deref(), review);
    check_egress(sidecar.egress.items(), review);
    if let Some(policy) = &sidecar.outbound_traffic_policy {
        check_outbound(policy, review);
    }
}

fn check_ingress(
    listener: &SidecarIngress,
    ports: &mut HashMap<i64, Span>,
    review: &mut Review<'_>,
) {
    let Some(port) = &listener.port else { return };
    check_target_port(port, review);
    check_port_name(port, review);
    port::check_protocol(port.protocol.as_ref(), review);
    match &port.number {
        Some(number) => port::check_number(number, review),
        None => {
            review.push(refusal(port.key, "the listener's port needs a `number`").absent("number"))
        }
    }
    check_bind_address(listener.bind.as_ref(), review);
    check_distinct(port, ports, review);
    if let Some(endpoint) = listener
        .default_endpoint
        .as_ref()
        .filter(|endpoint| !endpoint.is_empty())
    {
        check_default_endpoint(endpoint, review);
    }
    check_ingress_tls(listener, review);
    connection_pool::check(listener.connection_pool.as_deref(), review);
}

fn check_ingress_tls(listener: &SidecarIngress, review: &mut Review<'_>) {
    let Some(tls) = &listener.tls else { return };
    let text = |value: &Option<Spanned<SmolStr>>| {
        value.as_ref().filter(|it| !it.is_empty()).map(|it| it.key)
    };
    let list = |value: &Option<Spanned<List<SmolStr>>>| {
        value.as_ref().filter(|it| !it.is_empty()).map(|it| it.key)
    };
    let certificates = tls
        .tls_certificates
        .as_ref()
        .filter(|it| !it.is_empty())
        .map(|it| it.key);
    for (name, key) in [
        ("subjectAltNames", list(&tls.subject_alt_names)),
        (
            "httpsRedirect",
            tls.https_redirect
                .as_ref()
                .filter(|it| it.value)
                .map(|it| it.key),
        ),
        ("credentialName", text(&tls.credential_name)),
        ("credentialNames", list(&tls.credential_names)),
        ("tlsCertificates", certificates),
    ] {
        if let Some(key) = key {
            review.push(refusal(
                key,
                format!("the TLS of a Sidecar's listener knows no `{name}`"),
            ));
        }
    }
    if let Some(mode) = &tls.mode
        && matches!(
            mode.value,
            ServerTlsMode::IstioMutual | ServerTlsMode::AutoPassthrough
        )
    {
        review.push(refusal(
            mode.span,
            format!(
                "the TLS of a Sidecar's listener knows no mode `{}`",
                mode.name()
            ),
        ));
    }
    server_tls::check_protocol(
        listener
            .port
            .as_ref()
            .and_then(|port| port.protocol.as_ref()),
        tls.key,
        review,
    );
    server_tls::check(tls, review);
}

/// `127.0.0.1:8080`, `[::1]:8080`, `:8080`, `unix:///path`.
fn check_default_endpoint(endpoint: &Spanned<SmolStr>, review: &mut Review<'_>) {
    if let Some(path) = endpoint.strip_prefix("unix://") {
        if let Some(fault) = socket_fault(path) {
            review.push(refusal(
                endpoint.span,
                format!("`{path}` is no Unix socket: {fault}"),
            ));
        }
        return;
    }
    let parts = match endpoint.strip_prefix('[') {
        Some(rest) => rest.split_once("]:"),
        None => endpoint
            .rsplit_once(':')
            .filter(|(host, _)| !host.contains(':')),
    };
    let local = |host: &str| matches!(host, "" | "127.0.0.1" | "0.0.0.0" | "::1" | "::");
    let number = |text: &str| text.parse::<i64>().is_ok_and(port::is_number);
    if !parts.is_some_and(|(host, number_text)| local(host) && number(number_text)) {
        review.push(
            refusal(endpoint.span, format!("`{}` is no endpoint of the same pod", endpoint.value))
                .help("write `127.0.0.1:PORT`, `0.0.0.0:PORT`, `[::1]:PORT`, `[::]:PORT` or `unix:///PATH`"),
        );
    }
}

fn check_egress(listeners: &[Spanned<SidecarEgress>], review: &mut Review<'_>) {
    let mut ports = HashMap::new();
    let mut sockets: HashMap<&str, Span> = HashMap::new();
    for (index, listener) in listeners.iter().enumerate() {
        match &listener.port {
            None if index + 1 < listeners.len() => review.push(
                refusal(
                    listener.key,
                    "an egress listener without `port` must be the last one",
                )
                .absent("port")
                .help("move it to the end: it takes what no other listener takes"),
            ),
            None => {}
            Some(port) => {
                check_target_port(port, review);
                check_port_name(port, review);
                port::check_protocol(port.protocol.as_ref(), review);
                if port.number.as_ref().is_none_or(|number| number.value == 0) {
                    check_socket_listener(listener, port, &mut sockets, review);
                } else {
                    if let Some(number) = &port.number {
                        port::check_number(number, review);
                    }
                    check_bind_address(listener.bind.as_ref(), review);
                    check_distinct(port, &mut ports, review);
                }
            }
        }
        if let Some(hosts) = listener.hosts.as_ref().filter(|hosts| hosts.is_empty()) {
            review.push(
                refusal(hosts.span, "an egress listener needs at least one host")
                    .help("write `*/*` for all"),
            );
        }
        for host in listener.hosts.items() {
            super::namespaced_host::check_sidecar(host, review);
        }
        check_repeated(listener.hosts.items(), review);
    }
}

/// The root namespace that nearly every mesh has.
const ROOT: &str = "istio-system";

/// Hosts that another entry of the listener has imported, too.
///
/// Of the root namespace the webhook warns too often: there `.` is the namespace of each workload, as
/// `pilot/pkg/model/push_context.go` has it.
fn check_repeated(hosts: &[Spanned<SmolStr>], review: &mut Review<'_>) {
    let own = review.namespace.filter(|own| *own != ROOT);
    let parts = |host: &'_ Spanned<SmolStr>| {
        // What `~` begins takes away.
        let (namespace, name) = host
            .value
            .split_once('/')
            .filter(|(namespace, _)| !namespace.starts_with('~'))?;
        let namespace = match namespace {
            "." => own.unwrap_or("."),
            named => named,
        };
        Some((namespace.to_owned(), name.to_owned()))
    };
    let mut first: HashMap<(String, String), Span> = HashMap::new();
    for host in hosts {
        if let Some(parts) = parts(host) {
            first.entry(parts).or_insert(host.span);
        }
    }
    let mut narrower: BTreeMap<Span, Vec<&Spanned<SmolStr>>> = BTreeMap::new();
    for host in hosts {
        let Some((namespace, name)) = parts(host) else {
            continue;
        };
        let all = |namespace: &str| first.get(&(namespace.to_owned(), "*".to_owned()));
        let same = first.get(&(namespace.clone(), name));
        let wider = all("*").or(all(&namespace)).or(same);
        if let Some(wider) = wider.filter(|wider| **wider != host.span) {
            narrower.entry(*wider).or_default().push(host);
        }
    }
    for (wider, hosts) in narrower {
        let Some((host, rest)) = hosts.split_first() else {
            continue;
        };
        let names = listed(hosts.iter().map(|it| it.as_str()));
        let (text, help) = match rest.len() {
            0 => (
                format!("{names} adds nothing to what the listener imports"),
                "remove it, or the wider entry if only some hosts are meant",
            ),
            _ => (
                format!("{names} add nothing to what the listener imports"),
                "remove them, or the wider entry if only some hosts are meant",
            ),
        };
        let finding = warning(host.span, text).because(wider, "imports it already");
        let places = rest.iter().map(|it| it.span);
        review.push(also(finding, places, "nor does this one").help(help));
    }
}

/// Without a number it listens on a Unix socket.
fn check_socket_listener<'s>(
    listener: &'s SidecarEgress,
    port: &Spanned<SidecarPort>,
    sockets: &mut HashMap<&'s str, Span>,
    review: &mut Review<'_>,
) {
    let span = listener.bind.as_ref().map_or(port.key, |bind| bind.span);
    let bind = listener.bind.as_ref().map_or("", |bind| bind.as_str());
    match bind.strip_prefix("unix://") {
        None => review.push(
            refusal(
                span,
                "a listener whose port has no number must `bind` to a Unix socket",
            )
            .help("give the port a `number`, or set `bind` to `unix:///PATH`"),
        ),
        Some(path) => {
            if let Some(fault) = socket_fault(path) {
                review.push(refusal(
                    span,
                    format!("`{path}` is no Unix socket: {fault}"),
                ));
            }
        }
    }
    let first = *sockets.entry(bind).or_insert(span);
    if first != span {
        review.push(
            refusal(span, format!("two listeners bind to `{bind}`"))
                .because(first, "the other one")
                .help("bind to different sockets"),
        );
    }
    if let Some(mode) = listener
        .capture_mode
        .as_ref()
        .filter(|mode| mode.value == CaptureMode::Iptables)
    {
        review.push(
            refusal(
                mode.span,
                "a listener on a Unix socket cannot capture with `IPTABLES`",
            )
            .help("write `DEFAULT` or `NONE`"),
        );
    }
}

fn check_target_port(port: &SidecarPort, review: &mut Review<'_>) {
    if let Some(target) = port.target_port.as_ref().filter(|target| target.value > 0) {
        review.push(
            refusal(target.span, "`targetPort` has no meaning in a Sidecar").help("remove it"),
        );
    }
}

fn check_port_name(port: &SidecarPort, review: &mut Review<'_>) {
    if let Some(name) = port.name.as_ref().filter(|name| !name.is_empty()) {
        port::check_name(name, review);
    }
}

fn check_bind_address(bind: Option<&Spanned<SmolStr>>, review: &mut Review<'_>) {
    if let Some(bind) = bind.filter(|bind| !bind.is_empty() && !is_address(bind)) {
        review.push(refusal(
            bind.span,
            format!("`{}` is no IP address", bind.value),
        ));
    }
}

fn check_distinct(
    port: &Spanned<SidecarPort>,
    ports: &mut HashMap<i64, Span>,
    review: &mut Review<'_>,
) {
    let (number, span) = port
        .number
        .as_ref()
        .map_or((0, port.key), |number| (number.value, number.span));
    let first = *ports.entry(number).or_insert(span);
    if first != span {
        review.push(
            refusal(span, format!("two listeners have the port `{number}`"))
                .because(first, "the other one"),
        );
    }
}

fn check_outbound(policy: &Spanned<OutboundTrafficPolicy>, review: &mut Review<'_>) {
    let Some(proxy) = &policy.egress_proxy else {
        return;
    };
    if policy.mode.as_ref().map(|mode| mode.value) != Some(OutboundMode::AllowAny) {
        let finding = refusal(proxy.key, "`egressProxy` needs the mode `ALLOW_ANY`")
            .help("set `mode: ALLOW_ANY`");
        review.push(match &policy.mode {
            Some(mode) => finding.because(mode.span, "this mode"),
            None => finding.because(policy.key, "without `mode` it is `REGISTRY_ONLY`"),
        });
        return;
    }
    if let Some(host) = &proxy.host
        && let Some(fault) = domain_fault(host)
    {
        review.push(refusal(
            host.span,
            format!("`{}` is no host: {fault}", host.value),
        ));
    }
    if proxy.port.is_none() {
        review.push(refusal(proxy.key, "`egressProxy` needs a `port`").absent("port"));
        return;
    }
    route_destination::check(proxy, review);
}
