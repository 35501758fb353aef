//! A Secret that sidecars do not read.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::{Handler, Speaks};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "credential-name-on-sidecar",
        summary: "`credentialName` without `workloadSelector` makes sidecars ignore the `tls` block: plain text is sent",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/credential-name-on-sidecar.md"),
    },
    build: super::plain::<CredentialNameOnSidecar>,
};

#[derive(Debug, Default)]
pub(super) struct CredentialNameOnSidecar;

impl Check for CredentialNameOnSidecar {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let (hop, tls) = (reached.hop, &reached.cluster.tls);
            let plain = hop.result.handler == Some(Handler::Http)
                || hop.result.handler == Some(Handler::Tcp) && hop.call.speaks == Speaks::Tcp;
            if hop.client().is_gateway() || tls.is_some() || !plain {
                continue;
            }
            let Some(&place) = tls
                .spans()
                .iter()
                .find(|line| cx.is_credential_name(**line))
            else {
                continue;
            };
            if !out.is_first(place) {
                continue;
            }
            let message = format!(
                "sidecars do not read the Secret `{}`: they ignore the whole `tls` block and send plain text to `{}`",
                cx.sources.text(place).trim_matches(['"', '\'']),
                reached.destination()
            );
            out.add(Basis::Proven, place, message, |finding| {
                finding
                    .because(reached.port_line(), "what the application sends in plain text")
                    .because(reached.host_line(), "the external host")
                    .help("add a `workloadSelector` for the workloads that may read the Secret, or originate \
                           TLS at the egress gateway")
            });
        }
    }
}
