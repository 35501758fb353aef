//! One name per rule everywhere, generated tables that are fresh, and modules that use only what they may.

#![allow(clippy::expect_used)]

mod harness;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use egress_lint::config;
use egress_lint::diag::{Fixable, RuleInfo};
use egress_lint::engine::known_rules;
use egress_lint::rules;
use harness::{bless, list, name, read, root};

/// Files of `src/rules` that are no rule: those that its `mod.rs` names last, and that itself.
fn shared_by_rules() -> BTreeSet<String> {
    let text = read(&root().join("src/rules/mod.rs"));
    let (_, shared) = text
        .split_once("// What rules share.\n")
        .unwrap_or_default();
    let names = shared.lines().map_while(|line| line.strip_prefix("mod "));
    let names = names.map(|name| name.trim_end_matches(';').to_owned());
    names.chain(["mod".to_owned()]).collect()
}

fn names<'a>(rules: impl IntoIterator<Item = &'a RuleInfo>) -> Vec<&'a str> {
    rules.into_iter().map(|rule| rule.name).collect()
}

#[test]
fn rules_have_one_name_everywhere() {
    let registered: Vec<&str> = rules::all().iter().map(|rule| rule.meta.name).collect();
    let shared = shared_by_rules();
    let files: Vec<String> = list(&root().join("src/rules"))
        .iter()
        .map(|path| name(path).trim_end_matches(".rs").to_owned())
        .filter(|file| !shared.contains(file))
        .map(|file| file.replace('_', "-"))
        .collect();
    assert_eq!(registered, files, "the registry and src/rules");
    let tested: BTreeSet<String> = list(&root().join("testdata/rules"))
        .iter()
        .map(|path| name(path).to_owned())
        .collect();
    for rule in &registered {
        assert!(tested.contains(*rule), "testdata/rules/{rule} is missing");
    }
    let known = known_rules();
    let known = names(&known);
    for folder in &tested {
        assert!(known.contains(&folder.as_str()), "no rule `{folder}`");
    }
    let mut pages: Vec<String> = list(&root().join("rules"))
        .iter()
        .filter_map(|path| Some(name(path).strip_suffix(".md")?.to_owned()))
        .filter(|page| page != "README")
        .collect();
    pages.sort_unstable();
    assert_eq!(known, pages, "the known rules and rules/");
}

#[test]
fn names_are_kebab_case_sorted_and_unique() {
    let known = known_rules();
    let known = names(&known);
    assert!(known.is_sorted(), "{known:?}");
    assert_eq!(known.iter().collect::<BTreeSet<_>>().len(), known.len());
    for rule in known {
        let kebab = rule.split('-').all(|part| {
            !part.is_empty()
                && part
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        });
        assert!(kebab, "{rule}");
        for remedy in ["no-", "require-", "use-"] {
            assert!(!rule.starts_with(remedy), "`{rule}` names the remedy");
        }
    }
}

#[test]
fn each_rule_has_a_folder_with_both_kinds_of_cases() {
    for rule in rules::all() {
        let folder = root().join("testdata/rules").join(rule.meta.name);
        let cases: Vec<String> = list(&folder).iter().map(|p| name(p).to_owned()).collect();
        for kind in ["bad", "good"] {
            assert!(
                cases.iter().any(|case| case.starts_with(kind)),
                "{}: no {kind} case",
                rule.meta.name
            );
        }
    }
}

#[test]
fn the_index_of_the_rules_is_fresh() {
    let file = root().join("rules/README.md");
    bless::compare(&file, &index(&known_rules())).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn each_experiment_that_is_cited_is_told() {
    let told = read(&root().join("docs/measurements.md"));
    let mut missing = BTreeSet::new();
    let mut cited = 0;
    let mut look = |path: &Path, text: &str| {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for name in experiments(code) {
            cited += 1;
            if !(told.contains(&format!("\n## {name}: ")) || told.contains(&format!("\n{name}"))) {
                missing.insert(format!("{}: {name}", path.display()));
            }
        }
    };
    for place in ["rules", "src", "testdata/trace-text", "README.md"] {
        each_text(&root().join(place), &mut look);
    }
    assert!(cited > 100, "{cited}");
    assert!(missing.is_empty(), "{missing:#?}");
}

/// `E2`, `E1N`: words of that form.
fn experiments(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| {
        let rest = word.strip_prefix('E').unwrap_or_default();
        let letters = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        letters.len() < rest.len()
            && letters.len() < 2
            && letters.bytes().all(|it| it.is_ascii_uppercase())
    })
}

#[test]
fn the_schema_of_the_configuration_is_fresh() {
    let file = root().join("egress-lint.schema.json");
    let schema = format!("{:#}\n", config::schema(&known_rules()));
    bless::compare(&file, &schema).unwrap_or_else(|error| panic!("{error}"));
}

