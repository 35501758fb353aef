//! Load balancing by locality and by zone.

use std::collections::HashMap;

use smol_str::SmolStr;

use super::super::Items;
use super::super::decode::List;
use super::super::traffic::{Distribute, Failover, LocalityLbSetting, ZoneAwareLbSetting};
use super::{Review, also, refusal};
use crate::istio::wording::listed;
use crate::source::{Span, Spanned};

const TOPOLOGY: [&str; 3] = [
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.istio.io/subzone",
];

pub(super) fn check(setting: &LocalityLbSetting, review: &mut Review<'_>) {
    let failover = setting.failover.as_ref().filter(|list| !list.is_empty());
    if let (Some(distribute), Some(failover)) = (
        setting.distribute.as_ref().filter(|list| !list.is_empty()),
        failover,
    ) {
        review.push(
            refusal(
                failover.key,
                "`failover` and `distribute` exclude each other",
            )
            .because(distribute.key, "set here")
            .help("keep one of them"),
        );
        return;
    }
    let topology = setting
        .failover_priority
        .items()
        .iter()
        .find(|label| TOPOLOGY.contains(&label.as_str()));
    if let (Some(label), Some(failover)) = (topology, failover) {
        review.push(
            refusal(
                label.span,
                format!(
                    "`failover` and the label `{}` in `failoverPriority` exclude each other",
                    label.value
                ),
            )
            .because(failover.key, "set here")
            .help("keep one of them"),
        );
        return;
    }
    let mut sources = Localities::default();
    for rule in setting.distribute.items() {
        if !check_distribute(rule, review) {
            return;
        }
        let from = rule.from.as_ref();
        let (from, span) = from.map_or(("", rule.key), |from| (from.value.as_str(), from.span));
        sources.add(from, span, review);
    }
    check_regions(&setting.failover, review);
}

/// Whether the next ones are to be looked at.
fn check_distribute(rule: &Spanned<Distribute>, review: &mut Review<'_>) -> bool {
    let mut total = 0_i64;
    let mut targets = Localities::default();
    for (locality, weight) in rule.to.iter().flat_map(|to| to.iter()) {
        if !(1..=100).contains(&weight.value) {
            review.push(refusal(
                weight.span,
                format!("the weight `{}` is not from 1 to 100", weight.value),
            ));
            return false;
        }
        total = total.saturating_add(weight.value);
        targets.add(&locality.value, locality.span, review);
    }
    if total != 100 {
        let text = format!("the weights add up to {total}, not to 100");
        review.push(match &rule.to {
            Some(to) => refusal(to.key, text),
            None => refusal(rule.key, text).absent("to"),
        });
        return false;
    }
    true
}

pub(super) fn check_zone_aware(setting: &ZoneAwareLbSetting, review: &mut Review<'_>) {
    for label in setting
        .failover_priority
        .items()
        .iter()
        .filter(|label| TOPOLOGY.contains(&label.as_str()))
    {
        review.push(
            refusal(
                label.span,
                format!(
                    "zone-aware load balancing orders by `{}` by itself",
                    label.value
                ),
            )
            .help("remove the label"),
        );
    }
    check_regions(&setting.failover, review);
}

fn check_regions(failover: &Option<Spanned<List<Failover>>>, review: &mut Review<'_>) {
    let mut deeper = Vec::new();
    for rule in failover.items() {
        let from = rule.from.as_ref();
        let to = rule.to.as_ref();
        let text =
            |side: Option<&Spanned<SmolStr>>| side.map_or(String::new(), |it| it.value.to_string());
        if text(from) == text(to) {
            let span = to.or(from).map_or(rule.key, |it| it.span);
            review.push(refusal(
                span,
                format!("failover from `{}` leads to itself", text(from)),
            ));
        }
        for side in [from, to].into_iter().flatten() {
            if side.contains('/') {
                deeper.push(side);
            }
            if side.contains('*') {
                review.push(refusal(
                    side.span,
                    format!("failover knows no wildcard: `{}`", side.value),
                ));
            }
        }
    }
    if let Some((first, rest)) = deeper.split_first() {
        let mut names: Vec<&str> = deeper.iter().map(|it| it.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let text = match names.len() {
            1 => format!("`{}` is no region", first.value),
            _ => format!("{} are no regions", listed(names.into_iter())),
        };
        let finding = refusal(first.span, text);
        let places = rest.iter().map(|it| it.span);
        review.push(also(finding, places, "nor this one").help(
            "leave out zone and subzone; `failoverPriority` with labels of the topology prefers near zones",
        ));
    }
}

/// Places that must not overlap: `region`, `region/zone`, `region/zone/subzone`, each perhaps with a `*` at the end.
#[derive(Default)]
struct Localities<'l> {
    regions: HashMap<&'l str, Region<'l>>,
    failed: bool,
}

#[derive(Default)]
struct Region<'l> {
    whole: bool,
    zones: HashMap<&'l str, Zone<'l>>,
}

#[derive(Default)]
struct Zone<'l> {
    whole: bool,
    subzones: HashMap<&'l str, ()>,
}

impl<'l> Localities<'l> {
    /// The first fault ends it.
    fn add(&mut self, place: &'l str, span: Span, review: &mut Review<'_>) {
        if self.failed {
            return;
        }
        if let Some(text) = self.fault(place) {
            self.failed = true;
            review.push(refusal(span, format!("the locality `{place}` {text}")));
        }
    }

    fn fault(&mut self, place: &'l str) -> Option<&'static str> {
        let overlaps = Some("overlaps one before it");
        let stars = place.matches('*').count();
        if stars > 1 || (stars == 1 && !place.ends_with('*')) {
            return Some("may have one `*`, at its end");
        }
        if self.regions.contains_key("*") {
            return overlaps;
        }
        let mut parts = place.splitn(3, '/');
        let (region, zone, subzone) = (parts.next().unwrap_or(""), parts.next(), parts.next());
        if region.is_empty() || zone == Some("") || subzone == Some("") {
            return Some("has an empty part");
        }
        let known = self.regions.contains_key(region);
        let entry = self.regions.entry(region).or_default();
        let Some(zone) = zone else {
            entry.whole = true;
            return if known { overlaps } else { None };
        };
        if entry.whole || entry.zones.contains_key("*") {
            return overlaps;
        }
        let known = entry.zones.contains_key(zone);
        let entry = entry.zones.entry(zone).or_default();
        let Some(subzone) = subzone else {
            entry.whole = true;
            return if known { overlaps } else { None };
        };
        let twice = entry.whole
            || entry.subzones.contains_key("*")
            || entry.subzones.insert(subzone, ()).is_some();
        if twice { overlaps } else { None }
    }
}
