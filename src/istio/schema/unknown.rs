//! A field that Istio does not have: what was meant by it.

use std::borrow::Cow;

use super::check::Checker;
use super::places::{self, Place};
use super::{Field, Shape};
use crate::diag::{Diagnostic, Edit, Fix, Safety, Severity};
use crate::istio::version::IstioVersion;
use crate::istio::wording::{bounded, listed, nearest, with_article};
use crate::yaml::Entry;

/// What does the work of a field that Istio once had.
#[derive(Clone, Copy, PartialEq)]
enum Instead {
    /// A field of the same object, or below it.
    Field(&'static str),
    /// What else to do.
    Else(&'static str),
}

impl Instead {
    fn advice(self) -> Cow<'static, str> {
        match self {
            Self::Field(field) => format!("use `{field}`").into(),
            Self::Else(advice) => advice.into(),
        }
    }
}

/// Fields that Istio once had, by the end of the path, which begins with the kind.
const REMOVED: &[(&str, Instead)] = &[
    (
        "spec.filters",
        Instead::Else("use `configPatches`, with `applyTo: HTTP_FILTER`"),
    ),
    (
        "spec.workloadLabels",
        Instead::Field("workloadSelector.labels"),
    ),
    ("http.appendHeaders", ADD_TO_REQUEST),
    ("http.appendRequestHeaders", ADD_TO_REQUEST),
    ("http.removeRequestHeaders", REMOVE_FROM_REQUEST),
    ("http.appendResponseHeaders", ADD_TO_RESPONSE),
    ("http.removeResponseHeaders", REMOVE_FROM_RESPONSE),
    ("http.route.appendRequestHeaders", ADD_TO_REQUEST),
    ("http.route.removeRequestHeaders", REMOVE_FROM_REQUEST),
    ("http.route.appendResponseHeaders", ADD_TO_RESPONSE),
    ("http.route.removeResponseHeaders", REMOVE_FROM_RESPONSE),
    ("http.websocketUpgrade", Instead::Else(WEBSOCKETS)),
    (
        "http.fault.abort.percent",
        Instead::Else("use `percentage: {value: …}`"),
    ),
    ("outlierDetection.http", Instead::Else(IN_ITSELF)),
    ("outlierDetection.tcp", Instead::Else(IN_ITSELF)),
    ("port.name", Instead::Field("number")),
    ("destination.name", Instead::Field("host")),
    ("destination.service", Instead::Field("host")),
    ("DestinationRule.spec.name", Instead::Field("host")),
];

const ADD_TO_REQUEST: Instead = Instead::Field("headers.request.add");
const REMOVE_FROM_REQUEST: Instead = Instead::Field("headers.request.remove");
const ADD_TO_RESPONSE: Instead = Instead::Field("headers.response.add");
const REMOVE_FROM_RESPONSE: Instead = Instead::Field("headers.response.remove");
const WEBSOCKETS: &str = "remove it: WebSockets work without";
const IN_ITSELF: &str = "set its fields in `outlierDetection` itself";

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
        "consecutiveGateway5xxErrors",
        "use `consecutiveGatewayErrors` of `outlierDetection`",
    ),
    // Envoy's name.
    (
        "consecutiveGatewayFailure",
        "use `consecutiveGatewayErrors`",
    ),
    (
        "retry",
        "use `retries` in an HTTP route of a VirtualService",
    ),
    (
        "retryPolicy",
        "use `retries` in an HTTP route of a VirtualService",
    ),
    ("websocketUpgrade", WEBSOCKETS),
    (
        "exclusionRegexps",
        "remove it: beside Istio's own only what is included is kept",
    ),
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
    Removed(Vec<Instead>),
    /// It belongs in the object before it, which is empty.
    Outside(&'static str),
    /// It is of a whole port, where a port is only selected.
    OfPort,
}

/// The fields of a port beside its number.
const OF_PORT: &[&str] = &["name", "protocol", "targetPort"];

/// Of these Istio has two blocks, in a traffic policy.
const BREAKERS: &[&str] = &["circuitBreaker", "circuitBreakers"];

