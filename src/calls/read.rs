//! From a YAML tree to calls; what is wrong with them is a finding.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Severity, nearest};
use crate::egress::call::Call;
use crate::egress::client::{Client, ProxyKind};
use crate::egress::facts::Speaks;
use crate::source::Span;
use crate::yaml::{Entry, Kind, Node, Scalar};

/// Reads a document whose key `calls` holds a list. Calls with a mistake are left out, and said.
pub fn read(root: Node<'_>) -> (Vec<Call>, Vec<Diagnostic>) {
    let mut reader = Reader::default();
    let mut calls = Vec::new();
    if let Some(fields) = reader.fields(root, "the file", &["calls"]) {
        match fields.get("calls") {
            Some(list) if list.value.kind() == Kind::List => {
                for item in list.value.items() {
                    calls.extend(reader.call(item));
                }
            }
            Some(list) => reader.wrong(list.value, "calls", "a list"),
            None => reader.absent(root, "the file", "calls"),
        }
    }
    (calls, reader.diagnostics)
}

/// Reads one call.
pub fn read_call(node: Node<'_>) -> (Option<Call>, Vec<Diagnostic>) {
    let mut reader = Reader::default();
    let call = reader.call(node);
    (call, reader.diagnostics)
}

type Fields<'t> = BTreeMap<&'static str, Entry<'t>>;

#[derive(Default)]
struct Reader {
    diagnostics: Vec<Diagnostic>,
}

impl Reader {
    fn say(&mut self, span: Span, message: String) {
        self.diagnostics
            .push(Diagnostic::new("config", Severity::Error, span, message));
    }

    fn wrong(&mut self, node: Node<'_>, what: &str, wanted: &str) {
        let found = match node.kind() {
            Kind::Map => Cow::Borrowed("a map"),
            Kind::List => Cow::Borrowed("a list"),
            Kind::Scalar => Cow::Owned(format!("`{}`", node.written().unwrap_or("null"))),
        };
        self.say(node.span(), format!("{what} must be {wanted}, not {found}"));
    }

    fn absent(&mut self, node: Node<'_>, what: &str, name: &str) {
        self.say(node.first_character(), format!("{what} has no `{name}`"));
    }

