//! The CEL rules of the CRDs, one function each.

use std::collections::HashMap;

use super::check::Checker;
use crate::diag::Diagnostic;
use crate::istio::service::Resolution;
use crate::istio::version::IstioVersion;
use crate::source::Span;
use crate::yaml::{Entry, Kind, Node, Scalar};

pub(super) fn port<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    if let Some(Scalar::Int(value)) = node.scalar()
        && !(1..=65535).contains(&value)
    {
        at.push(at.refusal(
            node.span(),
            &format!("`{{}}` must be a port from 1 to 65535, not `{value}`"),
        ));
    }
}

pub(super) fn distinct_ports<'t>(ports: Node<'t>, at: &mut Checker<'t>) {
    let mut seen: HashMap<i64, Span> = HashMap::new();
    for item in ports.items() {
        let Some(value) = has(item, "number").map(|entry| entry.value) else {
            continue;
        };
        let Some(Scalar::Int(number)) = value.scalar() else {
            continue;
        };
        let first = *seen.entry(number).or_insert(value.span());
        if first != value.span() {
            let finding = at.refusal(value.span(), &format!("the port `{number}` is given twice"));
            let finding = finding.because(first, "first given here");
            at.push(finding.help("keep one of them: a port carries one protocol"));
        }
    }
}

pub(super) fn host_is_no_lone_wildcard<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    if node.as_str().is_some_and(|text| text == "*") {
        let finding = at.refusal(node.span(), "a ServiceEntry cannot stand for the host `*`");
        at.push(finding.help("name a domain, as in `*.example.com`"));
    }
}

/// The resolution of a `ServiceEntry`, and where it is said.
fn resolution<'t>(spec: Node<'t>) -> (String, Option<Entry<'t>>) {
    let entry = has(spec, "resolution");
    let text = entry.as_ref().and_then(|entry| entry.value.as_str());
    (
        text.map_or_else(|| "NONE".to_owned(), |text| text.into_owned()),
        entry,
    )
}

fn because_of_resolution(finding: Diagnostic, resolution: Option<Entry<'_>>) -> Diagnostic {
    match resolution {
        Some(entry) => finding.because(entry.value.span(), "this resolution"),
        None => finding,
    }
}

pub(super) fn cidr_needs_fixed_addresses<'t>(spec: Node<'t>, at: &mut Checker<'t>) {
    let (resolution, entry) = resolution(spec);
    // Another word than one of these was meant to be one, which is said there.
    let resolves = Resolution::NAMES.contains(&&*resolution);
    if !resolves || matches!(&*resolution, "NONE" | "STATIC") {
        return;
    }
    let Some(addresses) = has(spec, "addresses") else {
        return;
    };
    let range = |node: &Node<'_>| node.as_str().is_some_and(|text| text.contains('/'));
    if let Some(item) = addresses.value.items().find(range) {
        let text = item.as_str().unwrap_or_default();
        let text =
            format!("`{text}` is a range, which the resolution `{resolution}` does not allow");
        let finding = because_of_resolution(at.refusal(item.span(), &text), entry);
        at.push(finding.help("list single addresses, or set `resolution` to `NONE` or `STATIC`"));
    }
}

pub(super) fn none_has_no_endpoints<'t>(spec: Node<'t>, at: &mut Checker<'t>) {
    let (resolution, entry) = resolution(spec);
    let Some(endpoints) = has(spec, "endpoints").filter(|_| resolution == "NONE") else {
        return;
    };
    if entry.is_none() && at.misspells("resolution") {
        return;
    }
    let text = match entry {
        Some(_) => "the resolution `NONE` allows no `endpoints`",
        None => "without `resolution` it is `NONE`, which allows no `endpoints`",
    };
    let finding = because_of_resolution(at.refusal(endpoints.key.span(), text), entry);
    at.push(finding.help(
        "set `resolution` to `STATIC` for addresses or to `DNS` for names, or remove `endpoints`",
    ));
}

