//! The mesh's certificate for a server outside of the mesh.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::TlsFacts;
use crate::istio::traffic::ClientTls;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "istio-mutual-to-external",
        summary: "`ISTIO_MUTUAL` presents the mesh's certificate to an external host, which does not know it",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/istio-mutual-to-external.md"),
    },
    build: super::plain::<IstioMutualToExternal>,
};

#[derive(Debug, Default)]
pub(super) struct IstioMutualToExternal;

impl Check for IstioMutualToExternal {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let Some(TlsFacts::Explicit(tls)) = &reached.cluster.tls.value else {
                continue;
            };
            let Some(&place) = tls.mode.spans().first() else {
                continue;
            };
            // A name of the mesh is one, wherever it is declared.
            let of_mesh = [".local", ".global"]
                .iter()
                .any(|end| reached.path.host.ends_with(end));
            if tls.mode.value != "ISTIO_MUTUAL" || of_mesh || !out.is_first(place) {
                continue;
            }
            let message = format!(
                "`ISTIO_MUTUAL` to `{}`: the proxy presents the mesh's certificate and accepts only the mesh's authority, \
                 so a server outside of the mesh fails the handshake",
                reached.destination()
            );
            out.add(Basis::Proven, place, message, |finding| {
                let own = cx.tls_block(place).and_then(own_certificate);
                let finding = own.into_iter().fold(finding, |finding, line| {
                    finding.because(line, "not used in this mode")
                });
                let rule = reached.cluster.destination_rule.iter().flat_map(|rule| rule.spans());
                rule.take(1)
                    .fold(finding, |finding, line| finding.because(*line, "this rule is the one that applies"))
                    .because(reached.host_line(), "the external host")
                    .help("use `SIMPLE`, or `MUTUAL` with a certificate of the other side's; keep a default rule to `*.local`")
            });
        }
    }
}

/// The line of a certificate that another mode would show.
fn own_certificate(tls: &ClientTls) -> Option<Span> {
    let files = [&tls.client_certificate, &tls.private_key];
    files.into_iter().find_map(|it| Some(it.as_ref()?.key))
}
