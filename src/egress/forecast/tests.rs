//! The questions of the field, asked of small facts.

use super::*;
use crate::config::{Fact, Origin};
use crate::egress::facts::*;

fn cluster(cluster_type: ClusterType, address: &str) -> ClusterFacts {
    ClusterFacts {
        cluster_type: Traced::default(cluster_type, ""),
        services: Vec::new(),
        destination_rule: None,
        connect_timeout_ms: Traced::default(10_000, ""),
        lb_policy: Traced::default("LEAST_REQUEST", ""),
        dns: Some(Box::new(DnsFacts {
            refresh_rate_ms: Traced::default(60_000, ""),
            respect_ttl: true,
            family: Traced::default("V4_ONLY", ""),
        })),
        endpoints: vec![Endpoint {
            address: Traced::default(address.to_owned(), ""),
            port: Traced::default(443, ""),
            weight: 1,
            priority: 0,
            locality: None,
        }],
        outlier: Traced::default(None, ""),
        panic_threshold_percent: Traced::default(None, ""),
        locality_weighted: false,
        tls: Traced::default(None, ""),
        auto_sni: false,
        auto_san: false,
        http2: Traced::default(false, ""),
        use_downstream_protocol: false,
        max_requests_per_connection: None,
        http_idle_timeout_ms: None,
        max_connection_duration_ms: None,
        circuit_breakers: None,
        tcp_keepalive: None,
        overridden: Vec::new(),
    }
}

fn outlier(percent: Option<u32>) -> Traced<Option<Box<OutlierFacts>>> {
    Traced::default(
        Some(Box::new(OutlierFacts {
            consecutive_5xx: None,
            enforcing_consecutive_5xx: None,
            consecutive_gateway_failure: None,
            enforcing_consecutive_gateway_failure: None,
            interval_ms: None,
            base_ejection_ms: None,
            max_ejection_percent: percent.map(|p| Traced::default(p, "")),
            split_external_local: true,
            consecutive_local_origin_failure: Some(Traced::default(3, "")),
            enforcing_consecutive_local_origin_failure: Some(100),
            enforcing_success_rate: Some(0),
        })),
        "",
    )
}

fn route(retry_on: &str, attempts: u32) -> RouteFacts {
    RouteFacts {
        timeout_ms: Traced::default(0, ""),
        retry: Traced::default(
            (attempts > 0).then(|| RetryPolicy {
                attempts: Traced::default(attempts, ""),
                retry_on: Traced::default(
                    retry_on.split(',').map(|on| on.to_owned().into()).collect(),
                    "",
                ),
                retriable_status_codes: Vec::new(),
                per_try_timeout_ms: None,
                base_interval_ms: None,
                previous_hosts: true,
                host_selection_attempts: Some(5),
                ignore_previous_localities: false,
            }),
            "",
        ),
        host_rewrite: None,
        prefix_rewrite: None,
        mirrors: Vec::new(),
    }
}

fn given<T>(value: T) -> Option<Fact<T>> {
    Some(Fact {
        value,
        origin: Origin::BuiltIn,
    })
}

fn gslb() -> HostFacts {
    HostFacts {
        addresses: given(2),
        ttl_ms: given(30_000),
        drain_ms: given(300_000),
        session_ms: given(600_000),
        ..HostFacts::default()
    }
}

fn subject<'a>(
    cluster: &'a ClusterFacts,
    route: Option<&'a RouteFacts>,
    host: &'a HostFacts,
    version: u32,
) -> Subject<'a> {
    Subject {
        handler: if route.is_some() {
            Handler::Http
        } else {
            Handler::Tcp
        },
        cluster,
        route,
        tcp: None,
        host,
        version: IstioVersion(version),
    }
}

fn read(event: &Event) -> String {
    let details = event.details.iter().map(|sentence| sentence.text.as_str());
    std::iter::once(event.headline.text.as_str())
        .chain(details)
        .collect::<Vec<_>>()
        .join("\n")
}

fn forecast(subject: Subject<'_>) -> [String; 3] {
    Forecast::of(subject).events.each_ref().map(read)
}

#[test]
fn a_session_longer_than_the_drain_breaks_on_l4() {
    let cluster = cluster(ClusterType::StrictDns, "api.partner.example");
    let host = gslb();
    let [switch, death, dns] = forecast(subject(&cluster, None, &host, 30));
    assert!(switch.contains("longer than 269.75 s break"), "{switch}");
    assert!(switch.contains("drain for 630.25 s"), "{switch}");
    assert!(
        death.contains("about 50 % of new ones fail until DNS drops it"),
        "{death}"
    );
    assert!(death.contains("hangs 10 s (connectTimeout)"), "{death}");
    assert!(dns.contains("succeeds for 60 s"), "{dns}");
}

