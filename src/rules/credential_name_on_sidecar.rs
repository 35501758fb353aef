//! A Secret that sidecars do not read.

use std::collections::BTreeSet;

use super::context::tls_blocks;
use super::reached::reached;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::{Handler, Speaks};
use crate::source::Span;

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
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let names = credential_names(cx);
        for reached in reached(cx) {
            let (hop, tls) = (reached.hop, &reached.cluster.tls);
            let plain = hop.result.handler == Some(Handler::Http)
                || hop.result.handler == Some(Handler::Tcp) && hop.call.speaks == Speaks::Tcp;
            if hop.client().is_gateway() || tls.is_some() || !plain {
                continue;
            }
            let Some(&place) = tls.spans().iter().find(|line| names.contains(line)) else {
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
                    .help("add a `workloadSelector` for the workloads that may read the Secret, or originate TLS at the egress gateway")
            });
        }
    }
}

/// Every line of a `credentialName`, key and value.
fn credential_names(cx: &Context<'_>) -> BTreeSet<Span> {
    let mut found = BTreeSet::new();
    for (_, rule) in cx.destination_rules() {
        let names = tls_blocks(rule).filter_map(|tls| tls.value.credential_name.as_ref());
        found.extend(names.flat_map(|name| [name.span, name.key]));
    }
    found
}
