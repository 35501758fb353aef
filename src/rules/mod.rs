//! Declares the rule interface, the registry, and one check per file.

mod address_conflict;
mod certificate_name_covers_no_host;
mod certificate_name_unchecked;
mod cidr_too_wide;
mod client_certificate_files_scope;
mod clusters;
mod connect_timeout_default;
mod connect_timeout_too_small;
mod consecutive_errors_ignored;
mod context;
mod credential_name_on_sidecar;
mod dns_round_robin_endpoints;
mod double_tls;
mod duplicate_host;
mod ejection_budget_zero;
mod ejection_of_only_host;
mod findings;
mod gateway_errors_shadowed;
mod h2_upgrade_to_external;
mod host_count;
mod http_pool_on_tls_port;
mod http_rules_on_tls_port;
mod http_to_443_without_tls;
mod istio_mutual_to_external;
mod logical_dns_on_gslb;
mod min_health_cancels_ejection;
mod one_request_per_connection;
mod options;
mod origination_without_target_port;
mod outlier_enables_locality;
mod outlier_http_codes_on_tls;
mod outlier_on_logical_dns;
mod outlier_on_none;
mod per_try_timeout_not_below_timeout;
mod port_level_drops_policy;
mod port_level_duplicate;
mod port_level_unknown_port;
mod port_name_not_protocol;
mod reached;
mod retriable_4xx;
mod retries_disabled;
mod retries_not_repeatable;
mod retries_on_both_hops;
mod retry_on_without_connect_failure;
mod san_wildcard_literal;
mod starttls_port_as_tls;
mod tcp_idle_timeout_level;
mod tcp_origination_without_sni;
mod tcp_port_conflict;
mod tcp_without_address;
mod tls_mode_missing;
mod twins;
mod unreachable_route;
mod ways;
mod zero_limit_means_none;

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
    &address_conflict::RULE,
    &certificate_name_covers_no_host::RULE,
    &certificate_name_unchecked::RULE,
    &cidr_too_wide::RULE,
    &client_certificate_files_scope::RULE,
    &connect_timeout_default::RULE,
    &connect_timeout_too_small::RULE,
    &consecutive_errors_ignored::RULE,
    &credential_name_on_sidecar::RULE,
    &dns_round_robin_endpoints::RULE,
    &double_tls::RULE,
    &duplicate_host::RULE,
    &ejection_budget_zero::RULE,
    &ejection_of_only_host::RULE,
    &gateway_errors_shadowed::RULE,
    &h2_upgrade_to_external::RULE,
    &http_pool_on_tls_port::RULE,
    &http_rules_on_tls_port::RULE,
    &http_to_443_without_tls::RULE,
    &istio_mutual_to_external::RULE,
    &logical_dns_on_gslb::RULE,
    &min_health_cancels_ejection::RULE,
    &one_request_per_connection::RULE,
    &origination_without_target_port::RULE,
    &outlier_enables_locality::RULE,
    &outlier_http_codes_on_tls::RULE,
    &outlier_on_logical_dns::RULE,
    &outlier_on_none::RULE,
    &per_try_timeout_not_below_timeout::RULE,
    &port_level_drops_policy::RULE,
    &port_level_duplicate::RULE,
    &port_level_unknown_port::RULE,
    &port_name_not_protocol::RULE,
    &retriable_4xx::RULE,
    &retries_disabled::RULE,
    &retries_not_repeatable::RULE,
    &retries_on_both_hops::RULE,
    &retry_on_without_connect_failure::RULE,
    &san_wildcard_literal::RULE,
    &starttls_port_as_tls::RULE,
    &tcp_idle_timeout_level::RULE,
    &tcp_origination_without_sni::RULE,
    &tcp_port_conflict::RULE,
    &tcp_without_address::RULE,
    &tls_mode_missing::RULE,
    &unreachable_route::RULE,
    &zero_limit_means_none::RULE,
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
