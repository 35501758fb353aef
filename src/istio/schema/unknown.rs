//! A field that Istio does not have: what was meant by it.

use super::check::Checker;
use super::{Field, places};
use crate::diag::{Diagnostic, Edit, Fix, Safety, Severity};
use crate::istio::version::IstioVersion;
use crate::istio::wording::{bounded, nearest, with_article};
use crate::yaml::Entry;

/// Fields that Istio once had: the end of the path, and what to do.
const REMOVED: &[(&str, &str)] = &[
    ("spec.workloadLabels", "use `workloadSelector.labels`"),
    ("http.appendHeaders", "use `headers.request.add`"),
    ("http.appendRequestHeaders", "use `headers.request.add`"),
    ("http.removeRequestHeaders", "use `headers.request.remove`"),
    ("http.appendResponseHeaders", "use `headers.response.add`"),
    (
        "http.removeResponseHeaders",
        "use `headers.response.remove`",
    ),
    (
        "http.route.appendRequestHeaders",
        "use `headers.request.add`",
    ),
    (
        "http.route.removeRequestHeaders",
        "use `headers.request.remove`",
    ),
    (
        "http.route.appendResponseHeaders",
        "use `headers.response.add`",
    ),
    (
        "http.route.removeResponseHeaders",
        "use `headers.response.remove`",
    ),
    (
        "http.websocketUpgrade",
        "remove it: WebSockets work without",
    ),
    ("http.fault.abort.percent", "use `percentage: {value: …}`"),
    (
        "outlierDetection.http",
        "set its fields in `outlierDetection` itself",
    ),
    (
        "outlierDetection.tcp",
        "set its fields in `outlierDetection` itself",
    ),
    ("destination.port.name", "use `number`"),
    ("destination.name", "use `host`"),
    ("destination.service", "use `host`"),
];

/// Fields that Istio never had, and what is usually meant by them.
const INVENTED: &[(&str, &str)] = &[
    (
        "circuitBreaker",
        "use `outlierDetection` and `connectionPool` in the `trafficPolicy` of a DestinationRule",
    ),
    (
        "circuitBreakers",
        "use `outlierDetection` and `connectionPool` in the `trafficPolicy` of a DestinationRule",
    ),
    (
        "retryPolicy",
        "use `retries` in an HTTP route of a VirtualService",
    ),
];

/// The finding for one unknown field of an object that has these fields, and of which some are `taken`. `beside` are
/// unknown fields of the object, folded.
pub(super) fn field(
    entry: &Entry<'_>,
    fields: &'static [Field],
    taken: impl Fn(&str) -> bool,
    beside: &[String],
    at: &Checker<'_>,
) -> Diagnostic {
    let name = &*entry.name;
    let parent = at.path.to_string();
    let text = match parent.as_str() {
        "" | "spec" => format!("{} has no field `{name}`", with_article(at.kind)),
        _ => format!("`{parent}` has no field `{name}`"),
    };
    let mut finding = Diagnostic::new(
        "unknown-field",
        Severity::Error,
        entry.key.span(),
        bounded(text),
    );
    finding.field = Some(at.path.child(name));

    if let Some(later) = fields
        .iter()
        .find(|field| field.name == name && field.since > at.version)
    {
        finding.message = format!("Istio {} does not know the field `{name}` yet", at.version);
        return finding.help(format!("it needs Istio {}", later.since));
    }
    let pattern = at.path.pattern();
    let path = format!("{pattern}.{name}");
    if let Some((_, advice)) = REMOVED.iter().find(|(end, _)| path.ends_with(end)) {
        finding.message = format!("the field `{name}` was removed from Istio");
        return finding.help(*advice);
    }
    if let Some(near) = meant(name, fields, at.version) {
        let finding = finding.help(format!("did you mean `{near}`?"));
        return if taken(near) {
            finding
        } else {
            finding.fix(rename(entry, near))
        };
    }
    let invented = INVENTED
        .iter()
        .find(|(invented, _)| *invented == name)
        .map(|(_, advice)| (*advice).to_owned());
    match invented.or_else(|| places::advice(name, at.kind, &pattern, beside, at.version)) {
        Some(advice) => finding.help(advice),
        None => finding,
    }
}

/// The field that was probably meant.
pub(super) fn meant(
    name: &str,
    fields: &'static [Field],
    version: IstioVersion,
) -> Option<&'static str> {
    let names: Vec<&str> = fields
        .iter()
        .filter(|field| field.is_known(version))
        .map(|field| field.name)
        .collect();
    nearest(name, &names)
}

/// The finding, if the field is a misspelling of another. Istio reads `snake_case` too, where there is no CRD.
pub(super) fn misspelt(
    entry: &Entry<'_>,
    fields: &'static [Field],
    finding: Diagnostic,
) -> Option<Diagnostic> {
    let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
    let near = nearest(&entry.name, &names)?;
    let misspelt = places::fold(near) != places::fold(&entry.name);
    misspelt.then_some(Diagnostic {
        severity: Severity::Warning,
        ..finding
    })
}

/// Safe where only the spelling differs, as in `per_try_timeout`: else it is a guess.
fn rename(entry: &Entry<'_>, name: &str) -> Fix {
    let safety = if places::fold(&entry.name) == places::fold(name) {
        Safety::Safe
    } else {
        Safety::Unsafe
    };
    Fix {
        safety,
        message: format!("call it `{name}`"),
        edits: vec![Edit {
            span: entry.key.span(),
            text: name.to_owned(),
        }],
    }
}
