//! Settings of HTTP/2 for a host that is spoken to with HTTP/1.1.

use super::levels::levels;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::{Origin, Port};
use crate::istio::traffic::{H2UpgradePolicy, HttpPool};
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "h2-setting-on-http1",
        summary: "a setting of HTTP/2 has no effect on ports that carry HTTP/1.1",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/h2-setting-on-http1.md"),
    },
    build: super::plain::<H2SettingOnHttp1>,
};

#[derive(Debug, Default)]
pub(super) struct H2SettingOnHttp1;

/// A rule for more ports than this is for none in particular.
const PORTS: usize = 256;

impl Check for H2SettingOnHttp1 {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        if cx.model.mesh.h2_upgrade().is_some() {
            return;
        }
        for (resource, rule) in cx.destination_rules() {
            let mut pools = levels(rule)
                .filter_map(|level| Some((level, level.connection_pool?.value.http.as_ref()?)))
                .filter(|(_, http)| !is_upgraded(&http.value))
                .flat_map(|(level, http)| settings(&http.value).map(move |it| (level, it)))
                .peekable();
            let (Some(host), Some(_)) = (&rule.host, pools.peek()) else {
                continue;
            };
            let hosts = cx.hosts_under(&host.value, resource.namespace());
            let external = |origin| origin == Origin::ServiceEntry;
            let ports: Vec<&Port<'_>> = hosts.iter().flat_map(|it| &it.definition.ports).collect();
            if ports.len() > PORTS || !hosts.iter().all(|it| external(it.definition.origin)) {
                continue;
            }
            for (level, (name, key)) in pools {
                let own = ports.iter().filter(|port| level.ports.hold(port.number));
                let http2 = own.clone().any(|port| port.protocol.is_http2());
                let mut http = own.filter(|port| port.protocol.is_http_or_sniffed());
                let Some(port) = http.next().filter(|_| !http2) else {
                    continue;
                };
                // A port without a protocol is spoken to as its clients speak; even HTTP/2 then gets no settings.
                let why = match port.protocol.is_http() {
                    true => "spoken to with HTTP/1.1",
                    false => "no `protocol`: spoken to as its clients speak",
                };
                let message = format!(
                    "`{name}` has no effect: port {} of `{}` is not declared as HTTP/2",
                    port.number, host.value
                );
                out.add(Basis::Proven, key, message, |finding| {
                    finding
                        .because(port.line(), why)
                        .help(
                            "remove it, or declare the port `HTTP2`, or upgrade it with `h2UpgradePolicy: UPGRADE`, if \
                             the other side speaks HTTP/2",
                        )
                });
            }
        }
    }
}

/// Whether the block itself decides over the protocol: an upgrade makes the settings act, and the client's own
/// protocol may be HTTP/2.
fn is_upgraded(http: &HttpPool) -> bool {
    let policy = http.h2_upgrade_policy.as_ref().map(|it| it.value);
    let client = http.use_client_protocol.as_ref();
    policy == Some(H2UpgradePolicy::Upgrade) || client.is_some_and(|it| it.value)
}

/// What of a block is for HTTP/2 alone.
fn settings(http: &HttpPool) -> impl Iterator<Item = (&'static str, Span)> + use<> {
    let streams = http.max_concurrent_streams.as_ref().map(|it| it.key);
    let keepalive = http.http2_keep_alive.as_ref().map(|it| it.key);
    let all = [
        ("maxConcurrentStreams", streams),
        ("http2KeepAlive", keepalive),
    ];
    all.into_iter().filter_map(|(name, key)| Some((name, key?)))
}
