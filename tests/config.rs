//! Each `testdata/config/*.yaml` as a configuration, against the diagnostics in the `.out` beside it.
//! `BLESS=1 cargo test` writes them.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;

use egress_lint::config::{self, Choice, Class, Level, Loaded, MeshSource, ValueKind};
use egress_lint::diag::{Report, Summary};
use egress_lint::output::{self, Format, Options};
use egress_lint::source::Sources;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/config")
}

fn load(name: &str) -> (Loaded, Sources) {
    let mut sources = Sources::new();
    let loaded = config::load(&Choice::File(name.into()), &folder(), &mut sources)
        .expect("the file can be read");
    (loaded, sources)
}

#[test]
fn says_what_is_wrong_and_where() {
    let mut names: Vec<_> = std::fs::read_dir(folder())
        .expect("the folder is there")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".yaml"))
        .collect();
    names.sort();
    let mut stale = Vec::new();
    for name in names {
        let (loaded, sources) = load(&name);
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
        let got = String::from_utf8(got).unwrap();
        // The last line counts nothing here.
        let got = got
            .strip_suffix("no findings in 0 resources of 0 files\n")
            .expect("a summary ends it");
        let path = folder().join(name.replace(".yaml", ".out"));
        let wanted = std::fs::read_to_string(&path).unwrap_or_default();
        if got == wanted {
            continue;
        }
        match std::env::var_os("BLESS") {
            Some(_) if got.is_empty() => std::fs::remove_file(&path).unwrap(),
            Some(_) => std::fs::write(&path, got).unwrap(),
            None => stale.push(format!("--- {name}\n{got}")),
        }
    }
    assert!(
        stale.is_empty(),
        "look at it, then `BLESS=1 cargo test`:\n{}",
        stale.join("\n")
    );
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
    let facts = config.facts("api.partner.example", &Default::default());
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
fn a_configuration_with_mistakes_sets_nothing() {
    let (loaded, _) = load("mistakes.yaml");
    assert!(loaded.config.istio.is_none() && loaded.config.file.is_some());
}

#[test]
fn the_schema_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("egress-lint.schema.json");
    let fresh = format!(
        "{:#}\n",
        config::schema(&egress_lint::engine::known_rules())
    );
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == fresh,
        "{} is stale: `BLESS=1 cargo test`",
        path.display()
    );
}