/// What is said of an unknown field of an object that has these fields, and of which some are `taken`. `beside` are
/// unknown fields of the object, folded. `outside` is the object that stands empty right before it.
pub(super) fn field<'t>(
    entry: &Entry<'t>,
    fields: &'static [Field],
    taken: impl Fn(&str) -> bool,
    beside: &[String],
    outside: Option<&'static str>,
    at: &Checker<'_>,
) -> Unknown<'t> {
    let name = &*entry.name;
    let text = format!("{} has no field `{name}`", owner(at));
    let key = entry.key.span();
    let mut finding = Diagnostic::new("unknown-field", Severity::Error, key, bounded(text));
    finding.extras_mut().field = Some(at.path.child(name).into());
    let mut mistake = Mistake::Own;

    let pattern = at.path.pattern();
    let path = format!("{}.{pattern}.{name}", at.kind);
    let selects_port = matches!(fields, [only] if only.name == "number");
    let later = |field: &&Field| field.name == name && field.since > at.version;
    let invented = || INVENTED.iter().find(|(invented, _)| *invented == name);
    let breaks_circuit = BREAKERS.contains(&name) && has(fields, "outlierDetection");
    if let Some(later) = fields.iter().find(later) {
        finding.message =
            format!("Istio {} does not know the field `{name}` yet", at.version).into();
        finding = finding.help(format!("it needs Istio {}", later.since));
    } else if selects_port && OF_PORT.contains(&name) && (name != "name" || taken("number")) {
        finding = finding.help("remove it: a port is selected by its `number`");
        mistake = Mistake::OfPort;
    } else if let Some(&(_, instead)) = REMOVED.iter().find(|(end, _)| path.ends_with(end)) {
        finding.message = format!("the field `{name}` was removed from Istio").into();
        finding = finding.help(instead.advice());
        mistake = Mistake::Removed(vec![instead]);
    } else if let Some(home) = outside {
        finding = finding.help(format!("indent it: it belongs in `{home}`, which is empty"));
        mistake = Mistake::Outside(home);
    } else if let Some(near) = meant(name, fields, at.version).filter(|near| {
        // Who has written both means something else by this one.
        !taken(near) || is_spelling_of(name, near)
    }) {
        finding = finding.help(format!("did you mean `{near}`?"));
        if !taken(near) {
            finding = finding.fix(rename(entry, near));
        }
    } else if breaks_circuit {
        finding = finding.help(match taken("outlierDetection") {
            true => "remove it: `outlierDetection` and `connectionPool` do that",
            false => {
                "write `outlierDetection` for when hosts are ejected, `connectionPool` for limits"
            }
        });
    } else if let Some((_, advice)) = invented() {
        finding = finding.help(*advice);
    } else if let Some((choice, word)) = word(name, fields, at.version) {
        finding = finding.help(format!("write `{choice}: {word}`"));
    } else if let Some(home) = places::home(name, at.kind, &pattern, beside, at.version) {
        finding = finding.help(home.advice(name, at.kind));
        if home.is_of_block(at.kind) {
            mistake = Mistake::Astray(home);
        }
    } else if entry.value.is_null() && entry.value.span().start == key.end {
        finding = finding.help("quote the value before it: in braces a comma ends a value");
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
        match self.mistake {
            Mistake::Astray(home) => home.is_in(path, kind),
            Mistake::Outside(home) => path.rsplit('.').next() == Some(home),
            _ => false,
        }
    }

    /// Whether the field is what came instead of it.
    pub(super) fn made_way_for(&self, field: &str) -> bool {
        let is_it = |it: &Instead| matches!(it, Instead::Field(own) if *own == field);
        matches!(&self.mistake, Mistake::Removed(instead) if instead.iter().any(is_it))
    }

    /// Takes in another field of the object if it is part of the same mistake, as with a block in the wrong place or an
    /// object for an older Istio; gives it back if it is not.
    pub(super) fn join(&mut self, other: Self, entry: &Entry<'t>) -> Option<Self> {
        match (&mut self.mistake, &other.mistake) {
            (Mistake::Astray(here), Mistake::Astray(there)) if here.is_beside(there) => {}
            (Mistake::Outside(here), Mistake::Outside(there)) if here == there => {}
            (Mistake::OfPort, Mistake::OfPort) => {}
            (Mistake::Removed(instead), Mistake::Removed(more)) => {
                let new = more.iter().filter(|it| !instead.contains(it));
                let new: Vec<_> = new.copied().collect();
                instead.extend(new);
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
            Mistake::Outside(home) => (
                format!("{} has no fields {names}", owner(at)),
                format!("indent them: they belong in `{home}`, which is empty"),
                "nor this one",
            ),
            Mistake::OfPort => (
                format!("{} has no fields {names}", owner(at)),
                "remove them: a port is selected by its `number`".to_owned(),
                "nor this one",
            ),
            Mistake::Removed(instead) => (
                format!("the fields {names} were removed from Istio"),
                instead
                    .iter()
                    .map(|it| it.advice())
                    .collect::<Vec<_>>()
                    .join("; "),
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

fn has(fields: &[Field], name: &str) -> bool {
    fields.iter().any(|field| field.name == name)
}

/// The value of a field beside it that the field is called after, and that field.
fn word(
    name: &str,
    fields: &'static [Field],
    version: IstioVersion,
) -> Option<(&'static str, &'static str)> {
    let name = places::fold(name);
    let choices = fields.iter().filter(|field| field.is_known(version));
    choices
        .filter_map(|field| match field.schema.shape {
            Shape::Word(words) => Some((field.name, words)),
            _ => None,
        })
        .find_map(|(choice, words)| {
            let word = words.iter().find(|word| places::fold(word) == name)?;
            Some((choice, *word))
        })
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
