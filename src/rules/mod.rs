//! Declares the rule interface, the registry, and one check per file.

mod address_conflict;
mod ambient_export_to;
mod ambient_none_without_address;
mod ambient_without_waypoint;
mod certificate_name_covers_no_host;
mod certificate_name_unchecked;
mod certificate_not_verified;
mod cidr_too_wide;
mod client_certificate_files_scope;
mod client_certificate_unused;
mod connect_race_with_endpoints;
mod connect_timeout_default;
mod connect_timeout_not_below_timeout;
mod connect_timeout_too_small;
mod consecutive_errors_ignored;
mod credential_name_on_sidecar;
mod delegate_unknown;
mod destination_not_exported;
mod destination_port_unknown;
mod destination_rule_duplicate;
mod destination_rule_host_unknown;
mod destination_rule_on_alias;
mod destination_rule_shadowed;
mod destination_rule_unseen;
mod destination_rule_unseen_by_gateway;
mod destination_unknown;
mod dns_round_robin_endpoints;
mod double_tls;
mod duplicate_host;
mod ejection_budget_zero;
mod ejection_of_only_host;
mod ejection_threshold_zero;
mod ejection_time_below_interval;
mod endpoint_name_differs_from_host;
mod envoy_filter_matches_nothing;
mod envoy_filter_on_other_hop;
mod exported_to_nobody;
mod failover_endpoint_without_locality;
mod failover_without_outlier_detection;
mod gateway_cannot_see_host;
mod gateway_drops_request;
mod gateway_errors_shadowed;
mod gateway_host_mismatch;
mod gateway_port_mismatch;
mod gateway_route_to_none;
mod gateway_routes_to_itself;
mod gateway_selects_other_pods;
mod gateway_sni_mismatch;
mod gateway_unknown;
mod h2_setting_on_http1;
mod h2_upgrade_to_external;
mod hash_on_l4;
mod host_is_kubernetes_service;
mod host_needs_dns;
mod host_trailing_dot;
mod host_upper_case;
mod http_pool_on_tls_port;
mod http_rules_on_tls_port;
mod http_to_443_without_tls;
mod istio_mutual_to_external;
mod keepalive_below_second;
mod load_balancer_on_none;
mod load_balancer_without_choice;
mod locality_without_endpoint;
mod logical_dns_on_gslb;
mod match_condition_ignored;
mod match_gateway_not_listed;
mod match_port_unknown;
mod max_retries_overridden;
mod mesh_name_sent_outside;
mod mesh_not_listed;
mod min_health_cancels_ejection;
mod none_host_remap;
mod none_port_remap;
mod one_request_per_connection;
mod origination_without_target_port;
mod outbound_policy_empty;
mod outlier_enables_locality;
mod outlier_http_codes_on_tls;
mod outlier_on_egress_gateway;
mod outlier_on_logical_dns;
mod outlier_on_none;
mod per_try_timeout_not_below_timeout;
mod per_try_timeout_not_retried;
mod port_level_drops_policy;
mod port_level_duplicate;
mod port_level_unknown_port;
mod port_name_not_protocol;
mod redirect_code_unsupported;
mod retriable_4xx;
mod retries_beyond_timeout;
mod retries_disabled;
mod retries_not_repeatable;
mod retries_on_both_hops;
mod retry_on_without_connect_failure;
mod routes_on_passthrough_server;
mod san_wildcard_literal;
mod session_cut_by_limit;
mod short_host;
mod sidecar_bypasses_gateway;
mod sidecar_does_not_import;
mod sidecar_imports_nothing;
mod sidecar_in_ambient;
mod starttls_port_as_tls;
mod static_without_endpoints;
mod strict_dns_on_cdn;
mod subject_alt_names_unused;
mod subset_drops_policy;
mod subset_unresolved;
mod tcp_idle_timeout_level;
mod tcp_origination_without_sni;
mod tcp_port_conflict;
mod tcp_routes_on_tls_port;
mod tcp_without_address;
mod tls_mode_missing;
mod tls_routes_cover_part;
mod tls_routes_on_http_port;
mod tls_routes_on_terminating_server;
mod udp_port;
mod unreachable_route;
mod virtual_service_duplicate;
mod virtual_service_host_unknown;
mod zero_limit_means_none;

