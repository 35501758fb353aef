//! Two VirtualServices of one host for sidecars.

use foldhash::HashMap;

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::Origin;
use crate::egress::virtual_service::{Binding, VirtualService};
use crate::istio::decode::Items;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "virtual-service-duplicate",
        summary: "two VirtualServices for sidecars have one host: only the older one's `http` rules are used",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/virtual-service-duplicate.md"),
    },
    build: super::plain::<VirtualServiceDuplicate>,
};

#[derive(Debug, Default)]
pub(super) struct VirtualServiceDuplicate;

impl Check for VirtualServiceDuplicate {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let mut first: HashMap<(Audience<'_>, &str), First<'_>> = HashMap::default();
        for service in cx.model.virtual_services.iter() {
            let of_mesh = service.bindings.contains(&Binding::Mesh);
            let Some(audience) = audience(service) else {
                continue;
            };
            if !of_mesh || service.http().next().is_none() {
                continue;
            }
            for (host, line) in &service.hosts {
                let mut definitions = cx.model.registry.of_host(host);
                if !definitions.any(|it| it.origin == Origin::ServiceEntry) {
                    continue;
                }
                let First { other, kept, left } = first.entry((audience, host)).or_insert(First {
                    other: service,
                    kept: *line,
                    left: OTHERS,
                });
                if *left == 0 || other.resource.name() == service.resource.name() {
                    continue;
                }
                *left -= 1;
                let files = (other.resource.span.file, service.resource.span.file);
                let basis = Basis::together(cx.world.is_one_unit(files.0, files.1));
                let message = format!(
                    "`{host}` has another VirtualService, `{}`: sidecars use the `http` rules of the older one only, \
                     requests that only the other one matches get 404",
                    other.resource.name()
                );
                out.add(basis, *line, message, |finding| {
                    finding.because(*kept, "the other one").help(
                        "make one VirtualService of the two, or let one delegate to the other",
                    )
                });
            }
        }
    }

    fn yields_to(&self) -> &'static [&'static str] {
        &["delegate-unknown"]
    }
}

/// So many others of one host are told of.
const OTHERS: usize = 1000;

/// The VirtualService that sidecars use of a host, its line, and of how many others is still told.
struct First<'c> {
    other: &'c VirtualService<'c>,
    kept: Span,
    left: usize,
}

/// Whose sidecars get a VirtualService.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Audience<'c> {
    All,
    Namespace(&'c str),
}

/// `None` where it is for some namespaces, which may be others than those of another one.
fn audience<'c>(service: &VirtualService<'c>) -> Option<Audience<'c>> {
    let exported = service.spec.export_to.items();
    if exported.is_empty() || exported.iter().any(|it| it.value == "*") {
        return Some(Audience::All);
    }
    let own = service.namespace()?;
    let is_own = |to: &str| to == "." || to == own;
    let only_own = exported.iter().all(|it| is_own(&it.value));
    only_own.then_some(Audience::Namespace(own))
}
