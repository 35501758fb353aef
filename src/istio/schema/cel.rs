//! The CEL rules of the CRDs, one function each.

use std::collections::HashMap;

use super::check::Checker;
use crate::diag::Label;
use crate::istio::value::Duration;
use crate::istio::version::IstioVersion;
use crate::source::Span;
use crate::yaml::{Entry, Node, Scalar};

const MILLISECOND: Duration = Duration { nanos: 1_000_000 };

pub(super) fn duration<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    let Some(text) = node.as_str() else { return };
    match Duration::parse(&text) {
        Some(duration) if duration >= MILLISECOND => {}
        Some(_) => {
            at.refuse(
                node.span(),
                &format!("`{{}}` must be at least 1ms, not `{text}`"),
            );
        }
        None => {
            let unit = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty();
            at.refuse(
                node.span(),
                &format!("`{{}}` must be a duration, not `{text}`"),
            )
            .help = Some(if unit {
                format!("add the unit, as in `{text}s`")
            } else {
                "write it with the units `h`, `m`, `s` and `ms`, as in `1m30s`".to_owned()
            });
        }
    }
}

pub(super) fn port<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    if let Some(Scalar::Int(value)) = node.scalar()
        && !(1..=65535).contains(&value)
    {
        at.refuse(
            node.span(),
            &format!("`{{}}` must be a port from 1 to 65535, not `{value}`"),
        );
    }
}

pub(super) fn distinct_ports<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    let mut seen: HashMap<i64, Span> = HashMap::new();
    for (index, item) in node.items().enumerate() {
        let Some(entry) = has(item, "number") else {
            continue;
        };
        let Some(Scalar::Int(number)) = entry.value.scalar() else {
            continue;
        };
        let first = *seen.entry(number).or_insert(entry.value.span());
        if first != entry.value.span() {
            at.path.push_index(index);
            at.path.push("number");
            let finding = at.refuse(
                entry.value.span(),
                &format!("the port `{number}` is given twice"),
            );
            finding.related.push(Label {
                span: first,
                message: "first given here".to_owned(),
            });
            at.path.pop();
            at.path.pop();
        }
    }
}

pub(super) fn host_is_no_lone_wildcard<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    if node.as_str().is_some_and(|text| text == "*") {
        at.refuse(
            node.span(),
            "a `ServiceEntry` cannot stand for the host `*`",
        )
        .help = Some("name a domain, as in `*.example.com`".to_owned());
    }
}

fn resolution<'t>(spec: Node<'t>) -> (String, Option<Entry<'t>>) {
    let entry = has(spec, "resolution");
    let text = entry.as_ref().and_then(|entry| entry.value.as_str());
    (
        text.map_or_else(|| "NONE".to_owned(), |text| text.into_owned()),
        entry,
    )
}

fn because_of_resolution(
    finding: &mut crate::diag::Diagnostic,
    resolution: Option<Entry<'_>>,
    spec: Node<'_>,
) {
    let label = match resolution {
        Some(entry) => Label {
            span: entry.value.span(),
            message: "this resolution".to_owned(),
        },
        None => Label {
            span: has(spec, "hosts").map_or(spec.first_character(), |entry| entry.key.span()),
            message: "without `resolution` it is `NONE`".to_owned(),
        },
    };
    finding.related.push(label);
}

pub(super) fn cidr_needs_fixed_addresses<'t>(spec: Node<'t>, at: &mut Checker<'t>) {
    let (resolution, entry) = resolution(spec);
    if matches!(&*resolution, "NONE" | "STATIC") {
        return;
    }
    let Some(addresses) = has(spec, "addresses") else {
        return;
    };
    let range = addresses
        .value
        .items()
        .enumerate()
        .find(|(_, item)| item.as_str().is_some_and(|it| it.contains('/')));
    if let Some((index, item)) = range {
        let text = item.as_str().unwrap_or_default();
        at.path.push("addresses");
        at.path.push_index(index);
        let finding = at.refuse(
            item.span(),
            &format!("`{text}` is a range, which the resolution `{resolution}` does not allow"),
        );
        because_of_resolution(finding, entry, spec);
        finding.help =
            Some("list single addresses, or set `resolution` to `NONE` or `STATIC`".to_owned());
        at.path.pop();
        at.path.pop();
    }
}

pub(super) fn none_has_no_endpoints<'t>(spec: Node<'t>, at: &mut Checker<'t>) {
    let (resolution, entry) = resolution(spec);
    let Some(endpoints) = has(spec, "endpoints").filter(|_| resolution == "NONE") else {
        return;
    };
    at.path.push("endpoints");
    let finding = at.refuse(
        endpoints.key.span(),
        "the resolution `NONE` allows no `endpoints`",
    );
    because_of_resolution(finding, entry, spec);
    finding.help = Some(
        "set `resolution` to `STATIC` for addresses or to `DNS` for names, or remove `endpoints`"
            .to_owned(),
    );
    at.path.pop();
}

pub(super) fn one_endpoint_in_round_robin<'t>(spec: Node<'t>, at: &mut Checker<'t>) {
    let (resolution, entry) = resolution(spec);
    let Some(endpoints) = has(spec, "endpoints").filter(|_| resolution == "DNS_ROUND_ROBIN") else {
        return;
    };
    let count = endpoints.value.items().count();
    if count > 1 {
        at.path.push("endpoints");
        let finding = at.refuse(
            endpoints.key.span(),
            &format!("the resolution `DNS_ROUND_ROBIN` allows one endpoint, not {count}"),
        );
        finding.rule = "dns-round-robin-endpoints";
        because_of_resolution(finding, entry, spec);
        finding.help = Some("set `resolution` to `DNS`, which uses all endpoints".to_owned());
        at.path.pop();
    }
}