// What rules share.
mod ambient;
mod asked;
mod blocks;
mod bound_servers;
mod cluster_patches;
mod clusters;
mod context;
mod findings;
mod foreign;
mod gateway_api;
mod gateway_servers;
mod harm;
mod host_count;
mod imports;
mod index;
mod levels;
mod matches;
mod options;
mod routed;
mod served;
mod subjects;
mod survey;
mod taken;
mod targets;
mod texts;
mod traffic;
mod twins;
mod unknown_gateways;
mod unknown_hosts;
mod ways;
mod written;

pub use crate::diag::RuleInfo as Meta;
pub use context::Context;
pub use findings::{Basis, Findings, Rank};
pub use options::Options;
pub use survey::Survey;
pub use traffic::Traffic;
pub use ways::HttpWay;

use crate::diag::Diagnostic;

/// A rule: its public facts, and how it is built from its options.
#[derive(Debug)]
pub struct RuleDef {
    pub meta: Meta,
    pub build: fn(Options<'_>) -> Built,
}

/// A rule with its options, or what is wrong with them.
pub type Built = Result<Box<dyn Check>, Vec<Diagnostic>>;

/// A rule that is ready to look at one world after the other. It looks in one of three ways, or in several.
pub trait Check: Send + Sync {
    /// At what some clients send out: one part of the world's traffic after the other.
    fn check_traffic(&self, _cx: &Context<'_>, _traffic: &Traffic<'_>, _out: &mut Findings) {}

    /// At the ways of HTTP requests, each once. Called once for each world, after all parts of its traffic.
    fn check_ways(&self, _cx: &Context<'_>, _ways: &[HttpWay<'_>], _out: &mut Findings) {}

    /// At the resources and the model alone. Called once for each world.
    fn check(&self, _cx: &Context<'_>, _out: &mut Findings) {}

    /// Whether its findings say that something is missing: then one holds only if it holds in every world of its file.
    fn says_absence(&self) -> bool {
        false
    }

    /// The rules that know more about the cause: where one of them names the place of a finding, this one is silent.
    fn yields_to(&self) -> &'static [&'static str] {
        &[]
    }
}

