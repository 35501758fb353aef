//! A rule that delegates to nothing.

use foldhash::HashMap;

use super::targets::is_for_egress;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::namespace::{Same, same};
use crate::egress::virtual_service::VirtualService as Routes;
use crate::egress::visibility::{DefaultExport, exposure};
use crate::istio::decode::Items;
use crate::istio::resource::{Resource, Spec};
use crate::istio::route::{Delegate, VirtualService};
use crate::source::{FileId, Span};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "delegate-unknown",
        summary: "a rule delegates to a VirtualService that cannot be delegated to: Istio leaves the rule out",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/delegate-unknown.md"),
    },
    build: super::plain::<DelegateUnknown>,
};

#[derive(Debug, Default)]
pub(super) struct DelegateUnknown;

/// Of one name so many VirtualServices are looked at.
const OF_NAME: usize = 64;

/// So many hosts are shown.
const HOSTS: usize = 3;

impl Check for DelegateUnknown {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let by_name = ByName::new(cx);
        for routes in cx.model.virtual_services.iter() {
            let rules = routes.spec.http.items().iter();
            let delegates = rules.filter_map(|rule| rule.value.delegate.as_ref());
            let mut delegates = delegates.peekable();
            if delegates.peek().is_none() || !is_for_egress(cx, routes) {
                continue;
            }
            for delegate in delegates {
                let delegate = &delegate.value;
                let (Some(fault), Some(name)) = (by_name.fault(routes, delegate), &delegate.name)
                else {
                    continue;
                };
                let message = format!(
                    "Istio leaves this rule out: the VirtualService `{}` {}",
                    name.value, fault.what
                );
                out.add(Basis::Proven, name.span, message, |finding| {
                    let lines = fault.because.into_iter();
                    lines
                        .fold(finding, |finding, (line, why)| finding.because(line, why))
                        .help(fault.help)
                });
            }
        }
    }

    fn says_absence(&self) -> bool {
        true
    }
}

/// Why nothing can be delegated to a VirtualService.
struct Fault {
    what: &'static str,
    because: Vec<(Span, &'static str)>,
    help: String,
}

/// All VirtualServices, refused ones too.
struct ByName<'c> {
    /// Under the names that their files give them.
    found: HashMap<&'c str, Vec<(&'c Resource, &'c VirtualService)>>,
    /// Those of them that a kustomization gives other names, with the names that it makes longer.
    renamed: HashMap<Span, &'c str>,
    default: DefaultExport,
    is_certain: bool,
}

/// With more VirtualServices of other names than this none is told to be missing.
const RENAMED: usize = 256;

impl<'c> ByName<'c> {
    fn new(cx: &'c Context<'_>) -> Self {
        let mut found: HashMap<_, Vec<_>> = HashMap::default();
        let mut files: HashMap<FileId, bool> = HashMap::default();
        let mut renamed = HashMap::default();
        for resource in cx.world.resources.iter().copied() {
            if let Spec::VirtualService(spec) = &resource.spec {
                let of_name = found.entry(resource.name()).or_default();
                of_name.push((resource, &**spec));
                let file = resource.span.file;
                let other_names = files.entry(file);
                if *other_names.or_insert_with(|| cx.world.is_renamed(file)) {
                    renamed.insert(resource.span, resource.name());
                }
            }
        }
        Self {
            found,
            is_certain: cx.world.knows_all("VirtualService") && renamed.len() <= RENAMED,
            renamed,
            default: cx.model.mesh.virtual_service_export(),
        }
    }

    /// What is refused is told there, and of several nobody knows here which one is taken.
    fn fault(&self, routes: &Routes<'_>, delegate: &Delegate) -> Option<Fault> {
        let own = routes.namespace();
        let named = delegate
            .namespace
            .as_ref()
            .filter(|it| !it.value.is_empty());
        let wanted = named.map(|it| it.value.as_str()).or(own);
        let name = delegate.name.as_ref()?.value.as_str();
        let found = self.found.get(name);
        let found = found.into_iter().flatten().take(OF_NAME);
        let mut found = found.filter(|(it, _)| same(it.namespace(), wanted) != Same::No);
        let Some((resource, spec)) = found.next() else {
            let mut renamed = self.renamed.values();
            let certain = self.is_certain && !renamed.any(|it| name.contains(it));
            return certain.then(|| Fault {
                what: "is not defined",
                because: Vec::new(),
                help: "add it, or correct its name".to_owned(),
            });
        };
        let is_other = self.renamed.contains_key(&resource.span);
        if resource.refused || is_other || found.next().is_some() {
            return None;
        }
        if let hosts @ [_, ..] = spec.hosts.items() {
            let hosts = hosts.iter().take(HOSTS);
            let hosts = hosts.map(|it| (it.span, "what is delegated to has no hosts"));
            let own = routes.hosts.iter().take(HOSTS);
            let own = own.map(|(_, line)| (*line, "a host of the rule"));
            return Some(Fault {
                what: "has `hosts` of its own, so that nothing can be delegated to it",
                because: hosts.chain(own).collect(),
                help: "remove its `hosts`, and its `gateways` with them".to_owned(),
            });
        }
        let declared = spec.export_to.as_ref()?;
        let entries = declared.value.iter().map(|it| it.value.as_str());
        let seen = exposure(resource.namespace(), entries, &self.default, own);
        seen.is_none().then(|| Fault {
            what: "is not exported to this namespace",
            because: vec![(declared.key, "this hides it")],
            help: format!("add `{}` to its `exportTo`", own.unwrap_or("*")),
        })
    }
}
