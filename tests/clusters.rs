//! What the program finds in trees that hold several clusters, templates, patches and kustomizations, and where it
//! says that it holds.

#![allow(clippy::expect_used)]

mod tree_case;

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;
use tree_case::Case;

fn main() {
    tree_case::run("clusters", "findings", answer);
}

fn answer(case: &Case) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (path, _, text) in case.files() {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder is made");
        std::fs::write(path, text).expect("a file is written");
    }
    // The top of the tree is the top of a repository.
    std::fs::create_dir(folder.path().join(".git")).expect("a folder is made");
    let done = Command::new(env!("CARGO_BIN_EXE_egress-lint"))
        .args(["check", "--format", "json", "--allow-empty"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    let report: Value = serde_json::from_slice(&done.stdout).expect("a report");
    let mut out = String::new();
    for finding in report["diagnostics"].as_array().expect("findings") {
        let text = |key: &str| finding[key].as_str().unwrap_or("?").to_owned();
        let worlds = finding["worlds"].as_array().map(|names| {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            format!(" (in {})", names.join(", "))
        });
        let _ = writeln!(
            out,
            "{}:{} {}[{}]{}",
            text("path"),
            finding["start"]["line"],
            text("severity"),
            text("rule"),
            worlds.unwrap_or_default(),
        );
    }
    let counts = |key: &str| report["summary"][key].as_u64().unwrap_or(0);
    let _ = writeln!(
        out,
        "exit {}; {} resources, {} templates, {} patches",
        done.status.code().unwrap_or(-1),
        counts("resources"),
        counts("templates"),
        counts("patches"),
    );
    out
}
