//! `maxEjectionPercent` of the hosts there are is less than one host.

use super::clusters::Cluster;
use super::host_count::Count;
use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::istio::traffic::OutlierDetection;
use crate::source::{Span, Spanned};
use crate::yaml::Value;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "ejection-budget-zero",
        summary: "`maxEjectionPercent` of the hosts there are is less than one host: nothing is ever ejected",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
        since: "0.1.0",
        page: include_str!("../../rules/ejection-budget-zero.md"),
    },
    build: super::plain::<EjectionBudgetZero>,
};

#[derive(Debug, Default)]
pub(super) struct EjectionBudgetZero;

impl Check for EjectionBudgetZero {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for cluster in traffic.clusters() {
            let Some(budget) = Budget::of(cx, cluster) else {
                continue;
            };
            let Some(count) = Count::of(cx, cluster).filter(|count| budget.is_zero_for(count))
            else {
                continue;
            };
            // One block may hold for many clusters: the one with the fewest hosts decides.
            if out.is_worst(budget.place, count.rank()) {
                report(cx, &budget, &count, cluster, out);
            }
        }
    }
}

/// What a block lets be ejected.
struct Budget<'c> {
    /// The percentage, or the key of the block that does not set it.
    place: Span,
    percent: Option<u32>,
    block: Option<&'c Spanned<OutlierDetection>>,
}

/// Envoy's, where nothing is set.
const DEFAULT_PERCENT: u32 = 10;

impl<'c> Budget<'c> {
    fn of(cx: &'c Context<'_>, cluster: &Cluster<'_>) -> Option<Self> {
        let outlier = &cluster.facts.outlier;
        let facts = outlier.value.as_ref().filter(|it| !it.detects_nothing())?;
        let percent = facts.max_ejection_percent.as_ref();
        let key = *outlier.spans().first()?;
        let block = cx.outlier_block(key);
        // An explicit 0 counts as unset.
        let written = block.and_then(|block| block.value.max_ejection_percent.as_ref());
        Some(Self {
            place: written.map_or(key, |written| written.span),
            percent: percent.map(|percent| percent.value),
            block,
        })
    }

    fn is_absent(&self) -> bool {
        self.block
            .is_none_or(|block| block.value.max_ejection_percent.is_none())
    }

    fn is_zero_for(&self, count: &Count) -> bool {
        let percent = self.percent.unwrap_or(DEFAULT_PERCENT).min(100);
        match *count {
            Count::Known { hosts, .. } | Count::AtLeast(hosts) => {
                hosts.saturating_mul(percent) < 100
            }
            // An explicit value was chosen by somebody who may know the number.
            Count::Unknown => self.percent.is_none(),
        }
    }
}

fn report(
    cx: &Context<'_>,
    budget: &Budget<'_>,
    count: &Count,
    cluster: &Cluster<'_>,
    out: &mut Findings,
) {
    let destination = cluster.destination();
    let by_workloads = cluster.service.selector.is_some();
    let ejects = match budget.percent {
        Some(percent) => format!("`maxEjectionPercent: {percent}`"),
        None => format!("the default `maxEjectionPercent` of {DEFAULT_PERCENT} %"),
    };
    let (basis, of) = match count {
        Count::Known { hosts: 1, .. } => (Basis::Proven, "of one host".to_owned()),
        Count::Known { hosts, .. } => (Basis::Proven, format!("of {hosts} hosts")),
        Count::AtLeast(names) => (
            Basis::assuming("each of the endpoints is one address"),
            format!("of {names} hosts"),
        ),
        Count::Unknown => (
            Basis::assuming(match by_workloads {
                true => "fewer than ten workloads are selected",
                false => "its answers hold fewer than ten addresses",
            }),
            "of fewer than ten hosts".to_owned(),
        ),
    };
    let message = format!(
        "{ejects} {of} is less than one: outlier detection never ejects a host of {destination}"
    );
    let worst = (budget.place, count.rank());
    out.add_worst(worst, basis, budget.place, message, |mut finding| {
        if budget.is_absent() {
            finding = finding.absent("maxEjectionPercent");
        }
        finding = finding.because(cluster.service.host.line, "the host that it is for");
        match count {
            Count::Known { hosts: 1, .. } => finding = finding.help(
                "there is no other host to go to: have the other side answer with a second address, or remove `outlierDetection`",
            ),
            Count::Known { hosts, .. } | Count::AtLeast(hosts) => {
                let least = 100_u32.div_ceil((*hosts).max(1));
                finding = finding.help(format!(
                    "set `maxEjectionPercent: {least}`, the smallest value that can eject one of {hosts} hosts"
                ));
                finding = finding.fix(fix(cx, budget, cluster, least));
            }
            Count::Unknown if by_workloads => {
                finding = finding.help("set `maxEjectionPercent: 50` for two workloads");
            }
            Count::Unknown => finding = finding.help(
                "set `maxEjectionPercent: 50` for two addresses, or say how many there are: `addresses` under `hosts:`",
            ),
        }
        if let Count::Known { lines, .. } = count {
            for (line, what) in lines {
                finding = finding.because(*line, what.clone());
            }
        }
        finding
    });
}

fn fix(cx: &Context<'_>, budget: &Budget<'_>, cluster: &Cluster<'_>, percent: u32) -> Option<Fix> {
    let block = budget.block?;
    let value = Value::Int(i64::from(percent));
    let edit = match &block.value.max_ejection_percent {
        Some(written) => cx.texts.edit(written.span, |it| it.set(&value))?,
        None => cx
            .texts
            .edit(block.key, |it| it.insert("maxEjectionPercent", &value))?,
    };
    // Other hosts under the same rule may have been meant to keep theirs.
    let safety = Safety::safe_if(cluster.has_rule_of_its_own(cx));
    Some(Fix::new(
        safety,
        format!("let {percent} % be ejected"),
        edit,
    ))
}