fn index(known: &[RuleInfo]) -> String {
    let own = names(rules::all().iter().map(|rule| &rule.meta));
    let (checks, built_in): (Vec<_>, Vec<_>) =
        known.iter().partition(|rule| own.contains(&rule.name));
    format!(
        "# Rules\n\n\
         One page per rule: what happens, how that is known, and when to ignore it. `egress-lint explain RULE` prints it.\n\n\
         *Measured (E2)* names an experiment: [what each one showed](../docs/measurements.md), or `egress-lint explain E2`.\n\n\
         {}\n\
         ## Diagnostics about the files themselves\n\n\
         What the API server and Istio's webhook refuse, and what egress-lint cannot read.\n\n\
         {}",
        table(&checks),
        table(&built_in)
    )
}

fn table(rules: &[&RuleInfo]) -> String {
    let mut out = "| rule | level | fix | |\n|---|---|---|---|\n".to_owned();
    for rule in rules {
        let fix = match rule.fixable {
            Fixable::Always => "always",
            Fixable::Sometimes => "sometimes",
            Fixable::Never => "",
        };
        out.push_str(&format!(
            "| [{0}]({0}.md) | {1} | {fix} | {2} |\n",
            rule.name,
            rule.severity.name(),
            rule.summary
        ));
    }
    out
}

/// Which modules a module may use. `lib.rs` and `main.rs` stand above all.
const MODULES: [(&str, &[&str]); 16] = [
    ("source", &[]),
    ("diag", &["source"]),
    ("yaml", &["source", "diag"]),
    ("manifest", &["source", "yaml"]),
    ("config", &["source", "diag", "yaml"]),
    ("istio", &["source", "diag", "yaml"]),
    ("world", &["source", "diag", "yaml", "manifest", "istio"]),
    ("egress", &["source", "istio", "world", "config"]),
    ("calls", &["source", "diag", "yaml", "egress"]),
    (
        "rules",
        &[
            "source", "diag", "yaml", "istio", "world", "egress", "config",
        ],
    ),
    ("suppress", &["source", "diag", "yaml", "config"]),
    (
        "engine",
        &[
            "source", "diag", "yaml", "manifest", "config", "istio", "world", "egress", "rules",
            "suppress",
        ],
    ),
    ("fix", &["source", "diag"]),
    ("baseline", &["source", "diag", "config", "engine"]),
    ("output", &["source", "diag", "egress"]),
    (
        "cli",
        &[
            "source", "diag", "yaml", "manifest", "config", "istio", "world", "egress", "calls",
            "rules", "suppress", "engine", "fix", "baseline", "output",
        ],
    ),
];

#[test]
fn modules_use_only_what_they_may() {
    let table: BTreeMap<&str, &[&str]> = MODULES.into_iter().collect();
    let mut wrong = BTreeSet::new();
    for folder in list(&root().join("src")) {
        let module = name(&folder).trim_end_matches(".rs").to_owned();
        if module == "lib" || module == "main" {
            continue;
        }
        let Some(may) = table.get(module.as_str()) else {
            wrong.insert(format!("the module `{module}` is not in the table"));
            continue;
        };
        each_source(&folder, &mut |file, text| {
            for used in uses(text) {
                if used != module && table.contains_key(used) && !may.contains(&used) {
                    let file = file.strip_prefix(root()).expect("a file of ours");
                    wrong.insert(format!("{} uses `{used}`", file.display()));
                }
            }
        });
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn each_source(path: &Path, visit: &mut impl FnMut(&Path, &str)) {
    each_text(path, &mut |path, text| {
        if name(path).ends_with(".rs") && name(path) != "tests.rs" {
            visit(path, text);
        }
    });
}

fn each_text(path: &Path, visit: &mut impl FnMut(&Path, &str)) {
    if path.is_dir() {
        for entry in list(path) {
            each_text(&entry, visit);
        }
    } else {
        visit(path, &read(path));
    }
}

/// The first path segments after `crate::`, also in braces; tests left out.
fn uses(text: &str) -> BTreeSet<&str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut used = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let Some(group) = rest.strip_prefix('{') else {
            used.insert(segment(rest));
            continue;
        };
        let mut depth = 0;
        for part in group.split_inclusive(['{', '}', ',']) {
            if depth == 0 {
                used.insert(segment(part.trim_start()));
            }
            match part.chars().last() {
                Some('{') => depth += 1,
                Some('}') if depth == 0 => break,
                Some('}') => depth -= 1,
                _ => {}
            }
        }
    }
    used
}

fn segment(path: &str) -> &str {
    let end = path.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    path.get(..end.unwrap_or(path.len())).unwrap_or_default()
}

#[test]
fn paths_are_read_from_uses() {
    let code =
        "use crate::{a::{x, y}, b, c::Z}; fn f(_: crate::d::E) {} #[cfg(test)] use crate::f;";
    let used: Vec<&str> = uses(code)
        .into_iter()
        .filter(|used| !used.is_empty())
        .collect();
    assert_eq!(used, ["a", "b", "c", "d"]);
}
