//! Rules by server name at a server that ends TLS.

use super::bound_servers::{Unused, unused};
use super::{Check, Context, Findings, Meta, RuleDef, matches};
use crate::diag::{Fixable, Severity};
use crate::istio::proxy::{Server, ServerTlsMode};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "tls-routes-on-terminating-server",
        summary: "`tls` rules for a Gateway server that ends TLS are not used",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/tls-routes-on-terminating-server.md"),
    },
    build: super::plain::<TlsRoutesOnTerminatingServer>,
};

#[derive(Debug, Default)]
pub(super) struct TlsRoutesOnTerminatingServer;

impl Check for TlsRoutesOnTerminatingServer {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, service) in cx.virtual_services() {
            let sections = matches::tls(service).into_iter();
            let unused =
                sections.flat_map(|section| unused(cx, resource, service, &section, ends_tls));
            unused.for_each(|it| say(&it, out));
        }
    }
}

fn say(unused: &Unused<'_>, out: &mut Findings) {
    let server = unused.server;
    let tls = server.value.tls.as_ref();
    let mode = tls.and_then(|it| it.value.mode.as_ref());
    let message = format!(
        "these `tls` rules are not used: the Gateway's server ends TLS (`{}`), and behind that only `tcp` or `http` \
         rules count",
        mode.map_or("PASSTHROUGH", |it| it.value.name())
    );
    out.add(unused.basis.clone(), unused.place, message, |finding| {
        let port = server.value.port.as_ref();
        let number = port.and_then(|it| it.value.number.as_ref());
        number
            .iter()
            .fold(finding, |finding, number| {
                finding.because(number.span, "the server that the rules are for")
            })
            .because(mode.map_or(server.key, |it| it.span), "TLS ends here")
            .help("use `tcp` rules (`http` for a server of protocol HTTPS), or `mode: PASSTHROUGH`")
    });
}

fn ends_tls(server: &Server) -> bool {
    let mode = server.tls.as_ref().and_then(|it| it.value.mode.as_ref());
    mode.is_some_and(|it| {
        matches!(
            it.value,
            ServerTlsMode::Simple
                | ServerTlsMode::Mutual
                | ServerTlsMode::IstioMutual
                | ServerTlsMode::OptionalMutual
        )
    })
}
