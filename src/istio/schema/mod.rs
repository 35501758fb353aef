//! The API server's layer of admission: the structural schemas of Istio's CRDs and their CEL rules, as tables.
//!
//! Source: `manifests/charts/base/files/crd-all.gen.yaml` of each minor version.

mod cel;
mod check;
mod destination_rule;
mod envoy_filter;
mod gateway;
mod mesh;
mod meta;
mod object;
mod path;
mod places;
mod scalar;
mod service_entry;
mod sidecar;
#[cfg(test)]
mod tests;
mod unknown;
mod virtual_service;
mod workload;

pub(super) use check::{Meant, Verdict, check, check_mesh, check_values};
pub(super) use places::is_word;

use self::check::Checker;
use super::version::IstioVersion;
use crate::yaml::Node;

/// What is allowed for one value.
#[derive(Clone, Copy)]
pub(super) struct Schema {
    shape: Shape,
    /// Whether a null is a value of its own; elsewhere it is the same as nothing.
    nullable: bool,
    rules: &'static [Rule],
}

#[derive(Clone, Copy)]
enum Shape {
    Object(&'static [Field]),
    List {
        item: &'static Schema,
        min: usize,
        max: usize,
        /// The field whose value no two items share.
        key: Option<&'static str>,
    },
    Map {
        value: &'static Schema,
        max: usize,
    },
    Text {
        min: usize,
        max: usize,
    },
    Word(&'static [&'static str]),
    /// A string that is read as a duration.
    Duration(Reader),
    Integer {
        min: i64,
        max: i64,
    },
    Number {
        min: f64,
        max: f64,
    },
    Boolean,
    /// Whatever it is, it is not ours to judge.
    Any,
}

/// Who reads a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    /// A CEL rule of the CRD, which wants at least a millisecond.
    ApiServer,
    /// Istio alone; zero may be right.
    Istio,
}

/// A rule beyond the shape: `oneOf`, or CEL.
#[derive(Clone, Copy)]
enum Rule {
    AtMostOne(&'static [&'static str]),
    Cel(for<'t> fn(Node<'t>, &mut Checker<'t>)),
}

/// One field of an object, as long as it is what the table says; a change is a second entry of the same name.
#[derive(Clone, Copy)]
struct Field {
    name: &'static str,
    schema: Schema,
    required: bool,
    since: IstioVersion,
    /// The first version without it.
    until: Option<IstioVersion>,
}

impl Field {
    fn is_known(&self, version: IstioVersion) -> bool {
        self.since <= version && self.until.is_none_or(|until| version < until)
    }

    /// Whether its value may have a field of that name.
    fn may_hold(&self, name: &str) -> bool {
        match self.schema.shape {
            Shape::Object(fields) => fields.iter().any(|field| field.name == name),
            Shape::Map { .. } => true,
            _ => false,
        }
    }

    const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    const fn since(mut self, minor: u32) -> Self {
        self.since = IstioVersion(minor);
        self
    }

    const fn until(mut self, minor: u32) -> Self {
        self.until = Some(IstioVersion(minor));
        self
    }
}

impl Schema {
    const fn of(shape: Shape) -> Self {
        Self {
            shape,
            nullable: false,
            rules: &[],
        }
    }

    const fn nullable(mut self) -> Self {
        self.nullable = true;
        self
    }

    const fn rules(mut self, rules: &'static [Rule]) -> Self {
        self.rules = rules;
        self
    }

    /// Fewest and most items, entries or characters.
    const fn size(mut self, least: usize, most: usize) -> Self {
        match &mut self.shape {
            Shape::List { min, max, .. } | Shape::Text { min, max } => {
                *min = least;
                *max = most;
            }
            Shape::Map { max, .. } => *max = most,
            _ => {}
        }
        self
    }

    const fn keyed_by(mut self, name: &'static str) -> Self {
        if let Shape::List { key, .. } = &mut self.shape {
            *key = Some(name);
        }
        self
    }
}

const fn field(name: &'static str, schema: Schema) -> Field {
    Field {
        name,
        schema,
        required: false,
        since: IstioVersion::OLDEST,
        until: None,
    }
}

const fn object(fields: &'static [Field]) -> Schema {
    Schema::of(Shape::Object(fields))
}

const fn list(item: &'static Schema) -> Schema {
    Schema::of(Shape::List {
        item,
        min: 0,
        max: usize::MAX,
        key: None,
    })
}

const fn map(value: &'static Schema) -> Schema {
    Schema::of(Shape::Map {
        value,
        max: usize::MAX,
    })
}

const fn words(names: &'static [&'static str]) -> Schema {
    Schema::of(Shape::Word(names))
}

const fn integer(min: i64, max: i64) -> Schema {
    Schema::of(Shape::Integer { min, max })
}

const fn number(min: f64, max: f64) -> Schema {
    Schema::of(Shape::Number { min, max })
}

const ANY: Schema = Schema::of(Shape::Any);
const ANY_OBJECT: Schema = map(&ANY);
const BOOL: Schema = Schema::of(Shape::Boolean);
const STRING: Schema = Schema::of(Shape::Text {
    min: 0,
    max: usize::MAX,
});
const STRINGS: Schema = list(&STRING);
const LABELS: Schema = map(&STRING);
const INT32: Schema = integer(i32::MIN as i64, i32::MAX as i64);
const UINT32: Schema = integer(0, u32::MAX as i64);
const UINT64: Schema = integer(0, i64::MAX);
const DOUBLE: Schema = number(f64::NEG_INFINITY, f64::INFINITY);
/// A duration that has to last.
const DURATION: Schema = Schema::of(Shape::Duration(Reader::ApiServer));
/// A duration that may be nothing, and that only Istio reads.
const ANY_DURATION: Schema = Schema::of(Shape::Duration(Reader::Istio));
const PORT: Schema = UINT32.rules(&[Rule::Cel(cel::port)]);
const PORT_SELECTOR: Schema = object(&[field("number", UINT32)]);

/// The kinds of the group `networking.istio.io` and the schemas of their objects.
static KINDS: [(&str, &Schema); 8] = [
    ("DestinationRule", &destination_rule::OBJECT),
    ("EnvoyFilter", &envoy_filter::OBJECT),
    ("Gateway", &gateway::OBJECT),
    ("ServiceEntry", &service_entry::OBJECT),
    ("Sidecar", &sidecar::OBJECT),
    ("VirtualService", &virtual_service::OBJECT),
    ("WorkloadEntry", &workload::ENTRY_OBJECT),
    ("WorkloadGroup", &workload::GROUP_OBJECT),
];
