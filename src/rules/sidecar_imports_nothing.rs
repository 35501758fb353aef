//! A host of a Sidecar that is not there.

use std::cell::OnceCell;

use smol_str::SmolStr;

use super::ambient::Ambient;
use super::context::existing;
use super::unknown_hosts::{UnknownHosts, like, shown};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::host::{is_wildcard, service_of};
use crate::egress::service::{Origin, Service};
use crate::egress::sidecar::EgressListener;
use crate::istio::decode::Items;
use crate::istio::proxy::Sidecar;
use crate::istio::resource::Spec;
use crate::source::Spanned;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "sidecar-imports-nothing",
        summary: "an entry of a Sidecar's `hosts` imports nothing: the host is not there, in another namespace, or not exported",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/sidecar-imports-nothing.md"),
    },
    build: super::plain::<SidecarImportsNothing>,
};

#[derive(Debug, Default)]
pub(super) struct SidecarImportsNothing;

/// With more entries for one host nothing is said.
const OF_HOST: usize = 64;

impl Check for SidecarImportsNothing {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let hosts = UnknownHosts::new(cx);
        let ambient = Ambient::of(cx);
        for resource in existing(cx.world) {
            let Spec::Sidecar(sidecar) = &resource.spec else {
                continue;
            };
            let Some(own) = resource.namespace() else {
                continue;
            };
            // Nobody reads it there, which is said elsewhere.
            if ambient.get(Some(own)).is_some() {
                continue;
            }
            let for_all = own == cx.model.rules.root_namespace();
            let importer = Importer {
                cx,
                sidecar,
                own,
                for_all: for_all && sidecar.workload_selector.is_none(),
                listeners: OnceCell::new(),
            };
            let listeners = sidecar.egress.items().iter();
            for entry in listeners.flat_map(|it| it.value.hosts.items()) {
                importer.judge(entry, &hosts, out);
            }
        }
    }

    fn says_absence(&self) -> bool {
        true
    }

    fn yields_to(&self) -> &'static [&'static str] {
        &["destination-rule-unseen", "sidecar-does-not-import"]
    }
}

/// A Sidecar.
struct Importer<'c> {
    cx: &'c Context<'c>,
    sidecar: &'c Sidecar,
    own: &'c str,
    /// It holds in all namespaces that have none.
    for_all: bool,
    listeners: OnceCell<Vec<EgressListener<'c>>>,
}

impl Importer<'_> {
    fn judge(&self, entry: &Spanned<SmolStr>, hosts: &UnknownHosts<'_>, out: &mut Findings) {
        let cx = self.cx;
        let Some((written, host)) = entry.value.split_once('/') else {
            return;
        };
        let wanted = match written {
            "." if self.for_all => return,
            "." => self.own,
            written => written,
        };
        // A VirtualService may be meant, which is imported by its hosts.
        let mut routes = cx.routes_for(host).take(OF_HOST);
        let is_there = |it: Option<&str>| wanted == "*" || it.is_none_or(|it| it == wanted);
        let excludes = wanted.starts_with('~');
        let of_mesh = service_of(host).is_some();
        if is_wildcard(host) || of_mesh || excludes || routes.any(|it| is_there(it.namespace())) {
            return;
        }
        let services = cx.model.registry.of_host(host).take(OF_HOST);
        let services: Vec<Service<'_>> = services.collect();
        let Some(first) = services.first() else {
            if let Some(unknown) = hosts.find(host) {
                let message = format!("this imports nothing: nothing defines `{}`", shown(host));
                let help = match unknown.meant {
                    Some(meant) => format!("did you mean `{}`?", meant.host),
                    None => "remove it, or correct the host".to_owned(),
                };
                out.add(unknown.basis, entry.span, message, |finding| {
                    like(finding, unknown.wildcard, unknown.meant).help(help)
                });
            }
            return;
        };
        let is_entry = first.origin == Origin::ServiceEntry;
        if services.len() == OF_HOST || !is_entry {
            return;
        }
        let mut here = services.iter().filter(|it| is_there(it.namespace()));
        let mut seen = services.iter().filter(|it| self.sees(it));
        match (here.next(), seen.next()) {
            (None, Some(there)) if !self.imports(&services) => {
                self.elsewhere(entry, wanted, there, out)
            }
            (Some(hidden), _)
                if !self.sees(hidden)
                    && !here.any(|it| self.sees(it))
                    && !self.imports(&services) =>
            {
                self.hidden(entry, hidden, out);
            }
            _ => {}
        }
    }

    fn sees(&self, service: &Service<'_>) -> bool {
        let registry = &self.cx.model.registry;
        self.for_all || registry.exposure(service, Some(self.own)).is_some()
    }

    /// Whether some entry imports the host.
    fn imports(&self, services: &[Service<'_>]) -> bool {
        let all = || EgressListener::all(Some(self.sidecar), Some(self.own), self.cx.version);
        let listeners = self.listeners.get_or_init(all).iter();
        let mut seen = services.iter().filter(|it| self.sees(it));
        seen.any(|service| listeners.clone().any(|it| it.imports_service(service)))
    }

    fn elsewhere(
        &self,
        entry: &Spanned<SmolStr>,
        wanted: &str,
        there: &Service<'_>,
        out: &mut Findings,
    ) {
        let (host, namespace) = (there.name(), there.namespace().unwrap_or_default());
        let basis = match self.cx.world.knows_all("ServiceEntry") {
            true => Basis::Proven,
            false => Basis::assuming(format!("no other file defines `{host}` in `{wanted}`")),
        };
        let message =
            format!("this imports nothing: `{host}` is not in `{wanted}`, but in `{namespace}`");
        out.add(basis, entry.span, message, |finding| {
            finding
                .because(there.host.line, "the host")
                .help(format!("write `{namespace}/{host}`"))
        });
    }

    fn hidden(&self, entry: &Spanned<SmolStr>, hidden: &Service<'_>, out: &mut Findings) {
        let (host, own) = (hidden.name(), self.own);
        let Spec::ServiceEntry(spec) = &hidden.definition.resource.spec else {
            return;
        };
        let hides = spec.export_to.items().first();
        // From all, which is said there.
        if hides.is_some_and(|it| it.value == "~") {
            return;
        }
        let hides = hides.map(|it| it.span);
        let message = format!("this imports nothing: `{host}` is not exported to `{own}`");
        let together = self
            .cx
            .world
            .is_one_folder(entry.span.file, hidden.host.line.file);
        out.add(Basis::together(together), entry.span, message, |finding| {
            hides
                .into_iter()
                .fold(finding, |finding, line| {
                    finding.because(line, "this hides it")
                })
                .because(hidden.host.line, "the host")
                .help(format!("add `{own}` to `exportTo` of the ServiceEntry"))
        });
    }
}
