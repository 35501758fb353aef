//! A TLS handshake for every request.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::{Handler, TlsFacts};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "one-request-per-connection",
        summary: "`maxRequestsPerConnection: 1` with TLS origination makes a handshake for every request",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/one-request-per-connection.md"),
    },
    build: super::plain::<OneRequestPerConnection>,
};

#[derive(Debug, Default)]
pub(super) struct OneRequestPerConnection;

impl Check for OneRequestPerConnection {
    fn check_traffic(&self, _: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let limit = reached.cluster.max_requests_per_connection.as_ref();
            let Some(limit) = limit.filter(|it| it.value == 1) else {
                continue;
            };
            let Some(&place) = limit.spans().first() else {
                continue;
            };
            let http = reached.hop.result.handler == Some(Handler::Http);
            let tls = matches!(reached.cluster.tls.value, Some(TlsFacts::Explicit(_)));
            if !http || !tls || !out.is_first(place) {
                continue;
            }
            let message = format!(
                "`maxRequestsPerConnection: 1` opens a TLS connection to `{}` for every request",
                reached.destination()
            );
            let basis = Basis::assuming("the cost of a handshake for each request is not wanted");
            out.add(basis, place, message, |finding| {
                let lines = reached.cluster.tls.spans().iter().take(1);
                lines
                    .fold(finding, |finding, line| finding.because(*line, "TLS is originated here"))
                    .because(reached.host_line(), "the external host")
                    .help("set a larger number, or bound the life of connections with `http.idleTimeout`")
            });
        }
    }
}
