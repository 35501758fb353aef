//! The commands of the documents: each is run, and what it prints stands under it.

#![allow(clippy::expect_used)]

mod harness;

use std::process::Command;

use harness::{bless, read, root};

/// Run by whoever runs this test, or by the pipeline.
const RUN_ELSEWHERE: [&str; 4] = [
    "BLESS=1 cargo test",
    "cargo clippy --all-targets -- -D warnings",
    "cargo fmt --check",
    "cargo test",
];

#[test]
fn the_readme_is_true() {
    check("README.md");
}

#[test]
fn the_guide_for_contributors_is_true() {
    check("CONTRIBUTING.md");
}

/// Runs the commands in `sh` blocks, and those behind `$` in `console` blocks, whose output is kept there.
fn check(document: &str) {
    let file = root().join(document);
    let text = read(&file);
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        push(&mut out, line);
        let block = match line {
            "```sh" | "```console" => line,
            _ => continue,
        };
        let inside: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        for written in &inside {
            let command = match block {
                "```sh" => written,
                _ => match written.strip_prefix("$ ") {
                    Some(command) => command,
                    None => continue,
                },
            };
            push(&mut out, written);
            let printed = run(command);
            if block == "```console" {
                push(&mut out, printed.trim_end());
            }
        }
        push(&mut out, "```");
    }
    bless::compare(&file, &out).unwrap_or_else(|error| panic!("{error}"));
}

fn push(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

/// What the command prints.
fn run(command: &str) -> String {
    if RUN_ELSEWHERE.contains(&command) {
        return String::new();
    }
    let arguments = command
        .strip_prefix("cargo run --release -- ")
        .unwrap_or_else(|| panic!("nobody runs `{command}`"));
    let output = Command::new(env!("CARGO_BIN_EXE_egress-lint"))
        .current_dir(root())
        .env("NO_COLOR", "1")
        .args(arguments.split(' '))
        .output()
        .expect("the program starts");
    let code = output.status.code();
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(matches!(code, Some(0 | 1)), "`{command}`: {code:?}");
    assert!(!printed.is_empty(), "`{command}` prints nothing");
    printed
}
