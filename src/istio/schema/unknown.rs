//! A field that Istio does not have: what was meant by it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use super::check::Checker;
use super::{Field, KINDS, Schema, Shape};
use crate::diag::{Diagnostic, Edit, Fix, Safety, Severity};
use crate::istio::nearest::nearest;
use crate::istio::version::IstioVersion;
use crate::yaml::Entry;

/// Fields that Istio once had: the end of the path, and what to do.
const REMOVED: &[(&str, &str)] = &[
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

/// The finding for one unknown field of an object with these fields.
pub(super) fn field(entry: &Entry<'_>, fields: &'static [Field], at: &Checker<'_>) -> Diagnostic {
    let name = &*entry.name;
    let parent = at.path.to_string();
    let message = if parent.is_empty() {
        format!("`{}` has no field `{name}`", at.kind)
    } else {
        format!("`{parent}` has no field `{name}`")
    };
    let mut finding = Diagnostic::new("unknown-field", Severity::Error, entry.key.span(), message);
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
    let names: Vec<&str> = fields
        .iter()
        .filter(|field| field.is_known(at.version))
        .map(|field| field.name)
        .collect();
    if let Some(near) = nearest(name, &names) {
        return finding.help(format!("did you mean `{near}`?")).fix(Fix {
            safety: if same_letters(name, near) {
                Safety::Safe
            } else {
                Safety::Unsafe
            },
            message: format!("call it `{near}`"),
            edits: vec![Edit {
                span: entry.key.span(),
                text: near.to_owned(),
            }],
        });
    }
    match places(name, at.kind, &pattern, at.version) {
        Some(help) => finding.help(help),
        None => finding,
    }
}

/// `per_try_timeout` is `perTryTimeout`.
fn same_letters(a: &str, b: &str) -> bool {
    let letters = |text: &str| text.replace(['_', '-'], "").to_ascii_lowercase();
    letters(a) == letters(b)
}

struct Place {
    kind: &'static str,
    /// Of the object that has the field.
    path: String,
    since: IstioVersion,
}

/// Where a field of that name exists: in this kind if it does, else in another.
fn places(name: &str, kind: &str, here: &str, version: IstioVersion) -> Option<String> {
    let known = index()
        .get(name)?
        .iter()
        .filter(|place| place.since <= version);
    let best = known.min_by_key(|place| {
        let foreign = place.kind != kind;
        (
            foreign,
            usize::MAX - common(here, &place.path),
            place.path.len(),
            place.kind,
        )
    })?;
    Some(match (best.kind == kind, best.path.as_str()) {
        (true, "") => "it belongs beside `spec`".to_owned(),
        (true, path) => format!("it belongs in `{path}`"),
        (false, "spec") => format!("it is a field of `{}`", best.kind),
        (false, path) => format!("it is a field of `{path}` in a `{}`", best.kind),
    })
}

/// How many steps two paths share from their root.
fn common(a: &str, b: &str) -> usize {
    a.split('.')
        .zip(b.split('.'))
        .take_while(|(a, b)| a == b)
        .count()
}

/// Names that say too little to guess from.
const VAGUE: &[&str] = &[
    "name",
    "value",
    "labels",
    "number",
    "port",
    "ports",
    "match",
    "namespace",
    "annotations",
    "kind",
];

/// Whether the text is a value of some enumeration.
pub(in crate::istio) fn is_word(text: &str) -> bool {
    static WORDS: OnceLock<BTreeSet<&'static str>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let mut out = BTreeSet::new();
        for (_, schema) in &KINDS {
            collect_words(schema, &mut out);
        }
        out
    });
    words.contains(text)
}

fn collect_words(schema: &Schema, out: &mut BTreeSet<&'static str>) {
    match schema.shape {
        Shape::Object(fields) => fields
            .iter()
            .for_each(|field| collect_words(&field.schema, out)),
        Shape::List { item, .. } => collect_words(item, out),
        Shape::Map { value, .. } => collect_words(value, out),
        Shape::Word(names) => out.extend(names),
        _ => {}
    }
}

fn index() -> &'static BTreeMap<&'static str, Vec<Place>> {
    static INDEX: OnceLock<BTreeMap<&'static str, Vec<Place>>> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut out = BTreeMap::new();
        for (kind, schema) in &KINDS {
            collect(
                kind,
                schema,
                &mut String::new(),
                IstioVersion::OLDEST,
                &mut out,
            );
        }
        out
    })
}

fn collect(
    kind: &'static str,
    schema: &Schema,
    path: &mut String,
    since: IstioVersion,
    out: &mut BTreeMap<&'static str, Vec<Place>>,
) {
    match schema.shape {
        Shape::Object(fields) => {
            for field in fields {
                let since = since.max(field.since);
                if !path.is_empty() && !VAGUE.contains(&field.name) {
                    out.entry(field.name).or_default().push(Place {
                        kind,
                        path: path.clone(),
                        since,
                    });
                }
                let length = path.len();
                if length > 0 {
                    path.push('.');
                }
                path.push_str(field.name);
                collect(kind, &field.schema, path, since, out);
                path.truncate(length);
            }
        }
        Shape::List { item, .. } => collect(kind, item, path, since, out),
        Shape::Map { value, .. } => collect(kind, value, path, since, out),
        _ => {}
    }
}
