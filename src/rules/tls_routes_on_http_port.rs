//! Rules by server name for a port that carries plain HTTP.

use super::subjects::Subjects;
use super::{Basis, Check, Context, Findings, Meta, RuleDef, matches};
use crate::diag::{Fixable, Severity};
use crate::egress::protocol::Protocol;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "tls-routes-on-http-port",
        summary: "`tls` rules for a host without a TLS port are not used",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/tls-routes-on-http-port.md"),
    },
    build: super::plain::<TlsRoutesOnHttpPort>,
};

#[derive(Debug, Default)]
pub(super) struct TlsRoutesOnHttpPort;

impl Check for TlsRoutesOnHttpPort {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, service) in cx.virtual_services() {
            let Some(section) = matches::tls(service) else {
                continue;
            };
            let Some(subjects) = Subjects::of(cx, resource, service) else {
                continue;
            };
            for unused in subjects.unused(section, Protocol::is_tls) {
                let Some(first) = unused.ports.first() else {
                    continue;
                };
                let message = format!(
                    "{}: port {} of `{}` carries {}, and `tls` rules are for TLS ports only",
                    unused.what("tls"),
                    first.number,
                    unused.host,
                    first.protocol.name(),
                );
                out.add(Basis::Proven, unused.place, message, |finding| {
                    let ports = unused.ports.iter().take(LABELS);
                    ports
                        .fold(finding, |finding, port| {
                            finding.because(port.line(), "no TLS is seen on this port")
                        })
                        .help("declare the port `TLS` if the application speaks TLS itself, or use `http` rules")
                });
            }
        }
    }
}

/// More lines than that say nothing more.
const LABELS: usize = 3;
