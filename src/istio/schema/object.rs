//! The fields of an object: those it has, those that Istio does not know, and those that are missing.

use smallvec::SmallVec;

use super::check::{Checker, Meant, Part};
use super::places::fold;
use super::unknown::{self, Unknown};
use super::{Field, Shape};
use crate::diag::RefusedBy;
use crate::istio::resource::Misspelt;
use crate::istio::version::IstioVersion;
use crate::source::Span;
use crate::yaml::{Entry, Kind, Node};

/// So many unknown fields of an object help to say where each of them belongs.
const BESIDE: usize = 16;

/// So many fields of one resource are told apart from those that are just not there.
const MISSPELT: usize = 64;

/// The entries of an object, told apart.
struct Object<'t> {
    fields: &'static [Field],
    version: IstioVersion,
    node: Node<'t>,
    known: SmallVec<[(&'static Field, Entry<'t>); 8]>,
    strange: Vec<Strange<'t>>,
}

/// An entry whose name is no field of the object.
struct Strange<'t> {
    entry: Entry<'t>,
    /// The object that stands empty right before it, whose content it may be.
    home: Option<&'static str>,
}

/// Where an unknown field stands which a required one is missing for, and the name of that.
type MissingFor = (Span, &'static str);

impl<'t> Object<'t> {
    fn read(fields: &'static [Field], node: Node<'t>, at: &Checker<'t>) -> Self {
        let mut out = Self {
            fields,
            version: at.version,
            node,
            known: SmallVec::new(),
            strange: Vec::new(),
        };
        let mut empty: Option<&Field> = None;
        for entry in node.entries() {
            let is_it = |field: &&Field| field.name == entry.name && field.is_known(at.version);
            match fields.iter().find(is_it) {
                Some(field) => {
                    empty = entry.value.is_null().then_some(field);
                    out.known.push((field, entry));
                }
                // The directives of a patch, the expressions of a test.
                None if at.part == Part::Patch && entry.name.starts_with(['$', '(']) => {}
                None => {
                    let home = empty.filter(|it| it.may_hold(&entry.name));
                    let home = home.map(|it| it.name);
                    out.strange.push(Strange { entry, home });
                }
            }
        }
        out
    }

    fn has(&self, name: &str) -> bool {
        self.known.iter().any(|(field, _)| field.name == name)
    }

    /// The field of which this is another spelling.
    fn meant(&self, strange: &Strange<'_>) -> Option<&'static str> {
        unknown::meant(&strange.entry.name, self.fields, self.version)
    }

    /// The required fields that are not there, and those of them that are there in another spelling.
    fn missing(&self) -> (Vec<&'static Field>, Vec<MissingFor>) {
        let mut missing = Vec::new();
        let mut misspelt = Vec::new();
        let required = |it: &&Field| it.required && it.is_known(self.version);
        for field in self.fields.iter().filter(required) {
            let mut known = self.known.iter();
            if known.any(|(it, entry)| it.name == field.name && !entry.value.is_null()) {
                continue;
            }
            let mut strange = self.strange.iter();
            match strange.find(|it| self.meant(it) == Some(field.name)) {
                Some(it) => misspelt.push((it.entry.key.span(), field.name)),
                None => missing.push(field),
            }
        }
        (missing, misspelt)
    }

    /// What is said of the unknown fields, each mistake once.
    fn mistakes(&self, at: &Checker<'_>) -> Vec<(Unknown<'t>, &Entry<'t>)> {
        let beside = self.strange.iter().take(BESIDE);
        let beside: Vec<String> = beside.map(|it| fold(&it.entry.name)).collect();
        let mut found: Vec<(Unknown<'t>, &Entry<'t>)> = Vec::new();
        // Where those stand that others may be one mistake with: one for each object that has such fields, so a few.
        let mut shared: Vec<usize> = Vec::new();
        for Strange { entry, home } in &self.strange {
            let taken = |name: &str| self.has(name);
            let field = unknown::field(entry, self.fields, taken, &beside, *home, at);
            let mut unknown = Some(field);
            for &at in &shared {
                if let (Some((first, _)), Some(other)) = (found.get_mut(at), unknown.take()) {
                    unknown = first.join(other, entry);
                }
            }
            if let Some(unknown) = unknown {
                if unknown.is_shared() {
                    shared.push(found.len());
                }
                found.push((unknown, entry));
            }
        }
        found
    }

    /// The unknown fields that stand for one that is not there, at most so many.
    fn stands_for(&self, room: usize) -> Vec<Meant> {
        let mut out: Vec<Meant> = Vec::new();
        for strange in self.strange.iter().take(room) {
            let Some(field) = self.meant(strange).filter(|name| !self.has(name)) else {
                continue;
            };
            if out.iter().all(|it| it.field != field) {
                let entry = &strange.entry;
                out.push(Meant {
                    key: entry.key.span(),
                    entry: whole(entry),
                    field,
                });
            }
        }
        out
    }

    /// The fields that it lacks because of what stands there instead, at most so many. `""` stands for whatever field was
    /// meant where none is known.
    fn lacking(&self, room: usize) -> impl Iterator<Item = &'static str> {
        let strange = self.strange.iter().take(room);
        let meant = strange.filter_map(|it| self.meant(it));
        let homes = self.strange.iter().filter_map(|it| it.home).take(1);
        let nothing = self.known.is_empty() && !self.strange.is_empty() && room > 0;
        meant
            .filter(|name| !self.has(name))
            .chain(homes)
            .chain(nothing.then_some(""))
    }
}

impl<'t> Checker<'t> {
    pub(super) fn object(&mut self, fields: &'static [Field], node: Node<'t>) {
        let object = Object::read(fields, node, self);
        let (missing, misspelt) = match self.part {
            Part::Whole => object.missing(),
            Part::Patch | Part::Mesh => Default::default(),
        };
        let mistakes = object.mistakes(self);
        let misspelt = self.say_missing(missing, misspelt, &mistakes);
        self.say_unknown(fields, mistakes, &misspelt);
        if self.part == Part::Whole {
            let room = MISSPELT.saturating_sub(self.verdict.lacking.len());
            self.verdict.meant.append(&mut object.stands_for(room));
            for field in object.lacking(room) {
                self.note_lacking(node, field);
            }
        }
        if self.part != Part::Mesh {
            let strange = object.strange.iter();
            let keys = strange.map(|it| it.entry.key.span());
            self.verdict.dropped.extend(keys);
        }
        self.values(object);
    }

    /// Says which required fields are missing, unless an unknown one stands for them; adds those to the `misspelt`.
    fn say_missing(
        &mut self,
        missing: Vec<&Field>,
        mut misspelt: Vec<MissingFor>,
        mistakes: &[(Unknown<'t>, &Entry<'t>)],
    ) -> Vec<MissingFor> {
        for field in missing {
            let inside = match self.path.pattern().as_str() {
                "" => field.name.to_owned(),
                pattern => format!("{pattern}.{}", field.name),
            };
            let stands_for = |(unknown, _): &&(Unknown<'t>, _)| {
                unknown.belongs_in(&inside, self.kind) || unknown.made_way_for(field.name)
            };
            match mistakes.iter().find(stands_for) {
                Some((_, entry)) => misspelt.push((entry.key.span(), field.name)),
                None => {
                    let path = self.path.child(field.name);
                    self.push(self.lack(field.name, &format!("`{path}` is missing")));
                }
            }
        }
        let places = misspelt.iter();
        let places = places.map(|(_, name)| (self.anchor, Some((*name).into())));
        self.verdict.misspelt.extend(places);
        misspelt
    }

    fn say_unknown(
        &mut self,
        fields: &'static [Field],
        mistakes: Vec<(Unknown<'t>, &Entry<'t>)>,
        misspelt: &[MissingFor],
    ) {
        for (unknown, entry) in mistakes {
            let mut finding = unknown.finding(entry, self);
            let key = entry.key.span();
            if let Some((_, name)) = misspelt.iter().find(|(span, _)| *span == key) {
                finding.message = format!("{}, and `{name}` is missing", finding.message).into();
                finding = finding.refused_by(RefusedBy::Schema);
            }
            match self.part {
                Part::Mesh => {
                    let misspelt = unknown::misspelt(entry, fields, finding);
                    self.verdict.findings.extend(misspelt);
                }
                Part::Whole | Part::Patch => self.push(finding),
            }
        }
    }

    fn note_lacking(&mut self, object: Node<'_>, field: &'static str) {
        self.verdict.lacking.push(Misspelt {
            key: self.anchor,
            object: object.span(),
            field,
        });
    }

    /// Looks into the values of the fields.
    fn values(&mut self, object: Object<'t>) {
        for (field, entry) in object.known {
            if entry.value.is_null() {
                continue;
            }
            // What is of no use is as good as missing, and told already.
            let told = self.part == Part::Whole && is_misshapen(&field.schema.shape, entry.value);
            if told && self.verdict.lacking.len() < MISSPELT {
                self.note_lacking(object.node, field.name);
            }
            self.child(&field.schema, entry);
        }
    }
}

/// From the key to the end of the value, which stands elsewhere if it is an alias.
fn whole(entry: &Entry<'_>) -> Span {
    let (key, value) = (entry.key.span(), entry.value.span());
    match key.file == value.file && key.end <= value.start {
        true => Span::new(key.file, key.start, value.end),
        false => key,
    }
}

/// Whether it is an object where a list is wanted, or the like.
fn is_misshapen(shape: &Shape, node: Node<'_>) -> bool {
    match shape {
        Shape::Object(_) | Shape::Map { .. } => node.kind() != Kind::Map,
        Shape::List { .. } => node.kind() != Kind::List,
        _ => false,
    }
}
