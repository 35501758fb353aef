//! Who the upstream is taken to be: the names of its certificate, and whether mutual TLS is on offer.

use super::Plan;
use super::load_balancer::passthrough;
use crate::egress::endpoint::{self, Wanted};
use crate::egress::facts::Traced;
use crate::egress::service::{Origin, Resolution};

impl Plan<'_> {
    /// The names that the upstream's certificate may carry, where no rule gives any.
    pub(super) fn accounts(&self) -> Traced<Vec<String>> {
        let none = Traced::default(
            Vec::new(),
            "neither the rule nor the service names the certificate",
        );
        if self.dynamic {
            return none;
        }
        let model = self.model;
        let service = &self.service.base;
        // Of several entries for the host, the last one's names are taken.
        let last = model.registry.last_in(service.name(), service.namespace());
        let names = last
            .map(|last| last.definition.subject_alt_names())
            .unwrap_or_default();
        let mut names: Vec<_> = names
            .iter()
            .map(|name| (name.value.to_string(), name.span))
            .collect();
        names.extend(endpoint::accounts(
            &model.registry,
            &model.workloads,
            service,
            model.mesh.trust_domain(),
        ));
        names.sort();
        names.dedup_by(|a, b| a.0 == b.0);
        match names.is_empty() {
            true => none,
            false => {
                let (names, lines): (Vec<_>, Vec<_>) = names.into_iter().unzip();
                Traced::lines(names, lines)
            }
        }
    }

    /// Whether endpoints with a sidecar get mutual TLS although no rule asks for it.
    pub(super) fn auto_mtls(&self) -> bool {
        if self.service.mesh_external || !self.model.mesh.auto_mtls() {
            return false;
        }
        let policy = match self.subset {
            Some(subset) => subset.value.traffic_policy.as_deref(),
            None => self.whole_policy(),
        };
        let balancer = policy
            .and_then(|policy| policy.value.load_balancer.as_ref())
            .map(|block| &block.value);
        if self.service.resolution != Resolution::Passthrough && passthrough(balancer).is_none() {
            return true;
        }
        // Where the proxy does not know the endpoint, all of them must have a sidecar.
        let wanted = match self.service.origin {
            Origin::ServiceEntry => Wanted::Number(self.port.number),
            Origin::Kubernetes => Wanted::Name(self.port.name),
        };
        let all = endpoint::instances(
            &self.model.registry,
            &self.model.workloads,
            &self.service.base,
            wanted,
        );
        !all.is_empty() && all.iter().all(|instance| instance.mutual_tls)
    }

    pub(super) fn istio_sni(&self) -> String {
        if self.dynamic {
            return String::new();
        }
        let subset = self
            .subset
            .and_then(|subset| subset.value.name.as_ref())
            .map_or("", |name| &name.value);
        format!(
            "outbound_.{}_.{subset}_.{}",
            self.port.number,
            self.service.name()
        )
    }
}
