//! What Istio's documentation recommends gives no warning, whatever its names, its files and its way of writing.
//!
//! The recipes are in `testdata/known-good`. A set-up that draws a finding says its seed;
//! `SEED=7 cargo test --test known_good` writes it to `target/known-good/7` and checks it alone.

#![allow(clippy::expect_used, clippy::unwrap_used)]

mod harness;
mod setups;

use std::path::Path;
use std::sync::Arc;

use egress_lint::config::{self, Choice};
use egress_lint::diag::Severity;
use egress_lint::engine::{self, Levels, Request, Settings, known_rules};
use egress_lint::istio::{IstioVersion, Namespace};
use egress_lint::source::{Content, Discovery, Found, Role, Sources};
use harness::{list, root};
use libtest_mimic::{Arguments, Failed, Trial};
use rayon::prelude::*;
use setups::{Recipe, Scalar, SetUp};

/// How many set-ups are drawn.
const SET_UPS: u64 = 5_000;

fn main() {
    let arguments = Arguments::from_args();
    let files = list(&root().join("testdata/known-good"));
    let files = files
        .iter()
        .filter(|it| it.extension().is_some_and(|end| end == "yaml"));
    let recipes: Arc<Vec<Recipe>> = Arc::new(files.map(|it| Recipe::load(it)).collect());
    assert!(recipes.len() >= 15, "too few recipes");
    let mut trials = Vec::new();
    for at in 0..recipes.len() {
        let recipes = recipes.clone();
        let name = format!("recipe::{}", recipes[at].name);
        trials.push(Trial::test(name, move || {
            right(&SetUp::as_written(&recipes[at])).map_err(Failed::from)
        }));
    }
    let all = recipes.clone();
    trials.push(Trial::test("slips", move || slips(&all)));
    trials.push(Trial::test("combined", move || combined(&recipes)));
    libtest_mimic::run(&arguments, trials).exit();
}

fn combined(recipes: &[Recipe]) -> Result<(), Failed> {
    let only = std::env::var("SEED").ok();
    if let Some(seed) = only.and_then(|it| it.parse().ok()) {
        let set_up = SetUp::draw(recipes, seed);
        write(
            &set_up,
            &root().join("target/known-good").join(seed.to_string()),
        );
        return right(&set_up).map_err(Failed::from);
    }
    let wrong: Vec<(u64, String)> = (0..SET_UPS)
        .into_par_iter()
        .filter_map(|seed| Some((seed, right(&SetUp::draw(recipes, seed)).err()?)))
        .collect();
    let Some((seed, first)) = wrong.first() else {
        return Ok(());
    };
    Err(format!(
        "{} of {SET_UPS} set-ups are not right; SEED={seed}: {first}",
        wrong.len()
    )
    .into())
}

/// Of a slip nothing is said but that, whatever follows from it: a field that is misspelt, a number in quotes.
fn slips(recipes: &[Recipe]) -> Result<(), Failed> {
    let told: Vec<Result<usize, String>> = recipes
        .par_iter()
        .flat_map_iter(|recipe| {
            let slips = recipe.scalars().into_iter();
            let slips = slips.filter_map(|it| Some((slip(&it)?, it)));
            slips.map(move |((rule, new), it)| {
                let mut set_up = SetUp::as_written(recipe);
                for text in set_up.files.values_mut() {
                    text.replace_range(it.start..it.end, &new);
                }
                let said = loud(&set_up);
                let place = format!(":{}: [{rule}]", it.line);
                let others = said.iter().filter(|it| !it.contains(&place)).count();
                match said.len() - others {
                    // Any key will do there, such as the name of a label.
                    0 if it.is_key => Ok(0),
                    1 if others == 0 => Ok(1),
                    _ => Err(format!("{new} in {}: {said:#?}", recipe.name)),
                }
            })
        })
        .collect();
    let mut count = 0;
    for one in told {
        count += one?;
    }
    assert!(count >= 1000, "only {count} slips");
    Ok(())
}

/// The rule that finds it, and what is written.
fn slip(scalar: &Scalar) -> Option<(&'static str, String)> {
    let text = &scalar.text;
    if scalar.is_key {
        let longer = text.chars().count() > 3 && !text.starts_with(['"', '\'']);
        return longer.then(|| ("unknown-field", text[..text.len() - 1].to_owned()));
    }
    let is_other = text.parse::<i64>().is_ok() || text.parse::<bool>().is_ok();
    is_other.then(|| ("refused", format!("\"{text}\"")))
}

/// Not a single warning or error.
fn right(set_up: &SetUp) -> Result<(), String> {
    let said = loud(set_up);
    match said.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "of {} on Istio 1.{}: {said:#?}",
            set_up.of.join(", "),
            set_up.version
        )),
    }
}

/// The warnings and errors.
fn loud(set_up: &SetUp) -> Vec<String> {
    // Nothing lies there: all texts are given.
    let cwd = Path::new("/known-good");
    let mut sources = Sources::new();
    let config = config::load(&Choice::Isolated, cwd, &mut sources).expect("the defaults");
    let config = config.config;
    let found = |(path, text): (&String, &String)| Found {
        shown: path.clone(),
        role: Role::Named,
        content: Ok(Content::Text(text.clone())),
    };
    let version = IstioVersion(set_up.version);
    let mut loaded = engine::load(Request {
        found: Discovery {
            files: set_up.files.iter().map(found).collect(),
            count: set_up.files.len(),
            ..Discovery::default()
        },
        stdin: None,
        sources,
        cwd,
        version,
        namespace: set_up.namespace.map(|name| {
            Arc::new(Namespace {
                name: Some(name.into()),
                because: None,
            })
        }),
        parse_all: false,
        as_meant: true,
    });
    let levels = Levels::new(&config, &[], &[], &known_rules()).expect("no names");
    let report = engine::check(
        &mut loaded,
        &Settings {
            config: &config,
            levels: &levels,
            istio_version: version,
            mesh: None,
            closed: set_up.closed,
            world: None,
            objects: false,
            fixes: false,
        },
    );
    assert_eq!(loaded.istio, set_up.istio, "every resource is read");
    let loud = report
        .diagnostics
        .iter()
        .filter(|it| it.severity != Severity::Advice);
    loud.map(|it| {
        let file = &loaded.sources.get(it.span.file).path;
        let line = loaded.sources.start(it.span).line;
        format!("{file}:{line}: [{}] {}", it.rule, it.message)
    })
    .collect()
}

fn write(set_up: &SetUp, folder: &Path) {
    for (path, text) in &set_up.files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is made");
        std::fs::write(path, text).expect("the file is written");
    }
}
