//! The trace that people read: what is printed for each case, and that it fits 100 columns.
//!
//! `testdata/trace-text/<case>.txt` begins with a command; what it prints, to whichever output, stands under it.

#![allow(clippy::unwrap_used)]

mod harness;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use harness::{bless, list, name, read, root};
use unicode_width::UnicodeWidthStr;

const WIDEST: usize = 100;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_egress-lint"))
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .args(arguments)
        .output()
        .unwrap()
}

fn assert_fits(printed: &str, what: &str) {
    for line in printed.lines() {
        let wide = line.width();
        assert!(wide <= WIDEST, "{what}: {wide} columns: {line}");
    }
}

#[test]
fn what_is_printed() {
    let folder = root().join("testdata/trace-text");
    let texts = list(&folder).into_iter();
    let cases: Vec<_> = texts.filter(|it| name(it).ends_with(".txt")).collect();
    assert!(!cases.is_empty());
    for case in cases {
        let kept = read(&case);
        let command = kept.lines().next().unwrap_or_default();
        let arguments = command.strip_prefix("$ egress-lint ").unwrap();
        let output = run(&folder, &arguments.split(' ').collect::<Vec<_>>());
        let printed = [output.stderr, output.stdout].map(|it| String::from_utf8(it).unwrap());
        assert_fits(&printed[1], command);
        let whole = format!("{command}\n{}", printed.concat());
        bless::compare(&case, &whole).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn every_trace_of_the_test_data_fits() {
    let data = root().join("testdata");
    let folders = ["rules", "trace"].map(|it| list(&data.join(it))).concat();
    let more = ["demo", "egress-gateway"].map(|it| data.join(it));
    for folder in folders.iter().chain(&more) {
        let mut arguments = vec!["trace", ".", "--matrix"];
        if !folder.join("egress-lint.yaml").exists() {
            arguments.push("--isolated");
        }
        let output = run(folder, &arguments);
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_fits(&printed, &folder.display().to_string());
    }
}

/// Folders, namespaces, labels and paths may be long, and in letters that take two columns each.
#[test]
fn long_and_wide_names_fit() {
    let wide = "결제시스템-운영환경-해외송금-파트너은행-이중화구성-".repeat(3);
    let long = format!(
        "{}.example",
        "a-host-with-a-very-long-name."
            .repeat(6)
            .trim_end_matches('.')
    );
    let namespace = "a-namespace-with-a-name-that-is-as-long-as-kubernetes-lets-it-b";
    let manifest = format!(
        "apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {{name: a, namespace: {namespace}}}
spec:
  hosts: [{long}]
  ports: [{{number: 80, name: http, protocol: HTTP}}]
  resolution: DNS
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {{name: a, namespace: {namespace}}}
spec:
  hosts: [{long}]
  http:
  - match: [{{uri: {{prefix: '/{wide}'}}}}]
    route: [{{destination: {{host: {long}}}}}]
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {{name: a, namespace: {namespace}}}
spec:
  host: {long}
  workloadSelector: {{matchLabels: {{app: {namespace}, {namespace}: a}}}}
  trafficPolicy:
    tls: {{mode: SIMPLE, subjectAltNames: ['{wide}', {long}]}}
    outlierDetection: {{consecutive5xxErrors: 5}}
    portLevelSettings:
    - {{port: {{number: 80}}, connectionPool: {{tcp: {{connectTimeout: 1s}}}}}}
"
    );
    let deep = wide.get(..wide.len() / 3).unwrap();
    for file in [
        format!("{deep}/{deep}.yaml"),
        format!("{namespace}/{namespace}.yaml"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(&file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &manifest).unwrap();
        for options in [&[][..], &["--matrix"]] {
            let output = run(
                folder.path(),
                &[&["trace", "--isolated", "."], options].concat(),
            );
            let printed = String::from_utf8(output.stdout).unwrap();
            assert!(printed.contains("requests"), "{printed}");
            assert_fits(&printed, &file);
        }
    }
}
