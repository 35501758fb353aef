//! The name of a port says another protocol than `protocol`.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::protocol::Protocol;
use crate::egress::service::{Origin, Port};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "port-name-not-protocol",
        summary: "the port's name says another protocol than `protocol`, and only `protocol` counts",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/port-name-not-protocol.md"),
    },
    build: super::plain::<PortNameNotProtocol>,
};

#[derive(Debug, Default)]
pub(super) struct PortNameNotProtocol;

impl Check for PortNameNotProtocol {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let entries = cx.definitions().iter();
        for definition in entries.filter(|it| it.origin == Origin::ServiceEntry) {
            for port in &definition.ports {
                let said = by_name(port);
                // gRPC needs HTTP/2, which the proxy does not speak on a port of `HTTP`.
                let is_grpc = (said, port.protocol) == (Protocol::Grpc, Protocol::Http);
                if said.is_unsupported() || kind(said) == kind(port.protocol) && !is_grpc {
                    continue;
                }
                let Some(place) = port.name_line else {
                    continue;
                };
                let basis = Basis::assuming(match port.protocol_line {
                    Some(_) => {
                        "somebody may read the protocol from the name, as with a Kubernetes Service"
                    }
                    None => "the name says what the port carries",
                });
                let message = match port.protocol_line {
                    Some(_) => format!(
                        "the name `{}` says {}, but the port carries {}: in a ServiceEntry only `protocol` counts",
                        port.name,
                        said.name(),
                        port.protocol.name(),
                    ),
                    None => format!(
                        "the name `{}` says {}, but in a ServiceEntry only `protocol` counts, and the port has none: \
                         proxies guess what it carries",
                        port.name,
                        said.name(),
                    ),
                };
                out.add(basis, place, message, |finding| {
                    let finding = because(finding, port);
                    match is_grpc || port.protocol.is_unsupported() {
                        true => finding.help(format!("set `protocol: {}`", said.name())),
                        false => finding.help("name the port after what it carries"),
                    }
                });
            }
        }
    }
}

/// What the name says, as that of a Kubernetes Service does.
pub(super) fn by_name(port: &Port<'_>) -> Protocol {
    Protocol::parse(port.name.split('-').next().unwrap_or(""))
}

fn because(finding: crate::diag::Diagnostic, port: &Port<'_>) -> crate::diag::Diagnostic {
    match port.protocol_line {
        Some(line) => finding.because(line, "this decides"),
        None => finding,
    }
}

/// What the proxy makes of it: HTTP, TLS by SNI, bytes, or whatever it finds.
fn kind(protocol: Protocol) -> u8 {
    match protocol {
        http if http.is_http() => 0,
        tls if tls.is_tls() => 1,
        sniffed if sniffed.is_unsupported() => 2,
        _ => 3,
    }
}
