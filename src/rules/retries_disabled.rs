//! Nothing is retried on a way to an external host.

use std::collections::BTreeMap;

use super::ways::HttpWay;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::egress::host::CLUSTER_DOMAIN;
use crate::source::Span;
use crate::yaml::Value;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "retries-disabled",
        summary: "retries are off on an HTTP route to an external host: a failed connection reaches the application",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
        since: "0.1.0",
        page: include_str!("../../rules/retries-disabled.md"),
    },
    build: super::plain::<RetriesDisabled>,
};

#[derive(Debug, Default)]
pub(super) struct RetriesDisabled;

impl Check for RetriesDisabled {
    fn check_ways(&self, cx: &Context<'_>, ways: &[HttpWay<'_>], out: &mut Findings) {
        let own = format!(".svc.{CLUSTER_DOMAIN}");
        // By the line that switches them off: the first way that it holds for.
        let mut lines: BTreeMap<Span, &HttpWay<'_>> = BTreeMap::new();
        for way in ways {
            // A host with a name of the cluster's own is of the mesh, whatever its entry says of the location.
            let external = !way.service.name().ends_with(&own);
            let off = external
                && way.retry.is_none()
                && way.reaches
                && !cx.is_not_repeatable(&way.service);
            if let (true, Some(&line)) = (off, way.retry.spans().first()) {
                lines.entry(line).or_insert(way);
            }
        }
        for (line, way) in lines {
            let what = cx.sources.text(line).trim_matches(['"', '\'']);
            let destination = way.destination();
            let message = match what {
                "retries" => format!(
                    "this `retries` block sets no `attempts`, which switches retries off for `{destination}`: a failed \
                     connection reaches the application"
                ),
                "defaultHttpRetryPolicy" => format!(
                    "the mesh's default policy sets no `attempts`, which switches retries off for `{destination}`: a \
                     failed connection reaches the application"
                ),
                value => format!(
                    "`attempts: {value}` switches retries off for `{destination}`: a failed connection reaches the \
                     application"
                ),
            };
            out.add(Basis::Proven, line, message, |mut finding| {
                if matches!(what, "retries" | "defaultHttpRetryPolicy") {
                    finding = finding.absent("attempts");
                }
                finding = finding.because(way.service.host.line, "the external host");
                if let Some(port) = way.service.definition.port(way.port) {
                    finding = finding.because(port.number_line, "the port that requests go to");
                }
                if let Some(rule) = way.rule {
                    finding = finding.because(rule, "the route that leads there");
                }
                finding.help(
                    "leave it out, and Istio retries failed connections twice, on another address if there is one; or say \
                     `repeatable: false` for the host if its requests must not be sent twice",
                )
                .fix(fix(cx, line, what))
            });
        }
    }
}

/// Istio's own number of attempts. Unsafe: somebody may have meant it. What the mesh says is not the route's to change.
fn fix(cx: &Context<'_>, line: Span, what: &str) -> Option<Fix> {
    cx.retries_block(line)?;
    let attempts = Value::Int(2);
    let edit = cx.texts.edit(line, |it| match what {
        "retries" => it.insert("attempts", &attempts),
        _ => it.set(&attempts),
    })?;
    let message = "retry twice, as Istio does by default";
    Some(Fix::new(Safety::Unsafe, message, edit))
}
