//! Certificate files that every client needs.

use smol_str::SmolStr;

use super::context::tls_blocks;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::decode::Items;
use crate::istio::traffic::{ClientTls, ClientTlsMode};
use crate::source::Spanned;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "client-certificate-files-scope",
        summary: "a client certificate of files is for every workload that imports the rule, whether it mounts them or not",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/client-certificate-files-scope.md"),
    },
    build: super::plain::<ClientCertificateFilesScope>,
};

#[derive(Debug, Default)]
pub(super) struct ClientCertificateFilesScope;

impl Check for ClientCertificateFilesScope {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, rule) in cx.destination_rules() {
            let private = rule.export_to.items().iter().any(|it| it.value == ".");
            let Some(host) = rule
                .host
                .as_ref()
                .filter(|_| rule.workload_selector.is_none() && !private)
            else {
                continue;
            };
            let Some(external) = cx.external_under(&host.value, resource.namespace()) else {
                continue;
            };
            for tls in tls_blocks(rule) {
                let Some(file) = file(tls) else { continue };
                let basis =
                    Basis::assuming("not every workload that uses the host mounts the file");
                let message = format!(
                    "every proxy that imports this rule needs the file `{}`: where it is missing, the cluster of `{}` \
                     cannot be used",
                    file.value, external.host
                );
                out.add(basis, file.span, message, |finding| {
                        finding
                            .because(external.line, "the external host")
                            .help("add a `workloadSelector` for the workloads that mount it, or keep the rule to its \
                                   namespace with `exportTo: [.]`")
                    });
            }
        }
    }
}

fn file(tls: &Spanned<ClientTls>) -> Option<&Spanned<SmolStr>> {
    let mode = tls.value.mode.as_ref()?;
    let file = tls.value.client_certificate.as_ref()?;
    (mode.value == ClientTlsMode::Mutual && !file.value.is_empty()).then_some(file)
}
