//! `connectionPool`, of a `DestinationRule` or a `Sidecar`.

use super::super::traffic::{ConnectionPool, H2UpgradePolicy, Http2KeepAlive, HttpPool, TcpPool};
use super::{Review, duration, refusal};
use crate::source::Spanned;

pub(super) fn check(pool: Option<&Spanned<ConnectionPool>>, review: &mut Review<'_>) {
    let Some(pool) = pool else { return };
    if pool.is_empty() {
        review.push(
            refusal(pool.key, "the connection pool has neither `tcp` nor `http`")
                .help("set one of them, or remove it"),
        );
    }
    if let Some(http) = &pool.http {
        check_http(http, review);
    }
    if let Some(tcp) = &pool.tcp {
        check_tcp(tcp, review);
    }
}

fn check_http(http: &HttpPool, review: &mut Review<'_>) {
    for number in [
        &http.http1_max_pending_requests,
        &http.http2_max_requests,
        &http.max_requests_per_connection,
        &http.max_retries,
        &http.max_concurrent_streams,
    ] {
        check_number(number.as_deref(), review);
    }
    duration::check(http.idle_timeout.as_deref(), review);
    let policy = http
        .h2_upgrade_policy
        .as_ref()
        .filter(|policy| policy.value == H2UpgradePolicy::Upgrade);
    let client = http
        .use_client_protocol
        .as_ref()
        .filter(|client| client.value);
    if let (Some(policy), Some(client)) = (policy, client) {
        review.push(
            refusal(
                client.span,
                "`useClientProtocol` and `h2UpgradePolicy: UPGRADE` exclude each other",
            )
            .because(policy.span, "every request is to become HTTP/2")
            .help("keep one of them"),
        );
    }
    if let Some(keep_alive) = &http.http2_keep_alive {
        check_keep_alive(keep_alive, review);
    }
}

fn check_keep_alive(keep_alive: &Spanned<Http2KeepAlive>, review: &mut Review<'_>) {
    for (name, value) in [
        ("interval", &keep_alive.interval),
        ("timeout", &keep_alive.timeout),
    ] {
        if value.is_none() {
            let text = format!("`http2KeepAlive` needs an `{name}`").replace("an `t", "a `t");
            review.push(refusal(keep_alive.key, text).absent(name));
        }
        duration::check(value.as_ref(), review);
    }
}

fn check_tcp(tcp: &TcpPool, review: &mut Review<'_>) {
    check_number(tcp.max_connections.as_deref(), review);
    duration::check(tcp.connect_timeout.as_deref(), review);
    duration::check(tcp.max_connection_duration.as_deref(), review);
    duration::check_or_never(tcp.idle_timeout.as_deref(), review);
    if let Some(keep_alive) = &tcp.tcp_keepalive {
        duration::check(keep_alive.time.as_ref(), review);
        duration::check(keep_alive.interval.as_ref(), review);
    }
}

fn check_number(number: Option<&Spanned<i64>>, review: &mut Review<'_>) {
    if let Some(number) = number.filter(|number| number.value < 0) {
        review.push(refusal(
            number.span,
            format!("`{}` is negative", number.value),
        ));
    }
}
