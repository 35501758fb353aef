//! One run of the program.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// A folder that holds the inputs of a run and is removed afterwards.
#[derive(Debug)]
pub struct Room {
    folder: tempfile::TempDir,
}

impl Room {
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        Self { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn read(&self, name: &str) -> String {
        super::read(&self.path().join(name))
    }

    /// Runs the program in the folder.
    pub fn run(&self, arguments: &[&str]) -> Answer {
        let output = Command::new(env!("CARGO_BIN_EXE_egress-lint"))
            .current_dir(self.path())
            .env("NO_COLOR", "1")
            .args(arguments)
            .output()
            .expect("the program starts");
        Answer {
            code: output.status.code().expect("an exit code"),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    /// `check`, with the configuration of the folder if there is one.
    pub fn check(&self, options: &[&str], inputs: &[&str]) -> Answer {
        let config: &[&str] = if self.path().join("egress-lint.yaml").exists() {
            &["--config", "egress-lint.yaml"]
        } else {
            &["--isolated"]
        };
        self.run(&[&["check"], config, options, inputs].concat())
    }

    /// The ways to all destinations that the files define.
    pub fn trace(&self, inputs: &[&str]) -> Value {
        let answer = self.run(&[&["trace", "--isolated", "--format", "json"], inputs].concat());
        answer.json()
    }

    /// Where the calls to all destinations get out: who calls what, and over which cluster of the last proxy. Not with
    /// these are calls to clusters that do not exist.
    pub fn reached(&self, inputs: &[&str]) -> BTreeSet<String> {
        let trace = self.trace(inputs);
        let results = trace["results"].as_array().expect("a list of results");
        let ends = results.iter().filter_map(|way| {
            let hops = way["hops"].as_array().expect("a list of hops");
            let last = hops.last().unwrap_or(way);
            let missing = last["cluster_facts"]
                .as_object()?
                .values()
                .any(Value::is_null);
            let end = format!("{} {} {}", way["call"], last["outcome"], last["clusters"]);
            (!missing).then_some(end)
        });
        ends.collect()
    }

    /// The findings of `check --format json`.
    pub fn findings(&self, options: &[&str], inputs: &[&str]) -> Vec<Finding> {
        self.check(&[&["--format", "json"], options].concat(), inputs)
            .findings()
    }
}

#[derive(Debug)]
pub struct Answer {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| {
            panic!(
                "no JSON (exit code {}): {error}\n{}",
                self.code, self.stderr
            )
        })
    }

    pub fn findings(&self) -> Vec<Finding> {
        self.json()["diagnostics"]
            .as_array()
            .expect("a list of diagnostics")
            .iter()
            .map(Finding::read)
            .collect()
    }
}

/// A place in a file, from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// What a report says about one finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub at: Place,
    pub rule: String,
    pub severity: String,
    pub message: String,
    pub kind: Option<String>,
    pub related: Vec<Place>,
    pub start: u64,
    pub end: u64,
    /// `safe` or `unsafe`.
    pub fix: Option<String>,
}

impl Finding {
    fn read(value: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let mut related: Vec<Place> = value["related"]
            .as_array()
            .map(|all| all.iter().map(place).collect())
            .unwrap_or_default();
        related.sort();
        Self {
            at: place(value),
            rule: text(&value["rule"]).expect("a rule"),
            severity: text(&value["severity"]).expect("a severity"),
            message: text(&value["message"]).expect("a message"),
            kind: text(&value["resource"]["kind"]),
            related,
            start: value["start"]["offset"].as_u64().expect("an offset"),
            end: value["end"]["offset"].as_u64().expect("an offset"),
            fix: text(&value["fix"]["safety"]),
        }
    }

    /// Whether it makes a run fail.
    pub fn is_loud(&self) -> bool {
        self.severity != "advice"
    }
}

fn place(value: &Value) -> Place {
    let number = |value: &Value| u32::try_from(value.as_u64().expect("a number")).expect("u32");
    Place {
        file: value["path"].as_str().expect("a path").to_owned(),
        line: number(&value["start"]["line"]),
        column: number(&value["start"]["column"]),
    }
}
