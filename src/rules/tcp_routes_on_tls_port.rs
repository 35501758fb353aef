//! `tcp` rules for a port that carries TLS or HTTP.

use super::subjects::Subjects;
use super::{Basis, Check, Context, Findings, Meta, RuleDef, matches};
use crate::diag::{Fixable, Severity};
use crate::egress::protocol::Protocol;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "tcp-routes-on-tls-port",
        summary: "`tcp` rules for a host whose ports carry TLS or HTTP are not used",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/tcp-routes-on-tls-port.md"),
    },
    build: super::plain::<TcpRoutesOnTlsPort>,
};

#[derive(Debug, Default)]
pub(super) struct TcpRoutesOnTlsPort;

impl Check for TcpRoutesOnTlsPort {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, service) in cx.virtual_services() {
            let Some(section) = matches::tcp(service) else {
                continue;
            };
            let Some(subjects) = Subjects::of(cx, resource, service) else {
                continue;
            };
            for unused in subjects.unused(section, takes_tcp_rules) {
                let Some(first) = unused.ports.first() else {
                    continue;
                };
                let message = format!(
                    "{}: port {} of `{}` carries {}, and `tcp` rules are for neither TLS nor HTTP",
                    unused.what("tcp"),
                    first.number,
                    unused.host,
                    first.protocol.name(),
                );
                let help = match first.protocol.is_tls() {
                    true => "route by `sniHosts` under `tls`, or declare the port `TCP`",
                    false => "use `http` rules, or declare the port `TCP`",
                };
                out.add(Basis::Proven, unused.place, message, |finding| {
                    let ports = unused.ports.iter().take(LABELS);
                    ports
                        .fold(finding, |finding, port| {
                            let line = port.line();
                            finding.because(line, "other rules are for this protocol")
                        })
                        .help(help)
                });
            }
        }
    }
}

/// More lines than that say nothing more.
const LABELS: usize = 3;

/// Where nobody says what a port carries, `tcp` rules are for what turns out not to be HTTP.
fn takes_tcp_rules(protocol: Protocol) -> bool {
    protocol.is_unsupported() || protocol.is_tcp() && !protocol.is_tls()
}
