//! TLS on a port whose protocol begins in clear text.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::Origin;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "starttls-port-as-tls",
        summary: "a port of a protocol that begins in clear text is declared as TLS: its connections name no server",
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

impl Check for StarttlsPortAsTls {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let entries = cx.definitions().iter();
        for definition in entries.filter(|it| it.origin == Origin::ServiceEntry) {
            for port in definition
                .ports
                .iter()
                .filter(|port| port.protocol.is_tls())
            {
                let known = STARTTLS.iter().find(|(number, _)| *number == port.number);
                let Some((number, protocol)) = known else {
                    continue;
                };
                let basis =
                    Basis::assuming("clients begin in clear text, as is usual on this port");
                let message = format!(
                    "port {number} is that of {protocol}, which begins in clear text: no TLS handshake comes first, so no \
                     connection matches by server name"
                );
                let place = port.protocol_line.unwrap_or(port.number_line);
                out.add(basis, place, message, |finding| {
                    finding
                        .because(port.number_line, "the port")
                        .help("declare it `TCP` and give the entry `addresses`")
                });
            }
        }
    }
}
