//! A field that Istio does not have: what was meant by it.

use super::Field;
use super::check::Checker;
use super::places::{self, Place};
use crate::diag::{Diagnostic, Edit, Fix, Safety, Severity};
use crate::istio::version::IstioVersion;
use crate::istio::wording::{bounded, listed, nearest, with_article};
use crate::yaml::Entry;

/// Fields that Istio once had: the end of the path, and what to do.
const REMOVED: &[(&str, &str)] = &[
    (
        "spec.filters",
        "use `configPatches`, with `applyTo: HTTP_FILTER`",
    ),
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
    ("websocketUpgrade", "remove it: WebSockets work without"),
];

/// What is said of one unknown field of an object, or of several that are one mistake.
pub(super) struct Unknown<'t> {
    finding: Diagnostic,
    mistake: Mistake,
    /// The others that are part of it.
    more: Vec<Entry<'t>>,
}

enum Mistake {
    /// Of this field alone.
    Own,
    /// It stands in the wrong place. All that is known about it is where there is such a field.
    Astray(&'static Place),
    /// It was removed. What to do instead, for all of them.
    Removed(Vec<&'static str>),
}

/// What is said of an unknown field of an object that has these fields, and of which some are `taken`. `beside` are
/// unknown fields of the object, folded.
pub(super) fn field<'t>(
    entry: &Entry<'t>,
    fields: &'static [Field],
    taken: impl Fn(&str) -> bool,
    beside: &[String],
    at: &Checker<'_>,
) -> Unknown<'t> {
    let name = &*entry.name;
    let text = format!("{} has no field `{name}`", owner(at));
    let key = entry.key.span();
    let mut finding = Diagnostic::new("unknown-field", Severity::Error, key, bounded(text));
    finding.field = Some(at.path.child(name).into());
    let mut mistake = Mistake::Own;

    let pattern = at.path.pattern();
    let path = format!("{pattern}.{name}");
    let later = |field: &&Field| field.name == name && field.since > at.version;
    let invented = || INVENTED.iter().find(|(invented, _)| *invented == name);
    if let Some(later) = fields.iter().find(later) {
        finding.message =
            format!("Istio {} does not know the field `{name}` yet", at.version).into();
        finding = finding.help(format!("it needs Istio {}", later.since));
    } else if let Some((_, advice)) = REMOVED.iter().find(|(end, _)| path.ends_with(end)) {
        finding.message = format!("the field `{name}` was removed from Istio").into();
        finding = finding.help(*advice);
        mistake = Mistake::Removed(vec![advice]);
    } else if let Some(near) = meant(name, fields, at.version).filter(|near| {
        // Who has written both means something else by this one.
        !taken(near) || is_spelling_of(name, near)
    }) {
        finding = finding.help(format!("did you mean `{near}`?"));
        if !taken(near) {
            finding = finding.fix(rename(entry, near));
        }
    } else if let Some((_, advice)) = invented() {
        finding = finding.help(*advice);
    } else if let Some(home) = places::home(name, at.kind, &pattern, beside, at.version) {
        finding = finding.help(home.advice(name, at.kind));
        if home.is_of_block(at.kind) {
            mistake = Mistake::Astray(home);
        }
    }
    Unknown {
        finding,
        mistake,
        more: Vec::new(),
    }
}

/// So many fields of one mistake are labelled.
const LABELS: usize = 16;

impl<'t> Unknown<'t> {
    /// Whether others can be part of the mistake.
    pub(super) fn is_shared(&self) -> bool {
        !matches!(self.mistake, Mistake::Own)
    }

    /// Whether it belongs in the object at the path.
    pub(super) fn belongs_in(&self, path: &str, kind: &str) -> bool {
        matches!(self.mistake, Mistake::Astray(home) if home.is_in(path, kind))
    }

    /// Whether the field is what came instead of it.
    pub(super) fn made_way_for(&self, field: &str) -> bool {
        let instead = format!("use `{field}`");
        matches!(&self.mistake, Mistake::Removed(advice) if advice.contains(&instead.as_str()))
    }

    /// Takes in another field of the object if it is part of the same mistake, as with a block in the wrong place or an
    /// object for an older Istio; gives it back if it is not.
    pub(super) fn join(&mut self, other: Self, entry: &Entry<'t>) -> Option<Self> {
        match (&mut self.mistake, &other.mistake) {
            (Mistake::Astray(here), Mistake::Astray(there)) if here.is_beside(there) => {}
            (Mistake::Removed(advice), Mistake::Removed(more)) => {
                let new = more.iter().filter(|it| !advice.contains(it));
                let new: Vec<_> = new.copied().collect();
                advice.extend(new);
            }
            _ => return Some(other),
        }
        self.more.push(entry.clone());
        None
    }

    pub(super) fn finding(self, entry: &Entry<'_>, at: &Checker<'_>) -> Diagnostic {
        if self.more.is_empty() {
            return self.finding;
        }
        let names = std::iter::once(&*entry.name).chain(self.more.iter().map(|it| &*it.name));
        let names = listed(names);
        let (message, help, label) = match self.mistake {
            Mistake::Own => return self.finding,
            Mistake::Astray(home) => (
                format!("{} has no fields {names}", owner(at)),
                home.advice_for_all(at.kind),
                "nor this one",
            ),
            Mistake::Removed(advice) => (
                format!("the fields {names} were removed from Istio"),
                advice.join("; "),
                "this one, too",
            ),
        };
        let mut finding = self.finding.help(help);
        finding.message = bounded(message).into();
        let labelled = self.more.iter().take(LABELS);
        labelled.fold(finding, |finding, entry| {
            finding.because(entry.key.span(), label)
        })
    }
}

/// What lacks the field, as the subject of a sentence.
fn owner(at: &Checker<'_>) -> String {
    match at.path.to_string().as_str() {
        "" | "spec" => with_article(at.kind),
        path => format!("`{path}`"),
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
    mut finding: Diagnostic,
) -> Option<Diagnostic> {
    let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
    let near = nearest(&entry.name, &names)?;
    finding.severity = Severity::Warning;
    (!is_spelling_of(&entry.name, near)).then_some(finding)
}

/// Whether the two differ in capitals and underscores only.
fn is_spelling_of(name: &str, other: &str) -> bool {
    places::fold(name) == places::fold(other)
}

/// Safe where only the spelling differs, as in `per_try_timeout`: else it is a guess.
fn rename(entry: &Entry<'_>, name: &str) -> Fix {
    let safety = match is_spelling_of(&entry.name, name) {
        true => Safety::Safe,
        false => Safety::Unsafe,
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
