//! What becomes of calls to hosts that the proxy does not know.

use super::Call;
use super::result::result;
use crate::egress::facts::{CallResult, Handler, Outcome, Speaks, WeightedCluster};
use crate::egress::http_route::passthrough_facts;
use crate::egress::l4_route::only_one;
use crate::egress::proxy::Proxy;

impl Proxy<'_> {
    /// A request to a host that the proxy does not know.
    pub(super) fn unknown_request(&self) -> CallResult {
        let mode = &self.scope.outbound.mode;
        if !self.scope.outbound.allows_any() {
            return CallResult {
                outcome: mode.clone().map(|_| Outcome::DirectResponse),
                status: Some(502),
                ..result(Outcome::DirectResponse, Some(Handler::Http))
            };
        }
        CallResult {
            route: Some(Box::new(passthrough_facts())),
            ..self.out(Handler::Http)
        }
    }

    /// A connection to a host that the proxy does not know.
    pub(super) fn unknown_host(&self, call: &Call) -> CallResult {
        let is_http = matches!(call.speaks, Speaks::Http | Speaks::Http2);
        if !self.scope.outbound.allows_any() {
            return self.blackhole();
        }
        if is_http && self.scope.outbound.resolves_names() && !self.has_listener(call) {
            return self.unknown_request();
        }
        CallResult {
            tcp: Some(Default::default()),
            ..self.out(Handler::Tcp)
        }
    }

    fn has_listener(&self, call: &Call) -> bool {
        let address = call.connection().address;
        self.listeners(call.port).of(address).is_some()
    }

    /// To where the client sent it, or to the proxy that the Sidecar names.
    fn out(&self, handler: Handler) -> CallResult {
        let outbound = &self.scope.outbound;
        let (cluster, outcome) = match outbound.cluster(handler) {
            Some(cluster) => (cluster, Outcome::Forwarded),
            None => {
                let passthrough = outbound
                    .mode
                    .clone()
                    .map(|_| "PassthroughCluster".to_owned());
                (passthrough, Outcome::Passthrough)
            }
        };
        CallResult {
            outcome: outbound.mode.clone().map(|_| outcome),
            clusters: vec![WeightedCluster {
                name: cluster,
                weight: only_one(),
            }],
            ..result(outcome, Some(handler))
        }
    }

    pub(super) fn blackhole(&self) -> CallResult {
        let mode = &self.scope.outbound.mode;
        CallResult {
            outcome: mode.clone().map(|_| Outcome::Blackhole),
            clusters: vec![WeightedCluster {
                name: mode.clone().map(|_| "BlackHoleCluster".to_owned()),
                weight: only_one(),
            }],
            tcp: Some(Default::default()),
            ..result(Outcome::Blackhole, Some(Handler::Tcp))
        }
    }
}