#[test]
fn a_session_within_the_drain_survives() {
    let cluster = cluster(ClusterType::StrictDns, "api.partner.example");
    let host = HostFacts {
        session_ms: given(60_000),
        ..gslb()
    };
    let [switch, ..] = forecast(subject(&cluster, None, &host, 30));
    assert!(switch.starts_with("sessions survive"), "{switch}");
}

#[test]
fn without_facts_of_the_host_it_says_which_are_missing() {
    let cluster = cluster(ClusterType::StrictDns, "api.partner.example");
    let host = HostFacts::default();
    let forecast = Forecast::of(subject(&cluster, None, &host, 30));
    assert_eq!(forecast.events[0].missing, ["ttl", "session", "drain"]);
    assert_eq!(forecast.events[1].missing, ["addresses", "ttl"]);
}

#[test]
fn logical_dns_on_l7_pins_until_the_version_that_drains() {
    let cluster = cluster(ClusterType::LogicalDns, "api.partner.example");
    let host = gslb();
    let route = route("connect-failure", 2);
    let [old, ..] = forecast(subject(&cluster, Some(&route), &host, 30));
    assert!(
        old.starts_with("new requests keep going to the old address without end"),
        "{old}"
    );
    let [new, ..] = forecast(subject(&cluster, Some(&route), &host, 31));
    assert!(!new.contains("keep going"), "{new}");
}

#[test]
fn the_default_retry_rescues_where_a_second_address_is() {
    let cluster = cluster(ClusterType::StrictDns, "api.partner.example");
    let default = route(
        "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes",
        2,
    );
    let two = gslb();
    let [_, death, _] = forecast(subject(&cluster, Some(&default), &two, 30));
    assert!(death.starts_with("the retry does"), "{death}");
    assert!(death.contains("can hang 30 s"), "{death}");
    let one = HostFacts {
        addresses: given(1),
        ..gslb()
    };
    let [_, death, _] = forecast(subject(&cluster, Some(&default), &one, 30));
    assert!(
        death.starts_with("nobody: the 2 retries go to the same dead address"),
        "{death}"
    );
    let codes = route("retriable-status-codes", 2);
    let [_, death, _] = forecast(subject(&cluster, Some(&codes), &two, 30));
    assert!(death.starts_with("nobody"), "{death}");
}

#[test]
fn ejection_is_counted_in_whole_hosts() {
    let mut cluster = cluster(ClusterType::StrictDns, "api.partner.example");
    let host = gslb();
    for (percent, text) in [
        (None, "never ejects: floor(2 x 10 / 100) = 0 of 2 hosts"),
        (Some(49), "never ejects: floor(2 x 49 / 100) = 0 of 2 hosts"),
        (
            Some(50),
            "ejects 1 of 2 hosts after 3 failures (consecutiveLocalOriginFailures)",
        ),
    ] {
        cluster.outlier = outlier(percent);
        let [_, death, _] = forecast(subject(&cluster, None, &host, 30));
        assert!(death.contains(text), "{death}");
    }
}

#[test]
fn ejection_on_logical_dns_is_nothing_or_an_outage() {
    let mut cluster = cluster(ClusterType::LogicalDns, "api.partner.example");
    let host = HostFacts {
        addresses: given(1),
        ..gslb()
    };
    cluster.outlier = outlier(Some(50));
    let [_, death, _] = forecast(subject(&cluster, None, &host, 30));
    assert!(death.contains("LOGICAL_DNS is one host"), "{death}");
    cluster.outlier = outlier(Some(100));
    let [_, death, _] = forecast(subject(&cluster, None, &host, 30));
    assert!(
        death.contains("every request then fails at once for 30 s"),
        "{death}"
    );
}

#[test]
fn a_logical_answer_of_many_fails_over_in_the_connect() {
    let cluster = cluster(ClusterType::LogicalDns, "api.partner.example");
    let host = gslb();
    let [_, death, dns] = forecast(subject(&cluster, None, &host, 30));
    assert!(
        death.starts_with("the connect itself goes on to the next address"),
        "{death}"
    );
    assert!(dns.starts_with("the last address is kept"), "{dns}");
}

#[test]
fn written_addresses_ask_no_dns() {
    let cluster = cluster(ClusterType::Eds, "192.0.2.10");
    let host = gslb();
    let [switch, _, dns] = forecast(subject(&cluster, None, &host, 30));
    assert!(switch.starts_with("nothing follows"), "{switch}");
    assert!(dns.starts_with("nothing happens"), "{dns}");
}