pub(super) fn address_or_network<'t>(endpoint: Node<'t>, at: &mut Checker<'t>) {
    if has(endpoint, "address").is_none() && has(endpoint, "network").is_none() {
        at.refuse_absent("address", "`{}` has neither an `address` nor a `network`");
    }
}

pub(super) fn socket_without_ports<'t>(endpoint: Node<'t>, at: &mut Checker<'t>) {
    let address = has(endpoint, "address").and_then(|entry| entry.value.as_str());
    if address.is_some_and(|address| address.starts_with("unix://"))
        && let Some(ports) = has(endpoint, "ports")
    {
        at.path.push("ports");
        at.refuse(ports.key.span(), "a Unix socket has no `ports`")
            .help = Some("remove `ports`".to_owned());
        at.path.pop();
    }
}

pub(super) fn socket_path<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    let Some(text) = node.as_str() else { return };
    let Some(path) = text.strip_prefix("unix://") else {
        return;
    };
    if !path.starts_with(['/', '@']) {
        at.refuse(
            node.span(),
            &format!("the Unix socket `{path}` must begin with `/` or `@`"),
        );
    }
    if text.ends_with('/') {
        at.refuse(
            node.span(),
            &format!("the Unix socket `{path}` is a folder"),
        );
    }
}

pub(super) fn port_names<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    for entry in node.entries() {
        if !is_port_name(&entry.name) {
            at.path.push(entry.name.clone());
            at.refuse(
                entry.key.span(),
                &format!("`{}` is no port name", entry.name),
            )
            .help = Some("use letters, digits and inner `-`, at most 62".to_owned());
            at.path.pop();
        }
    }
}

fn is_port_name(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    name.chars().count() < 63
        && !name.is_empty()
        && name.bytes().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

pub(super) fn no_wildcard<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    if let Some(text) = node.as_str().filter(|text| text.contains('*')) {
        at.refuse(
            node.span(),
            &format!("a selector knows no wildcard: `{text}`"),
        );
    }
}

pub(super) fn label_keys<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    for entry in node.entries() {
        let text = if entry.name.is_empty() {
            "a selector's label needs a name".to_owned()
        } else if entry.name.contains('*') {
            format!("a selector knows no wildcard: `{}`", entry.name)
        } else {
            continue;
        };
        at.path.push(entry.name.clone());
        at.refuse(entry.key.span(), &text);
        at.path.pop();
    }
}

pub(super) fn http_scheme<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    if let Some(text) = node
        .as_str()
        .filter(|text| !matches!(&**text, "" | "HTTP" | "HTTPS"))
    {
        at.refuse(
            node.span(),
            &format!("`{{}}` must be `HTTP` or `HTTPS`, not `{text}`"),
        );
    }
}

pub(super) fn header_name<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    let right = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if let Some(text) = node
        .as_str()
        .filter(|text| text.is_empty() || !text.bytes().all(right))
    {
        at.refuse(node.span(), &format!("`{text}` is no header name"));
    }
}

pub(super) fn base64<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    if let Some(text) = node.as_str().filter(|text| !is_base64(text)) {
        let _ = text;
        at.refuse(node.span(), "`{}` is not base64");
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
    digits.len() % 4 == 0 && padding <= 2 && digits.iter().rev().skip(padding).all(right)
}

pub(super) fn empty<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    if let Some(text) = node.as_str().filter(|text| !text.is_empty()) {
        at.refuse(
            node.span(),
            &format!("`{{}}` must be empty, not `{text}`: it names the own namespace only"),
        );
    }
}

pub(super) fn group_name<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    let label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty()
            && label.bytes().all(inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if let Some(text) = node
        .as_str()
        .filter(|text| !text.is_empty() && !text.split('.').all(label))
    {
        at.refuse(node.span(), &format!("`{text}` is no API group"));
    }
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
        at.refuse(node.span(), &format!("`{text}` is no kind"));
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
        at.refuse(
            node.span(),
            &format!("Istio 1.24 cannot target `{group}/{kind}`"),
        );
    }
}

pub(super) fn waypoint_in_its_context<'t>(node: Node<'t>, at: &mut Checker<'t>) {
    if at.version < IstioVersion(29) {
        return;
    }
    let context = has(node, "context");
    let in_context = context
        .as_ref()
        .is_some_and(|entry| entry.value.as_str().as_deref() == Some("WAYPOINT"));
    match (in_context, has(node, "waypoint")) {
        (true, None) => at.refuse_absent(
            "waypoint",
            "the context `WAYPOINT` needs a match on `waypoint`",
        ),
        (false, Some(waypoint)) => {
            at.path.push("waypoint");
            at.refuse(
                waypoint.key.span(),
                "a match on `waypoint` needs the context `WAYPOINT`",
            );
            at.path.pop();
        }
        _ => {}
    }
}

/// The field, where it has a value.
fn has<'t>(node: Node<'t>, name: &str) -> Option<Entry<'t>> {
    node.get(name).filter(|entry| !entry.value.is_null())
}