    /// The entries of a map with fixed keys.
    fn fields<'t>(
        &mut self,
        node: Node<'t>,
        what: &str,
        names: &[&'static str],
    ) -> Option<Fields<'t>> {
        if node.kind() != Kind::Map {
            self.wrong(node, what, "a map");
            return None;
        }
        let mut fields = Fields::new();
        for entry in node.entries() {
            match names.iter().find(|name| **name == entry.name) {
                Some(name) if !entry.value.is_null() => {
                    fields.insert(name, entry);
                }
                Some(_) => {}
                None => {
                    let message = format!("unknown key `{}` in {what}", entry.name);
                    let mut finding =
                        Diagnostic::new("config", Severity::Error, entry.key.span(), message);
                    if let Some(near) = nearest(&entry.name, names.iter().copied()) {
                        finding = finding.help(format!("did you mean `{near}`?"));
                    }
                    self.diagnostics.push(finding);
                }
            }
        }
        Some(fields)
    }

    /// `None` where the call is not to be had.
    fn call(&mut self, node: Node<'_>) -> Option<Call> {
        const NAMES: [&str; 6] = ["client", "host", "port", "protocol", "address", "path"];
        let before = self.diagnostics.len();
        let fields = self.fields(node, "the call", &NAMES)?;
        for needed in ["host", "port", "protocol"] {
            if !fields.contains_key(needed) {
                self.absent(node, "the call", needed);
            }
        }
        let call = Call {
            client: match fields.get("client") {
                Some(client) => self.client(client.value)?,
                None => Client::default(),
            },
            host: self.text(&fields, "host").unwrap_or_default(),
            port: fields
                .get("port")
                .and_then(|port| self.port(port.value))
                .unwrap_or_default(),
            speaks: fields
                .get("protocol")
                .and_then(|protocol| self.protocol(protocol.value))
                .unwrap_or(Speaks::Tcp),
            address: fields.get("address").and_then(|address| {
                let found = address.value.as_str().and_then(|text| text.parse().ok());
                if found.is_none() {
                    self.wrong(address.value, "`address`", "an IP address");
                }
                found
            }),
            path: self.text(&fields, "path"),
        };
        (self.diagnostics.len() == before).then_some(call)
    }

    fn client(&mut self, node: Node<'_>) -> Option<Client> {
        let fields = self.fields(node, "the client", &["namespace", "labels", "proxy"])?;
        let proxy = match fields.get("proxy") {
            None => ProxyKind::Sidecar,
            Some(proxy) => match proxy.value.as_str().as_deref() {
                Some("sidecar") => ProxyKind::Sidecar,
                Some("gateway") => ProxyKind::Gateway,
                _ => {
                    self.wrong(proxy.value, "`proxy`", "`sidecar` or `gateway`");
                    ProxyKind::Sidecar
                }
            },
        };
        let mut labels = BTreeMap::new();
        if let Some(entry) = fields.get("labels") {
            if entry.value.kind() == Kind::Map {
                for label in entry.value.entries() {
                    match label.value.as_str() {
                        Some(value) => {
                            labels.insert(label.name.into_owned(), value.into_owned());
                        }
                        None => self.wrong(label.value, &format!("`{}`", label.name), "a string"),
                    }
                }
            } else {
                self.wrong(entry.value, "`labels`", "a map");
            }
        }
        Some(Client {
            namespace: self.text(&fields, "namespace"),
            labels,
            proxy,
        })
    }

    fn text(&mut self, fields: &Fields<'_>, name: &str) -> Option<String> {
        let entry = fields.get(name)?;
        let text = entry.value.as_str().filter(|text| !text.is_empty());
        if text.is_none() {
            self.wrong(entry.value, &format!("`{name}`"), "a string");
        }
        text.map(Cow::into_owned)
    }

    fn port(&mut self, node: Node<'_>) -> Option<u32> {
        let found = match node.scalar() {
            Some(Scalar::Int(number)) => u32::try_from(number).ok(),
            _ => None,
        };
        let found = found.filter(|number| (1..=65535).contains(number));
        if found.is_none() {
            self.wrong(node, "`port`", "a number from 1 to 65535");
        }
        found
    }

    fn protocol(&mut self, node: Node<'_>) -> Option<Speaks> {
        let found = match node.as_str().as_deref() {
            Some("http") => Some(Speaks::Http),
            Some("http2") => Some(Speaks::Http2),
            Some("tls") => Some(Speaks::Tls),
            Some("tcp") => Some(Speaks::Tcp),
            _ => None,
        };
        if found.is_none() {
            self.wrong(node, "`protocol`", "`http`, `http2`, `tls` or `tcp`");
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;
    use crate::yaml::Tree;

    fn of(text: &str) -> (Vec<Call>, Vec<String>) {
        let tree = Tree::parse(FileId(0), text);
        let document = tree.documents(text).next().unwrap();
        let (calls, diagnostics) = read(document.root);
        let said = diagnostics
            .into_iter()
            .map(|d| d.message.to_string())
            .collect();
        (calls, said)
    }

    #[test]
    fn a_call_is_read() {
        let (calls, said) = of(
            "calls:\n- client: {namespace: app, labels: {app: web}, proxy: gateway}\n  host: a.example\n  port: 443\n  protocol: tls\n  address: 203.0.113.10\n",
        );
        assert_eq!(said, Vec::<String>::new());
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].client.proxy, ProxyKind::Gateway);
        assert_eq!(calls[0].speaks, Speaks::Tls);
    }

    #[test]
    fn mistakes_are_said() {
        let (calls, said) = of("calls:\n- {host: a, prot: tls, port: 0}\n- 7\n");
        assert!(calls.is_empty());
        assert_eq!(
            said,
            [
                "unknown key `prot` in the call",
                "the call has no `protocol`",
                "`port` must be a number from 1 to 65535, not `0`",
                "the call must be a map, not `7`",
            ]
        );
        assert_eq!(of("a: b\n").1.len(), 2);
    }
}
