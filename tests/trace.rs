//! What the program answers to the calls of small worlds is what Istio made of the same files.
//!
//! `testdata/trace/<case>/` holds `input.yaml` and `calls.yaml`, perhaps an `egress-lint.yaml` with a `mesh.yaml`, and
//! the recorded answers: `model.json` of Istio 1.30, `model-1.32.json` of a later one. Recorded facts must be equal;
//! the program may say more, and null, absent, false and empty are the same.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Trial};
use serde_json::Value;

const RECORDED: [(&str, &str); 2] = [("1.30", "model.json"), ("1.32", "model-1.32.json")];

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/trace");
    let mut cases: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    let trials = cases
        .iter()
        .flat_map(|case| RECORDED.map(|(version, file)| (case.clone(), version, file)))
        .filter(|(case, _, file)| case.join(file).exists())
        .map(|(case, version, file)| {
            let name = format!("{} {version}", case.file_name().unwrap().display());
            Trial::test(name, move || compare(&case, version, file))
        });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}

fn compare(case: &Path, version: &str, file: &str) -> Result<(), libtest_mimic::Failed> {
    let recorded: Value = serde_json::from_str(&fs::read_to_string(case.join(file))?)?;
    let mut program = Command::new(env!("CARGO_BIN_EXE_egress-lint"));
    program
        .current_dir(case)
        .args(["trace", "--calls", "calls.yaml", "--format", "json"]);
    program.args(["--istio-version", version]);
    match case.join("egress-lint.yaml").exists() {
        true => program.args(["--config", "egress-lint.yaml"]),
        false => program.arg("--isolated"),
    };
    let output = program.arg("input.yaml").output()?;
    let answer: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
    let schema = egress_lint::output::trace_schema();
    let validator = jsonschema::validator_for(&schema)?;
    let mut differences: Vec<String> = validator
        .iter_errors(&answer)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    equal("", &recorded, &answer, &mut differences);
    match differences.is_empty() {
        true => Ok(()),
        false => Err(differences.join("\n").into()),
    }
}

/// Lists whose order means nothing.
const SETS: [&str; 6] = [
    "retry_on",
    "sans",
    "alpn",
    "endpoints",
    "clusters",
    "matches",
];

fn equal(path: &str, recorded: &Value, answer: &Value, out: &mut Vec<String>) {
    match recorded {
        Value::Object(fields) => {
            for (name, value) in fields {
                equal(&format!("{path}.{name}"), value, &answer[name], out);
            }
        }
        Value::Array(items) if SETS.iter().any(|set| path.ends_with(set)) => {
            let mut left: Vec<&Value> = answer.as_array().into_iter().flatten().collect();
            let found = items.iter().all(|item| {
                let same = |other: &&Value| {
                    let mut differences = Vec::new();
                    equal("", item, other, &mut differences);
                    differences.is_empty()
                };
                let place = left.iter().position(same);
                place.map(|place| left.remove(place)).is_some()
            });
            if !found || !left.is_empty() {
                out.push(format!("{path}: recorded {recorded}, answered {answer}"));
            }
        }
        Value::Array(items) => {
            let count = answer.as_array().map_or(0, Vec::len);
            if count != items.len() {
                out.push(format!("{path}: recorded {recorded}, answered {answer}"));
                return;
            }
            for (at, item) in items.iter().enumerate() {
                equal(&format!("{path}[{at}]"), item, &answer[at], out);
            }
        }
        value if is_nothing(value) && is_nothing(answer) => {}
        value if value == answer => {}
        value => out.push(format!("{path}: recorded {value}, answered {answer}")),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}
