//! The tables as text, one line for each field, beside what they were when they were compared with the CRDs.

use std::fmt::Write as _;
use std::path::Path;

use super::{IstioVersion, KINDS, Rule, Schema, Shape};

fn write(
    schema: &Schema,
    name: &str,
    required: bool,
    version: IstioVersion,
    depth: usize,
    out: &mut String,
) {
    let indent = "  ".repeat(depth);
    let star = if required { "*" } else { "" };
    let _ = writeln!(out, "{indent}{name}{star}: {}", facts(schema, version));
    match schema.shape {
        Shape::Object(fields) => {
            for field in fields.iter().filter(|field| field.is_known(version)) {
                write(
                    &field.schema,
                    field.name,
                    field.required,
                    version,
                    depth + 1,
                    out,
                );
            }
        }
        Shape::List { item, .. } => write(item, "[]", false, version, depth + 1, out),
        Shape::Map { value, .. } => write(value, "{}", false, version, depth + 1, out),
        _ => {}
    }
}

fn facts(schema: &Schema, version: IstioVersion) -> String {
    let size = |max: usize| {
        if max == usize::MAX {
            String::new()
        } else {
            format!(" at most {max}")
        }
    };
    let mut out = match schema.shape {
        Shape::Object(_) => "object".to_owned(),
        Shape::Map { max, .. } => format!("map{}", size(max)),
        Shape::List { min, max, key, .. } => {
            let key = key.map_or(String::new(), |key| format!(" by {key}"));
            format!("list at least {min}{}{key}", size(max))
        }
        Shape::Text { min, max } => format!("string at least {min}{}", size(max)),
        Shape::Word(names) => names.join("|"),
        Shape::Duration(reader) => format!("duration for {reader:?}"),
        Shape::Integer { min, max } => format!("integer {min}..={max}"),
        Shape::Number { min, max } => format!("number {min}..={max}"),
        Shape::Boolean => "boolean".to_owned(),
        Shape::Any => "anything".to_owned(),
    };
    if schema.nullable {
        out.push_str(" or null");
    }
    let known = |name: &&&str| match schema.shape {
        Shape::Object(fields) => fields
            .iter()
            .any(|field| field.name == **name && field.is_known(version)),
        _ => false,
    };
    for rule in schema.rules {
        match rule {
            Rule::AtMostOne(names) => {
                let names: Vec<&str> = names.iter().filter(known).copied().collect();
                let _ = write!(out, ", one of {}", names.join("|"));
            }
            Rule::Cel(_) => out.push_str(", rule"),
        }
    }
    out
}

#[test]
fn the_tables_are_those_of_the_crds() {
    for minor in [24, 30, 32] {
        let version = IstioVersion(minor);
        let mut text = String::new();
        for (kind, schema) in &KINDS {
            write(schema, kind, true, version, 0, &mut text);
        }
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("testdata/schema/{version}.txt"));
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let wanted = std::fs::read_to_string(&path).unwrap();
        let differs = text.lines().zip(wanted.lines()).find(|(is, was)| is != was);
        assert_eq!(
            differs, None,
            "{version}: compare with the CRDs, then run with BLESS=1"
        );
        assert_eq!(text.lines().count(), wanted.lines().count(), "{version}");
    }
}

/// A field that is there in two forms must not be both at once.
#[test]
fn forms_of_a_field_do_not_overlap() {
    fn look(schema: &Schema) {
        match schema.shape {
            Shape::Object(fields) => {
                for minor in IstioVersion::OLDEST.0..=IstioVersion::NEWEST.0 {
                    let mut names: Vec<&str> = fields
                        .iter()
                        .filter(|field| field.is_known(IstioVersion(minor)))
                        .map(|field| field.name)
                        .collect();
                    let count = names.len();
                    names.sort_unstable();
                    names.dedup();
                    assert_eq!(names.len(), count, "1.{minor}: {names:?}");
                }
                fields.iter().for_each(|field| look(&field.schema));
            }
            Shape::List { item, .. } => look(item),
            Shape::Map { value, .. } => look(value),
            _ => {}
        }
    }
    KINDS.iter().for_each(|(_, schema)| look(schema));
}
