//! A ServiceEntry for the name of a Service.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::{Definition, Origin, Resolution};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "host-is-kubernetes-service",
        summary: "a ServiceEntry for a Kubernetes Service of its namespace is ignored",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/host-is-kubernetes-service.md"),
    },
    build: super::plain::<HostIsKubernetesService>,
};

#[derive(Debug, Default)]
pub(super) struct HostIsKubernetesService;

impl Check for HostIsKubernetesService {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let registry = &cx.model.registry;
        let entries = registry
            .services()
            .filter(|it| it.origin == Origin::ServiceEntry);
        for entry in entries {
            let namespace = entry.namespace();
            let mut same = registry.of_host_in(entry.name(), namespace);
            let service = same.find(|it| it.origin == Origin::Kubernetes);
            let Some(service) =
                service.filter(|it| namespace.is_some() && it.namespace() == namespace)
            else {
                continue;
            };
            let lost = match lends_endpoints(entry.definition, service.definition) {
                Some(true) => continue,
                Some(false) => {
                    "the entry's ports are not used, its endpoints only where port names are equal"
                }
                None => "the entry's ports, resolution and endpoints are not used",
            };
            let message = format!(
                "`{}` is a Kubernetes Service of this namespace, which always wins: {lost}",
                entry.name()
            );
            let files = (entry.host.line.file, service.host.line.file);
            let basis = Basis::together(cx.world.is_one_folder(files.0, files.1));
            out.add(basis, entry.host.line, message, |finding| {
                finding
                    .because(service.host.line, "the Service")
                    .help("change the Service, or give the entry a name of its own")
            });
        }
    }
}

/// Whether the endpoints of the entry serve the Service on each of the entry's ports. Istio keeps them by host and
/// namespace, whoever has defined the host, and tells their ports by name. `None` where they are no addresses.
fn lends_endpoints(entry: &Definition<'_>, service: &Definition<'_>) -> Option<bool> {
    (entry.resolution == Resolution::Static).then(|| {
        entry.ports.iter().all(|port| {
            let same = service.port(port.number);
            same.is_some_and(|it| it.name == port.name)
        })
    })
}
