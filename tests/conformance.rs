//! YAML is read exactly as Kubernetes reads it, and every value knows where it stands: `testdata/yaml`.

#![allow(clippy::expect_used)]

use std::path::{Path, PathBuf};

use egress_lint::source::{Content, Input, Role, read};
use egress_lint::yaml::debug::{self, Dump};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

/// What is read otherwise than Kubernetes does, and why that is right.
const KNOWN: &[(&str, &str)] = &[];

fn main() {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/yaml");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("the folder of the cases")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".yaml").map(str::to_owned))
        .collect();
    names.sort();
    let mut trials = Vec::new();
    for name in names {
        let known = KNOWN.iter().any(|(known, _)| *known == name);
        let base = folder.join(&name);
        let path = base.clone();
        trials.push(
            Trial::test(format!("values {name}"), move || values(&path)).with_ignored_flag(known),
        );
        if base.with_extension("spans.json").exists() {
            trials.push(Trial::test(format!("spans {name}"), move || spans(&base)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn dump(base: &Path, spans: bool) -> Dump {
    let path: PathBuf = base.with_extension("yaml");
    let shown = path.display().to_string();
    let input = Input {
        path,
        shown,
        role: Role::Named,
    };
    match read(&input, &mut Vec::new(), true).expect("the file is read") {
        Content::Text(text) => debug::dump(&text, spans),
        Content::Nothing => debug::dump("", spans),
        Content::NotUtf8 { text, at, .. } => debug::undecoded(&text, at, "not UTF-8"),
        Content::Wide { text } => debug::undecoded(&text, 0, "not UTF-8"),
    }
}

fn wanted(base: &Path, extension: &str) -> Value {
    let text = std::fs::read_to_string(base.with_extension(extension)).expect("the answer is read");
    serde_json::from_str(&text).expect("the answer is JSON")
}

fn values(base: &Path) -> Result<(), Failed> {
    let wanted = wanted(base, "json");
    let found = dump(base, false);
    if found.refused {
        let error = &found.json["error"];
        if wanted["error"] != true && wanted["or_error"] != true {
            return Err(format!("refused: {error}").into());
        }
        let line = &error["line"];
        let lines = match &wanted["lines"] {
            Value::Array(lines) => lines.clone(),
            _ => vec![wanted["line"].clone()],
        };
        if lines != [Value::Null] && !lines.contains(line) {
            return Err(
                format!("refused at line {line}, the fault is at {lines:?}: {error}").into(),
            );
        }
        return Ok(());
    }
    let documents = &found.json["documents"];
    if wanted["error"] == true {
        return Err(format!("read as {documents}; Kubernetes says {}", wanted["message"]).into());
    }
    let others = wanted["or_documents"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let mut readings = std::iter::once(&wanted["documents"]).chain(others);
    if readings.any(|reading| same(reading, documents)) {
        return Ok(());
    }
    Err(format!("read as {documents}\nwanted  {}", wanted["documents"]).into())
}

/// Integers of 64 bits must be integers, all other numbers are compared as floats, and maps have no order.
fn same(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::Number(a), Value::Number(b)) => match a.as_i64() {
            Some(a) => b.as_i64() == Some(a),
            None => a.as_f64() == b.as_f64(),
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => wanted == found,
    }
}

fn spans(base: &Path) -> Result<(), Failed> {
    let wanted = wanted(base, "spans.json");
    let found = dump(base, true);
    let found = found.json["spans"].as_array().expect("the file is read");
    for entry in wanted.as_array().expect("a list") {
        let place = found
            .iter()
            .find(|place| {
                place["document"] == entry["document"] && place["pointer"] == entry["pointer"]
            })
            .ok_or_else(|| format!("nothing at {}", entry["pointer"]))?;
        for field in ["key_start", "key_end", "value_start", "value_end"] {
            if !entry[field].is_null() && entry[field] != place[field] {
                return Err(format!(
                    "{field} of {}: {} found, {} wanted",
                    entry["pointer"], place[field], entry[field]
                )
                .into());
            }
        }
    }
    Ok(())
}
