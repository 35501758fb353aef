//! Each `testdata/config/*.yaml` as a configuration, against the diagnostics in the `.out` beside it.
//! `BLESS=1 cargo test` writes them.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod harness;

use std::path::PathBuf;

use egress_lint::config::{self, Choice, Class, Level, Loaded, MeshSource, ValueKind};
use egress_lint::diag::{Report, Summary};
use egress_lint::output::{self, Format, Options};
use egress_lint::source::Sources;
use harness::{bless, list, name, root};

fn folder() -> PathBuf {
    root().join("testdata/config")
}

fn load(name: &str) -> (Loaded, Sources) {
    let mut sources = Sources::new();
    let loaded = config::load(&Choice::File(name.into()), &folder(), &mut sources)
        .expect("the file can be read");
    (loaded, sources)
}

#[test]
fn says_what_is_wrong_and_where() {
    for path in list(&folder()) {
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let (loaded, sources) = load(name(&path));
        let report = Report {
            istio_version: "1.30".into(),
            summary: Summary::default(),
            diagnostics: loaded.diagnostics,
            rules: Vec::new(),
        };
        let mut got = Vec::new();
        output::write(
            Format::Text,
            &report,
            &sources,
            &Options::default(),
            &mut got,
        )
        .unwrap();
        bless::compare(
            &path.with_extension("out"),
            std::str::from_utf8(&got).unwrap(),
        )
        .unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn reads_all_settings_with_their_lines() {
    let (loaded, sources) = load("full.yaml");
    assert_eq!(loaded.diagnostics, []);
    let config = loaded.config;
    let text = |span| sources.text(span);
    assert_eq!(text(config.istio.as_ref().unwrap().span), "\"1.30\"");
    assert_eq!(text(config.istio.as_ref().unwrap().key), "istio");
    assert!(config.closed_world.unwrap().value);
    assert_eq!(config.namespace.as_ref().unwrap().value, "payments");
    assert!(config.is_excluded("vendor/a/b.yaml"));
    assert!(!config.is_excluded("a.yaml"));
    let worlds: Vec<_> = config
        .worlds
        .iter()
        .map(|world| world.name.value.as_str())
        .collect();
    assert_eq!(worlds, ["prod", "staging"]);
    assert!(config.worlds[1].files.matches("clusters/staging/x.yaml"));
    let facts = config.facts("api.partner.example", None, &Default::default());
    let class = facts.class.unwrap();
    assert_eq!(
        (class.value, text(class.span().unwrap())),
        (Class::Gslb, "gslb")
    );
    assert_eq!(facts.ttl_ms.unwrap().value, 30_000);
    assert_eq!(facts.session_ms.unwrap().value, 600_000);
    assert!(!facts.repeatable.unwrap().value);
    assert_eq!(
        config
            .rule("retries-disabled")
            .unwrap()
            .level
            .as_ref()
            .unwrap()
            .value,
        Level::Off
    );
    let budget = config.rule("ejection-budget-zero").unwrap();
    assert!(budget.ignore.matches("legacy/x.yaml"));
    let ValueKind::Map(options) = &budget.options.as_ref().unwrap().kind else {
        panic!("options are a map")
    };
    assert_eq!(
        (options[0].0.value.as_str(), text(options[0].1.span)),
        ("most", "3")
    );
    let mesh = config.mesh.unwrap();
    assert!(matches!(mesh, MeshSource::Inline { .. }));
    let read = mesh.read(&sources, |node| {
        text(node.get("defaultHttpRetryPolicy").unwrap().value.span()).to_owned()
    });
    assert_eq!(read.as_deref(), Some("{attempts: 0}"));
}

#[test]
fn what_is_wrong_sets_nothing_and_the_rest_counts() {
    let (loaded, _) = load("mistakes.yaml");
    let config = loaded.config;
    assert!(config.istio.is_none() && config.file.is_some());
    assert!(config.root_namespace.is_some());
    let rules = config.rules.iter().map(|rule| rule.name.value.as_str());
    assert_eq!(
        rules.collect::<Vec<_>>(),
        [
            "ejection-budget-zero",
            "logical-dns-on-gslb",
            "retries-disabled"
        ]
    );
}
