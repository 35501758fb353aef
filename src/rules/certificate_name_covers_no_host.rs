//! Certificate names that belong to another host.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::{Handler, TlsFacts};
use crate::egress::host::subset_of;
use crate::istio::decode::Items;
use crate::istio::resource::Spec;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "certificate-name-covers-no-host",
        summary: "`subjectAltNames` of a ServiceEntry accept only certificates with other names than its hosts",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/certificate-name-covers-no-host.md"),
    },
    build: super::plain::<CertificateNameCoversNoHost>,
};

#[derive(Debug, Default)]
pub(super) struct CertificateNameCoversNoHost;

impl Check for CertificateNameCoversNoHost {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let Some(TlsFacts::Explicit(tls)) = &reached.cluster.tls.value else {
                continue;
            };
            let Some(definition) = reached.definition(cx) else {
                continue;
            };
            let Spec::ServiceEntry(entry) = &definition.resource.spec else {
                continue;
            };
            let names = entry.subject_alt_names.items();
            let Some(first) = names
                .first()
                .filter(|it| tls.sans.spans().contains(&it.span))
            else {
                continue;
            };
            let covers = |name: &str| {
                entry
                    .hosts
                    .items()
                    .iter()
                    .any(|host| subset_of(&host.value, name))
            };
            if names.iter().any(|name| covers(&name.value)) || !out.is_first(first.span) {
                continue;
            }
            let basis = Basis::assuming(
                "the certificate of the other side carries no other name than that of the host",
            );
            // Istio's check of the host stays beside the names of the entry: measured E21.
            let both =
                reached.cluster.auto_san && reached.hop.result.handler == Some(Handler::Http);
            let (name, host) = (&first.value, &reached.path.host);
            let message = match both {
                true => format!(
                    "a certificate must have `{name}`, which is none of the hosts, beside the host: `{host}` with its \
                     own certificate is refused"
                ),
                false => format!(
                    "only a certificate for `{name}` is accepted, and that is none of the hosts: `{host}` with its own \
                     certificate is refused"
                ),
            };
            out.add(basis, first.span, message, |finding| {
                finding
                    .because(reached.host_line(), "the host that is asked for")
                    .help(format!("add `{}`, or remove the names: Istio then verifies the host itself on HTTP", reached.path.host))
            });
        }
    }
}
