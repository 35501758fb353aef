//! A VirtualService with `http` rules for a host on which no HTTP is seen.

use foldhash::HashMap;

use super::foreign::is_foreign;
use super::subjects::Subjects;
use super::{Basis, Check, Context, Findings, Meta, RuleDef, matches};
use crate::diag::{Fixable, Severity};
use crate::egress::protocol::Protocol;
use crate::egress::service::Port;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "http-rules-on-tls-port",
        summary: "`http` rules for a host whose ports carry TLS or TCP are not used",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/http-rules-on-tls-port.md"),
    },
    build: super::plain::<HttpRulesOnTlsPort>,
};

#[derive(Debug, Default)]
pub(super) struct HttpRulesOnTlsPort;

impl Check for HttpRulesOnTlsPort {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let mut said: HashMap<&str, usize> = HashMap::default();
        for (resource, service) in cx.virtual_services() {
            let Some(section) = matches::http(service) else {
                continue;
            };
            let Some(subjects) = Subjects::of(cx, resource, service) else {
                continue;
            };
            for unused in subjects.unused(section, Protocol::is_http_or_sniffed) {
                let Some(first) = unused.ports.first() else {
                    continue;
                };
                let said = said.entry(unused.host).or_default();
                if *said == OF_HOST {
                    continue;
                }
                *said += 1;
                let message = format!(
                    "{}: port {} of `{}` carries {}, not HTTP",
                    unused.what("http"),
                    first.number,
                    unused.host,
                    first.protocol.name(),
                );
                let basis = basis(cx, &subjects, &unused.ports);
                out.add(basis, unused.place, message, |mut finding| {
                    for defined in subjects.hosts.iter().take(LABELS) {
                        finding = finding.because(defined.line, "the host of the rules");
                    }
                    for port in unused.ports.iter().take(LABELS) {
                        let line = port.line();
                        finding = finding.because(line, "the sidecar passes these bytes on unseen");
                    }
                    finding.help(match first.protocol.is_tls() {
                        true => format!(
                            "route by `sniHosts` under `tls`, or declare an `HTTP` port with `targetPort` {} and let a \
                             DestinationRule originate TLS",
                            target(first)
                        ),
                        false => "route under `tcp`, or declare the port `HTTP` if that is what it carries".to_owned(),
                    })
                });
            }
        }
    }
}

/// So many VirtualServices of one host are told of.
const OF_HOST: usize = 1000;

/// More lines than that say nothing more.
const LABELS: usize = 3;

/// The number that the server listens on.
fn target(port: &Port<'_>) -> u32 {
    let target = port.target().and_then(|it| it.number());
    target.map_or(port.number, |(number, _)| number)
}

fn basis(cx: &Context<'_>, subjects: &Subjects<'_>, ports: &[&Port<'_>]) -> Basis {
    if ports.iter().any(|port| is_foreign(port)) {
        return Basis::assuming("no other controller reads the section");
    }
    let mut hosts = subjects.hosts.iter();
    if hosts.any(|defined| cx.originates_tls(defined.host)) {
        return Basis::assuming("nobody sends plain HTTP to a host for which TLS is originated");
    }
    Basis::Proven
}
