//! A code of a redirect that Istio does not translate.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::decode::Items;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "redirect-code-unsupported",
        summary: "`redirectCode` is admitted, but makes a route without an action, which Envoy refuses",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/redirect-code-unsupported.md"),
    },
    build: super::plain::<RedirectCodeUnsupported>,
};

#[derive(Debug, Default)]
pub(super) struct RedirectCodeUnsupported;

/// Those that become an action; 0 means 301.
const SUPPORTED: [i64; 6] = [0, 301, 302, 303, 307, 308];

impl Check for RedirectCodeUnsupported {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (_, service) in cx.virtual_services() {
            let redirects = service.http.items().iter();
            let redirects = redirects.filter_map(|rule| rule.value.redirect.as_ref());
            for code in redirects.filter_map(|redirect| redirect.redirect_code.as_ref()) {
                if SUPPORTED.contains(&code.value) {
                    continue;
                }
                let message = format!(
                    "Istio makes no redirect of {}: the route gets no action, and Envoy refuses the routes of the whole port",
                    code.value
                );
                out.add(Basis::Proven, code.span, message, |finding| {
                    finding.help("write 301, 302, 303, 307 or 308")
                });
            }
        }
    }
}
