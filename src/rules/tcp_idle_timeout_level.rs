//! Limits of TCP connections at a level that the TCP proxy does not read.

use super::context::Defined;
use super::levels::{Ports, levels};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::istio::decode::Rare;
use crate::istio::traffic::{TcpPool, TrafficPolicy};
use crate::istio::value::Duration;
use crate::source::Spanned;
use crate::yaml::Value;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "tcp-idle-timeout-level",
        summary: "`tcp.idleTimeout` and `maxConnectionDuration` of `portLevelSettings` and subsets do not reach a TCP or TLS port",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
        since: "0.1.0",
        page: include_str!("../../rules/tcp-idle-timeout-level.md"),
    },
    build: super::plain::<TcpIdleTimeoutLevel>,
};

#[derive(Debug, Default)]
pub(super) struct TcpIdleTimeoutLevel;

/// So many ports of the hosts of a rule are looked at.
const PORTS: usize = 256;

impl Check for TcpIdleTimeoutLevel {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, rule) in cx.destination_rules() {
            let Some(host) = &rule.host else { continue };
            let mut pools = levels(rule)
                .filter_map(|level| Some((level, level.connection_pool?.value.tcp.as_ref()?)))
                .filter(|(level, _)| level.of_subset || matches!(level.ports, Ports::One(_)))
                .peekable();
            if pools.peek().is_none() {
                continue;
            }
            let top = rule.traffic_policy.as_ref();
            let hosts = cx.hosts_under(&host.value, resource.namespace());
            for (level, pool) in pools {
                let ports = hosts.iter().flat_map(|it| &it.definition.ports).take(PORTS);
                let mut ports = ports
                    .filter(|port| level.ports.hold(port.number))
                    .peekable();
                let Some(&port) = ports.peek() else { continue };
                if !ports.all(|port| port.protocol.is_tcp()) {
                    continue;
                }
                for (name, limit) in lost(&pool.value, top) {
                    let message = format!(
                        "`{name}: {}` here does not reach port {} of `{}`: the TCP proxy reads it from the top level \
                         of the rule only",
                        cx.sources.text(limit.span),
                        port.number,
                        host.value
                    );
                    out.add(Basis::Proven, limit.key, message, |finding| {
                        finding
                            .because(
                                port.line(),
                                format!("{} is handled by the TCP proxy", port.protocol.name()),
                            )
                            .help(format!(
                                "set it under `trafficPolicy.connectionPool.tcp.{name}`; it then holds for every TCP \
                                 and TLS port of the host"
                            ))
                            .fix(top.and_then(|top| fix(cx, &hosts, top, name, limit)))
                    });
                }
            }
        }
    }
}

/// The limits of a level that the top level of the rule does not set alike.
fn lost<'p>(
    pool: &'p TcpPool,
    top: Option<&Spanned<TrafficPolicy>>,
) -> Vec<(&'static str, &'p Spanned<Duration>)> {
    let top = top
        .and_then(|top| top.connection_pool.as_ref())
        .and_then(|it| it.value.tcp.as_ref());
    let alike = |of_top: Option<&Rare<Duration>>, limit: &Spanned<Duration>| {
        of_top
            .and_then(Option::as_ref)
            .is_some_and(|it| it.value == limit.value)
    };
    let idle = pool.idle_timeout.as_deref();
    let idle = idle.filter(|it| !alike(top.map(|top| &top.value.idle_timeout), it));
    let life = pool.max_connection_duration.as_deref();
    let life = life.filter(|it| !alike(top.map(|top| &top.value.max_connection_duration), it));
    let both = [("idleTimeout", idle), ("maxConnectionDuration", life)];
    both.into_iter()
        .filter_map(|(name, it)| Some((name, it?)))
        .collect()
}

/// Says it at the top level, too, if that is for no other port and host.
fn fix(
    cx: &Context<'_>,
    hosts: &[Defined<'_>],
    policy: &Spanned<TrafficPolicy>,
    name: &str,
    limit: &Spanned<Duration>,
) -> Option<Fix> {
    let [only] = hosts else { return None };
    if only.definition.ports.len() != 1 {
        return None;
    }
    let within = |name: &str, value| Value::Map(vec![(name.to_owned(), value)]);
    let value = cx.texts.value(limit.key)?;
    let pool = policy.connection_pool.as_ref();
    let edit = match pool.map(|pool| (pool.key, pool.tcp.as_ref())) {
        Some((_, Some(tcp))) => cx.texts.edit(tcp.key, |it| it.insert(name, &value)),
        Some((pool, None)) => {
            let tcp = within(name, value);
            cx.texts.edit(pool, |it| it.insert("tcp", &tcp))
        }
        None => {
            let pool = within("tcp", within(name, value));
            cx.texts
                .edit(policy.key, |it| it.insert("connectionPool", &pool))
        }
    }?;
    Some(Fix::new(Safety::Safe, "say it at the top level, too", edit))
}
