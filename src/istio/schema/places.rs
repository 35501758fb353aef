//! Which objects have a field of which name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use super::{KINDS, Schema, Shape, mesh};
use crate::istio::version::IstioVersion;
use crate::istio::wording::with_article;

/// A field of an object.
pub(super) struct Place {
    kind: &'static str,
    /// Of the object that has the field.
    path: String,
    name: &'static str,
    since: IstioVersion,
}

/// Where a field of that name exists: in this kind if it does, else in another; where most of the unknown fields
/// `beside` it exist too, and as near to `here` as can be.
pub(super) fn home(
    name: &str,
    kind: &str,
    here: &str,
    beside: &[String],
    version: IstioVersion,
) -> Option<&'static Place> {
    let known = index()
        .get(&fold(name))?
        .iter()
        .filter(|place| place.since <= version);
    known.min_by_key(|place| {
        let foreign = place.kind != kind;
        let strays = beside.iter().filter(|name| place.has(name)).count();
        (
            foreign,
            rank(place.kind),
            usize::MAX - strays,
            usize::MAX - common(here, &place.path),
            place.path.len(),
        )
    })
}

impl Place {
    /// What to do with a field of this place that was written as `name` in an object of the kind.
    pub(super) fn advice(&self, name: &str, kind: &str) -> String {
        let name = match self.name == name {
            true => "it".to_owned(),
            false => format!("`{}`", self.name),
        };
        match (self.kind == kind, self.path.as_str()) {
            (true, "") => format!("{name} belongs beside `spec`"),
            (true, path) => format!("{name} belongs in `{path}`"),
            (false, "spec") => format!("{name} is a field of {}", self.kinds()),
            (false, path) => format!(
                "{name} is a field of `{path}` in {}",
                with_article(self.kind)
            ),
        }
    }

    /// The kinds that have the field where this one has it.
    fn kinds(&self) -> String {
        let places = index().get(&fold(self.name)).into_iter().flatten();
        let mut kinds: Vec<&str> = places
            .filter(|it| it.path == self.path)
            .map(|it| it.kind)
            .collect();
        kinds.sort_by_key(|kind| rank(kind));
        let kinds: Vec<String> = kinds.into_iter().map(with_article).collect();
        kinds.join(" or ")
    }

    /// The same for several fields of its object.
    pub(super) fn advice_for_all(&self, kind: &str) -> String {
        match (self.kind == kind, self.path.as_str()) {
            (true, "") => "they belong beside `spec`".to_owned(),
            (true, path) => format!("they belong in `{path}`"),
            (false, path) => {
                format!("they are fields of `{path}` in {}", with_article(self.kind))
            }
        }
    }

    /// Whether fields of its object that stand in an object of the kind are one block in the wrong place, and not
    /// several things that another kind has.
    pub(super) fn is_of_block(&self, kind: &str) -> bool {
        self.kind == kind || self.path != "spec"
    }

    /// Whether it is a field of the object at the path.
    pub(super) fn is_in(&self, path: &str, kind: &str) -> bool {
        (self.kind, self.path.as_str()) == (kind, path)
    }

    /// Whether the other is a field of the same object.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        (self.kind, &self.path) == (other.kind, &other.path)
    }

    /// Whether its object also has a field of that name.
    fn has(&self, name: &str) -> bool {
        let places = index().get(name).into_iter().flatten();
        places.into_iter().any(|it| it.is_beside(self))
    }
}

/// The kinds that people mean most often come first.
fn rank(kind: &str) -> usize {
    let order = ["DestinationRule", "VirtualService", "ServiceEntry"];
    order
        .iter()
        .position(|known| *known == kind)
        .unwrap_or(order.len())
}

/// How many steps two paths share from their root.
fn common(a: &str, b: &str) -> usize {
    a.split('.')
        .zip(b.split('.'))
        .take_while(|(a, b)| a == b)
        .count()
}

/// The same for all spellings of a name.
pub(super) fn fold(name: &str) -> String {
    name.replace(['_', '-'], "").to_ascii_lowercase()
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

fn index() -> &'static BTreeMap<String, Vec<Place>> {
    static INDEX: OnceLock<BTreeMap<String, Vec<Place>>> = OnceLock::new();
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
    out: &mut BTreeMap<String, Vec<Place>>,
) {
    match schema.shape {
        Shape::Object(fields) => {
            for field in fields {
                let since = since.max(field.since);
                if !path.is_empty() && !VAGUE.contains(&field.name) {
                    let place = Place {
                        kind,
                        path: path.clone(),
                        name: field.name,
                        since,
                    };
                    out.entry(fold(field.name)).or_default().push(place);
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

/// Whether the text is a value of some enumeration.
pub(in crate::istio) fn is_word(text: &str) -> bool {
    static WORDS: OnceLock<BTreeSet<&'static str>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let mut out = BTreeSet::new();
        for (_, schema) in &KINDS {
            collect_words(schema, &mut out);
        }
        collect_words(&mesh::CONFIG, &mut out);
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
