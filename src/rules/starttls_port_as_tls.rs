//! TLS on a port whose protocol begins in clear text.

use super::{Basis, Check, Context, Findings, Meta, RuleDef, Traffic};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::{Handler, Speaks, TlsFacts};
use crate::egress::service::Origin;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "starttls-port-as-tls",
        summary: "TLS on a port whose protocol begins in clear text: no handshake comes first",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/starttls-port-as-tls.md"),
    },
    build: super::plain::<StarttlsPortAsTls>,
};

#[derive(Debug, Default)]
pub(super) struct StarttlsPortAsTls;

/// Ports of protocols that begin in clear text and switch to TLS later (STARTTLS and the like).
const STARTTLS: [(u32, &str); 9] = [
    (21, "FTP"),
    (25, "SMTP"),
    (110, "POP3"),
    (143, "IMAP"),
    (389, "LDAP"),
    (587, "SMTP"),
    (3306, "MySQL"),
    (5222, "XMPP"),
    (5432, "PostgreSQL"),
];

/// What begins in clear text on this port.
fn protocol(port: u32) -> Option<&'static str> {
    let known = STARTTLS.iter().find(|(number, _)| *number == port);
    known.map(|(_, protocol)| *protocol)
}

impl Check for StarttlsPortAsTls {
    fn check_traffic(&self, _: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let cluster = reached.cluster;
            let Some(TlsFacts::Explicit(tls)) = &cluster.tls.value else {
                continue;
            };
            let ports = cluster.endpoints.iter().map(|it| &it.port);
            let known = ports.filter_map(|port| Some((port, protocol(port.value)?)));
            let Some((port, protocol)) = known.into_iter().next() else {
                continue;
            };
            // Around what arrives encrypted there should be no TLS at all.
            let bytes = reached.hop.result.handler == Some(Handler::Tcp)
                && reached.hop.call.speaks != Speaks::Tls;
            let Some(&place) = tls.mode.spans().first().filter(|_| bytes) else {
                continue;
            };
            if tls.mode.value == "ISTIO_MUTUAL" || !out.is_first(place) {
                continue;
            }
            let message = format!(
                "`{}` begins with a handshake that no {protocol} server on port {} of `{}` expects: the protocol begins in \
                 clear text",
                tls.mode.value, port.value, reached.path.host
            );
            let basis =
                Basis::assuming("the server begins in clear text, as is usual on this port");
            out.add(basis, place, message, |finding| {
                let lines = port.spans().iter();
                lines
                    .fold(finding, |finding, line| finding.because(*line, "the port"))
                    .because(reached.host_line(), "the external host")
                    .help(
                        "remove `tls`, and let the application switch to TLS as the protocol does",
                    )
            });
        }
    }

    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let entries = cx.definitions().iter();
        for definition in entries.filter(|it| it.origin == Origin::ServiceEntry) {
            for port in definition
                .ports
                .iter()
                .filter(|port| port.protocol.is_tls())
            {
                let Some(protocol) = protocol(port.number) else {
                    continue;
                };
                let basis =
                    Basis::assuming("clients begin in clear text, as is usual on this port");
                let message = format!(
                    "port {} is that of {protocol}, which begins in clear text: no TLS handshake comes first, so no \
                     connection matches by server name",
                    port.number
                );
                let place = port.line();
                out.add(basis, place, message, |finding| {
                    finding
                        .because(port.number_line, "the port")
                        .help("declare it `TCP` and give the entry `addresses`")
                });
            }
        }
    }
}