pub(super) fn one_endpoint_in_round_robin<'t>(spec: Node<'t>, at: &mut Checker<'t>) {
    let (resolution, entry) = resolution(spec);
    let Some(endpoints) = has(spec, "endpoints").filter(|_| resolution == "DNS_ROUND_ROBIN") else {
        return;
    };
    let count = endpoints.value.items().count();
    if count > 1 {
        let text = format!("the resolution `DNS_ROUND_ROBIN` allows one endpoint, not {count}");
        let mut finding = because_of_resolution(at.refusal(endpoints.key.span(), &text), entry);
        finding.rule = "dns-round-robin-endpoints";
        at.push(
            finding
                .help("set `resolution` to `DNS`, which uses all endpoints, or keep one endpoint"),
        );
    }
}

pub(super) fn address_or_network<'t>(endpoint: Node<'t>, at: &mut Checker<'t>) {
    if has(endpoint, "address").is_none() && has(endpoint, "network").is_none() {
        at.push(at.lack("address", "`{}` has neither an `address` nor a `network`"));
    }
}

pub(super) fn socket_without_ports<'t>(endpoint: Node<'t>, at: &mut Checker<'t>) {
    let address = has(endpoint, "address").map(|entry| entry.value);
    if let Some(address) =
        address.filter(|it| it.as_str().is_some_and(|text| text.starts_with("unix://")))
        && let Some(ports) = has(endpoint, "ports")
    {
        let finding = at.refusal(ports.key.span(), "a Unix socket has no `ports`");
        at.push(
            finding
                .because(address.span(), "the socket")
                .help("remove `ports`"),
        );
    }
}

pub(super) fn socket_path<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    let Some(text) = node.as_str() else { return };
    let Some(path) = text.strip_prefix("unix://") else {
        return;
    };
    if !path.starts_with(['/', '@']) {
        at.push(at.refusal(
            node.span(),
            &format!("the Unix socket `{path}` must begin with `/` or `@`"),
        ));
    } else if path.ends_with('/') {
        at.push(at.refusal(
            node.span(),
            &format!("the Unix socket `{path}` is a folder"),
        ));
    }
}

pub(super) fn port_names<'t>(ports: Node<'t>, at: &mut Checker<'t>) {
    for entry in ports.entries().filter(|entry| !is_port_name(&entry.name)) {
        let finding = at.refusal(
            entry.key.span(),
            &format!("`{}` is no port name", entry.name),
        );
        at.push(finding.help("use letters, digits and inner `-`, at most 62"));
    }
}

fn is_port_name(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..63).contains(&name.len())
        && name.bytes().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

pub(super) fn no_wildcard<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    if let Some(text) = node.as_str().filter(|text| text.contains('*')) {
        at.push(at.refusal(
            node.span(),
            &format!("a selector knows no wildcard: `{text}`"),
        ));
    }
}

pub(super) fn label_keys<'t>(labels: Node<'t>, at: &mut Checker<'t>) {
    for entry in labels.entries() {
        if entry.name.is_empty() {
            at.push(at.refusal(entry.key.span(), "a selector's label needs a name"));
        } else if entry.name.contains('*') {
            at.push(at.refusal(
                entry.key.span(),
                &format!("a selector knows no wildcard: `{}`", entry.name),
            ));
        }
    }
}

pub(super) fn http_scheme<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    if let Some(text) = node
        .as_str()
        .filter(|text| !matches!(&**text, "" | "HTTP" | "HTTPS"))
    {
        at.push(at.refusal(
            node.span(),
            &format!("`{{}}` must be `HTTP` or `HTTPS`, not `{text}`"),
        ));
    }
}

pub(super) fn header_name<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    let right = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if let Some(text) = node
        .as_str()
        .filter(|text| text.is_empty() || !text.bytes().all(right))
    {
        at.push(at.refusal(node.span(), &format!("`{text}` is no header name")));
    }
}

pub(super) fn base64<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    if node.as_str().is_some_and(|text| !is_base64(&text)) {
        at.push(at.refusal(node.span(), "`{}` is not base64"));
    }
}

/// As Go's standard encoding, which passes over line ends.
fn is_base64(text: &str) -> bool {
    let digits: Vec<u8> = text
        .bytes()
        .filter(|byte| !matches!(byte, b'\r' | b'\n'))
        .collect();
    let padding = digits
        .iter()
        .rev()
        .take_while(|byte| **byte == b'=')
        .count();
    let right = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    digits.len().is_multiple_of(4) && padding <= 2 && digits.iter().rev().skip(padding).all(right)
}