/// Every rule, by name.
static ALL: &[&RuleDef] = &[
    &address_conflict::RULE,
    &ambient_export_to::RULE,
    &ambient_none_without_address::RULE,
    &ambient_without_waypoint::RULE,
    &certificate_name_covers_no_host::RULE,
    &certificate_name_unchecked::RULE,
    &certificate_not_verified::RULE,
    &cidr_too_wide::RULE,
    &client_certificate_files_scope::RULE,
    &client_certificate_unused::RULE,
    &connect_race_with_endpoints::RULE,
    &connect_timeout_default::RULE,
    &connect_timeout_not_below_timeout::RULE,
    &connect_timeout_too_small::RULE,
    &consecutive_errors_ignored::RULE,
    &credential_name_on_sidecar::RULE,
    &delegate_unknown::RULE,
    &destination_not_exported::RULE,
    &destination_port_unknown::RULE,
    &destination_rule_duplicate::RULE,
    &destination_rule_host_unknown::RULE,
    &destination_rule_on_alias::RULE,
    &destination_rule_shadowed::RULE,
    &destination_rule_unseen::RULE,
    &destination_rule_unseen_by_gateway::RULE,
    &destination_unknown::RULE,
    &dns_round_robin_endpoints::RULE,
    &double_tls::RULE,
    &duplicate_host::RULE,
    &ejection_budget_zero::RULE,
    &ejection_of_only_host::RULE,
    &ejection_threshold_zero::RULE,
    &ejection_time_below_interval::RULE,
    &endpoint_name_differs_from_host::RULE,
    &envoy_filter_matches_nothing::RULE,
    &envoy_filter_on_other_hop::RULE,
    &exported_to_nobody::RULE,
    &failover_endpoint_without_locality::RULE,
    &failover_without_outlier_detection::RULE,
    &gateway_cannot_see_host::RULE,
    &gateway_drops_request::RULE,
    &gateway_errors_shadowed::RULE,
    &gateway_host_mismatch::RULE,
    &gateway_port_mismatch::RULE,
    &gateway_route_to_none::RULE,
    &gateway_routes_to_itself::RULE,
    &gateway_selects_other_pods::RULE,
    &gateway_sni_mismatch::RULE,
    &gateway_unknown::RULE,
    &h2_setting_on_http1::RULE,
    &h2_upgrade_to_external::RULE,
    &hash_on_l4::RULE,
    &host_is_kubernetes_service::RULE,
    &host_needs_dns::RULE,
    &host_trailing_dot::RULE,
    &host_upper_case::RULE,
    &http_pool_on_tls_port::RULE,
    &http_rules_on_tls_port::RULE,
    &http_to_443_without_tls::RULE,
    &istio_mutual_to_external::RULE,
    &keepalive_below_second::RULE,
    &load_balancer_on_none::RULE,
    &load_balancer_without_choice::RULE,
    &locality_without_endpoint::RULE,
    &logical_dns_on_gslb::RULE,
    &match_condition_ignored::RULE,
    &match_gateway_not_listed::RULE,
    &match_port_unknown::RULE,
    &max_retries_overridden::RULE,
    &mesh_name_sent_outside::RULE,
    &mesh_not_listed::RULE,
    &min_health_cancels_ejection::RULE,
    &none_host_remap::RULE,
    &none_port_remap::RULE,
    &one_request_per_connection::RULE,
    &origination_without_target_port::RULE,
    &outbound_policy_empty::RULE,
    &outlier_enables_locality::RULE,
    &outlier_http_codes_on_tls::RULE,
    &outlier_on_egress_gateway::RULE,
    &outlier_on_logical_dns::RULE,
    &outlier_on_none::RULE,
    &per_try_timeout_not_below_timeout::RULE,
    &per_try_timeout_not_retried::RULE,
    &port_level_drops_policy::RULE,
    &port_level_duplicate::RULE,
    &port_level_unknown_port::RULE,
    &port_name_not_protocol::RULE,
    &redirect_code_unsupported::RULE,
    &retriable_4xx::RULE,
    &retries_beyond_timeout::RULE,
    &retries_disabled::RULE,
    &retries_not_repeatable::RULE,
    &retries_on_both_hops::RULE,
    &retry_on_without_connect_failure::RULE,
    &routes_on_passthrough_server::RULE,
    &san_wildcard_literal::RULE,
    &session_cut_by_limit::RULE,
    &short_host::RULE,
    &sidecar_bypasses_gateway::RULE,
    &sidecar_does_not_import::RULE,
    &sidecar_imports_nothing::RULE,
    &sidecar_in_ambient::RULE,
    &starttls_port_as_tls::RULE,
    &static_without_endpoints::RULE,
    &strict_dns_on_cdn::RULE,
    &subject_alt_names_unused::RULE,
    &subset_drops_policy::RULE,
    &subset_unresolved::RULE,
    &tcp_idle_timeout_level::RULE,
    &tcp_origination_without_sni::RULE,
    &tcp_port_conflict::RULE,
    &tcp_routes_on_tls_port::RULE,
    &tcp_without_address::RULE,
    &tls_mode_missing::RULE,
    &tls_routes_cover_part::RULE,
    &tls_routes_on_http_port::RULE,
    &tls_routes_on_terminating_server::RULE,
    &udp_port::RULE,
    &unreachable_route::RULE,
    &virtual_service_duplicate::RULE,
    &virtual_service_host_unknown::RULE,
    &zero_limit_means_none::RULE,
];

/// Every rule, by name.
pub fn all() -> &'static [&'static RuleDef] {
    ALL
}

/// `host:port`, for messages; the host alone where a placeholder stands for the port.
fn host_and_port(host: &str, port: u32) -> String {
    match port {
        0 => host.to_owned(),
        port => format!("{host}:{port}"),
    }
}

/// Builds a rule that has no options.
fn plain<C: Check + Default + 'static>(options: Options<'_>) -> Built {
    options.none()?;
    Ok(Box::new(C::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_yield_to_rules_that_yield_to_none() {
        let built = |name: &str| {
            let rule = all().iter().find(|rule| rule.meta.name == name);
            let rule = rule.unwrap_or_else(|| panic!("there is no rule `{name}`"));
            (rule.build)(Options::new(rule.meta.name, None)).unwrap()
        };
        for rule in all() {
            for other in built(rule.meta.name).yields_to() {
                assert!(
                    built(other).yields_to().is_empty(),
                    "{} yields to {other}",
                    rule.meta.name
                );
            }
        }
    }
}
