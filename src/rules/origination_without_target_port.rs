//! TLS to the port for plain HTTP.

use super::traffic::{Reached, Traffic};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::egress::facts::{Endpoint, Handler, TlsFacts};
use crate::egress::host::service_of;
use crate::istio::decode::Items;
use crate::istio::resource::Spec;
use crate::yaml::Value;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "origination-without-target-port",
        summary: "TLS is originated, but goes to port 80",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
        since: "0.1.0",
        page: include_str!("../../rules/origination-without-target-port.md"),
    },
    build: super::plain::<OriginationWithoutTargetPort>,
};

#[derive(Debug, Default)]
pub(super) struct OriginationWithoutTargetPort;

impl Check for OriginationWithoutTargetPort {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let Some(TlsFacts::Explicit(tls)) = &reached.cluster.tls.value else {
                continue;
            };
            let own = matches!(tls.mode.value, "SIMPLE" | "MUTUAL");
            let http = reached.hop.result.handler == Some(Handler::Http);
            let endpoints = &reached.cluster.endpoints;
            // A Service of the mesh may be a gateway, which expects TLS where its Gateway says so.
            let is_plain =
                |it: &Endpoint| it.port.value == 80 && service_of(&it.address.value).is_none();
            let to_80 = !endpoints.is_empty() && endpoints.iter().all(is_plain);
            let place = reached.port_line();
            if !own || !http || !to_80 || !out.is_first(place) {
                continue;
            }
            let message = format!(
                "TLS for `{}` goes to port 80, where servers expect plain HTTP",
                reached.path.host
            );
            out.add(Basis::Proven, place, message, |finding| {
                let lines = tls.mode.spans().iter().take(1);
                lines
                    .fold(finding, |finding, line| {
                        finding.because(*line, "TLS is originated here")
                    })
                    .because(reached.host_line(), "the external host")
                    .absent("targetPort")
                    .help("add `targetPort: 443` to the port")
                    .fix(fix(cx, &reached))
            });
        }
    }
}

/// Unsafe: it sends traffic to another port. Where endpoints name their own ports, theirs count.
fn fix(cx: &Context<'_>, reached: &Reached<'_>) -> Option<Fix> {
    let Spec::ServiceEntry(entry) = &reached.definition(cx)?.resource.spec else {
        return None;
    };
    if entry.endpoints.items().iter().any(|it| it.ports.is_some()) {
        return None;
    }
    let port = Value::Int(443);
    let edit = cx.texts.edit(reached.port_line(), |it| {
        it.insert_beside("targetPort", &port)
    })?;
    Some(Fix::new(Safety::Unsafe, "send TLS to port 443", edit))
}