pub(super) fn empty<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    if let Some(text) = node.as_str().filter(|text| !text.is_empty()) {
        let text =
            format!("`{{}}` must be empty, not `{text}`: what is targeted is in the own namespace");
        at.push(at.refusal(node.span(), &text));
    }
}

pub(super) fn group_name<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    let right = |text: &str| text.is_empty() || text.split('.').all(is_lower_label);
    if let Some(text) = node.as_str().filter(|text| !right(text)) {
        at.push(at.refusal(node.span(), &format!("`{text}` is no API group")));
    }
}

/// An object has a name, or a beginning from which the API server makes one.
pub(super) fn named_object<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    let metadata = node.get("metadata").filter(|it| !it.value.is_null());
    let Some(metadata) = metadata else {
        at.push(at.lack("metadata", "`metadata.name` is missing"));
        return;
    };
    let is_set = |name| {
        metadata
            .value
            .get(name)
            .is_some_and(|it| !it.value.is_null())
    };
    if metadata.value.kind() == Kind::Map && !is_set("name") && !is_set("generateName") {
        let finding = at.refusal(metadata.key.span(), "`metadata.name` is missing");
        at.push(finding.absent("name"));
    }
}

/// What every object's name must be, with or without CEL.
pub(super) fn object_name<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    let right = |text: &str| text.len() <= 253 && text.split('.').all(is_lower_label);
    if let Some(text) = node.as_str().filter(|text| !right(text)) {
        let finding = at.refusal(node.span(), &format!("`{text}` is no name of an object"));
        at.push(finding.help("use lower-case letters, digits, and inner `-` and `.`"));
    }
}

pub(super) fn namespace_name<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    // An empty one is none.
    let right = |text: &str| text.is_empty() || (text.len() <= 63 && is_lower_label(text));
    if let Some(text) = node.as_str().filter(|text| !right(text)) {
        let finding = at.refusal(node.span(), &format!("`{text}` is no name of a namespace"));
        at.push(finding.help("use lower-case letters, digits and inner `-`"));
    }
}

fn is_lower_label(label: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !label.is_empty()
        && label.bytes().all(inner)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

pub(super) fn kind_name<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let right = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.bytes().all(inner)
            && !text.ends_with('-')
    };
    if let Some(text) = node
        .as_str()
        .filter(|text| !text.is_empty() && !right(text))
    {
        at.push(at.refusal(node.span(), &format!("`{text}` is no kind")));
    }
}

/// 1.24 lists the kinds that a policy can target.
pub(super) fn target_kind<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    if at.version > IstioVersion(24) {
        return;
    }
    let text = |name| {
        has(node, name)
            .and_then(|entry| entry.value.as_str())
            .unwrap_or_default()
    };
    let (group, kind) = (text("group"), text("kind"));
    let known = [
        ("core", "Service"),
        ("", "Service"),
        ("gateway.networking.k8s.io", "Gateway"),
        ("networking.istio.io", "ServiceEntry"),
    ];
    if !known.contains(&(&*group, &*kind)) {
        at.push(at.refusal(
            node.span(),
            &format!("Istio 1.24 cannot target the kind `{kind}` of the group `{group}`"),
        ));
    }
}

pub(super) fn waypoint_in_its_context<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    if at.version < IstioVersion(29) {
        return;
    }
    let context = has(node, "context").map(|entry| entry.value);
    let in_context = context.is_some_and(|context| context.as_str().as_deref() == Some("WAYPOINT"));
    match (in_context, has(node, "waypoint")) {
        (true, None) => at.push(at.lack(
            "waypoint",
            "the context `WAYPOINT` needs a match on `waypoint`",
        )),
        (false, Some(waypoint)) => {
            at.push(at.refusal(
                waypoint.key.span(),
                "a match on `waypoint` needs the context `WAYPOINT`",
            ));
        }
        _ => {}
    }
}

/// The field, where it has a value.
fn has<'t>(node: Node<'t>, name: &str) -> Option<Entry<'t>> {
    node.get(name).filter(|entry| !entry.value.is_null())
}
