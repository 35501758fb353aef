//! Names for a certificate that nobody looks at.

use super::context::{HOSTS, tls_blocks};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::resource::Spec;
use crate::istio::traffic::ClientTlsMode;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "subject-alt-names-unused",
        summary: "`subjectAltNames` of a ServiceEntry are not verified: no DestinationRule originates TLS, or it has names of its own",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/subject-alt-names-unused.md"),
    },
    build: super::plain::<SubjectAltNamesUnused>,
};

#[derive(Debug, Default)]
pub(super) struct SubjectAltNamesUnused;

impl Check for SubjectAltNamesUnused {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for definition in cx.definitions().iter().filter(|it| it.mesh_external) {
            let Spec::ServiceEntry(entry) = &definition.resource.spec else {
                continue;
            };
            let Some(names) = entry.subject_alt_names.as_ref() else {
                continue;
            };
            let Some(host) = definition.hosts.first().filter(|_| !names.value.is_empty()) else {
                continue;
            };
            let mut originates = cx.gateway_api().encrypts(definition.resource);
            let mut own: Vec<Span> = Vec::new();
            for it in definition.hosts.iter().take(HOSTS) {
                originates |= cx.has_faulty_rule(&it.name);
                let rules = cx.rules_for(&it.name).take(HOSTS);
                for tls in rules.flat_map(|(_, rule)| tls_blocks(rule)) {
                    let mode = tls.mode.as_ref().map(|it| it.value).unwrap_or_default();
                    if !matches!(mode, ClientTlsMode::Simple | ClientTlsMode::Mutual) {
                        continue;
                    }
                    match &tls.subject_alt_names {
                        Some(names) if !names.value.is_empty() => own.push(names.key),
                        _ => originates = true,
                    }
                }
            }
            let (basis, what, help) = match (originates, own.is_empty()) {
                (true, _) => continue,
                (false, false) => (
                    Basis::Proven,
                    "the DestinationRule has names of its own, which alone count",
                    "remove one of the two lists",
                ),
                (false, true) => (
                    match cx.world.knows_all("DestinationRule") {
                        true => Basis::Proven,
                        false => Basis::assuming("no other file originates TLS for the host"),
                    },
                    "nobody originates TLS for it, and what applications encrypt is not looked into",
                    "originate TLS with a DestinationRule, or remove the names",
                ),
            };
            let message = format!("these names are not verified for `{}`: {what}", host.name);
            out.add(basis, names.key, message, |finding| {
                own.iter()
                    .take(1)
                    .fold(finding, |finding, line| {
                        finding.because(*line, "these count")
                    })
                    .because(host.line, "the external host")
                    .help(help)
            });
        }
    }
}
