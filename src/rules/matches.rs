//! The matches of a VirtualService, whatever section they are of.

use smol_str::SmolStr;

use crate::istio::decode::{Items, List, Rare};
use crate::istio::route::VirtualService;
use crate::source::Span;

/// Where a match holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holds<'v> {
    pub(super) gateways: &'v Rare<List<SmolStr>>,
    pub(super) port: &'v Rare<i64>,
}

/// The `http`, `tls` or `tcp` rules.
#[derive(Clone, Debug)]
pub(super) struct Section<'v> {
    pub(super) key: Span,
    pub(super) rules: Vec<Rule<'v>>,
}

#[derive(Clone, Debug)]
pub(super) struct Rule<'v> {
    pub(super) place: Span,
    /// None for a rule that takes everything.
    pub(super) matches: Vec<Holds<'v>>,
}

macro_rules! section {
    ($name:ident) => {
        pub(super) fn $name(service: &VirtualService) -> Option<Section<'_>> {
            let section = service.$name.as_ref().filter(|it| !it.value.is_empty())?;
            let rules = section.value.iter().map(|rule| {
                let matches = rule.matches.items().iter();
                let holds = matches.map(|it| Holds {
                    gateways: &it.gateways,
                    port: &it.port,
                });
                Rule {
                    place: rule.key,
                    matches: holds.collect(),
                }
            });
            Some(Section {
                key: section.key,
                rules: rules.collect(),
            })
        }
    };
}

section!(http);
section!(tls);
section!(tcp);

/// Of each rule of each section its matches.
pub(super) fn of_rules(service: &VirtualService) -> impl Iterator<Item = Vec<Holds<'_>>> {
    let rules = sections(service).flat_map(|section| section.rules);
    rules.map(|rule| rule.matches)
}

pub(super) fn sections(service: &VirtualService) -> impl Iterator<Item = Section<'_>> {
    [http(service), tls(service), tcp(service)]
        .into_iter()
        .flatten()
}
