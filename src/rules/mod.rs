//! Declares the rule interface, the registry, and one check per file.

mod clusters;
mod context;
mod dns_round_robin_endpoints;
mod duplicate_host;
mod ejection_budget_zero;
mod findings;
mod http_rules_on_tls_port;
mod logical_dns_on_gslb;
mod options;
mod outlier_http_codes_on_tls;
mod outlier_on_logical_dns;
mod outlier_on_none;
mod port_level_drops_policy;
mod port_level_duplicate;
mod port_level_unknown_port;
mod retries_disabled;
mod retries_not_repeatable;
mod retry_on_without_connect_failure;
mod twins;
mod unreachable_route;
mod ways;

pub use crate::diag::RuleInfo as Meta;
pub use context::Context;
pub use findings::{Basis, Findings};
pub use options::Options;

use crate::diag::Diagnostic;

/// A rule: its public facts, and how it is built from its options.
#[derive(Debug)]
pub struct RuleDef {
    pub meta: Meta,
    pub build: fn(Options<'_>) -> Built,
}

/// A rule with its options, or what is wrong with them.
pub type Built = Result<Box<dyn Check>, Vec<Diagnostic>>;

/// A rule that is ready to look.
pub trait Check: Send + Sync {
    /// Looks at one world. Called once for each.
    fn check(&self, cx: &Context<'_>, out: &mut Findings);

    /// Whether its findings say that something is missing: then one holds only if it holds in every world of its file.
    fn says_absence(&self) -> bool {
        false
    }
}

/// Every rule, by name.
static ALL: &[&RuleDef] = &[
    &dns_round_robin_endpoints::RULE,
    &duplicate_host::RULE,
    &ejection_budget_zero::RULE,
    &http_rules_on_tls_port::RULE,
    &logical_dns_on_gslb::RULE,
    &outlier_http_codes_on_tls::RULE,
    &outlier_on_logical_dns::RULE,
    &outlier_on_none::RULE,
    &port_level_drops_policy::RULE,
    &port_level_duplicate::RULE,
    &port_level_unknown_port::RULE,
    &retries_disabled::RULE,
    &retries_not_repeatable::RULE,
    &retry_on_without_connect_failure::RULE,
    &unreachable_route::RULE,
];

/// Every rule, by name.
pub fn all() -> &'static [&'static RuleDef] {
    ALL
}

/// Builds a rule that has no options.
fn plain<C: Check + Default + 'static>(options: Options<'_>) -> Built {
    options.none()?;
    Ok(Box::new(C::default()))
}
