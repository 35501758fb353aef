//! Set-ups that are right: recipes of Istio's documentation, renamed, combined, cut into files and written in the ways
//! that people write.

// It is a part of one test program.
#![allow(unreachable_pub)]

mod dice;
mod names;
mod recipe;
mod style;

use std::collections::BTreeMap;

use egress_lint::yaml::Value;

pub use recipe::{Recipe, Scalar};

use dice::Dice;
use names::{Names, Sort};
use recipe::{get, is_mesh};
use style::Style;

/// Manifests that belong together, and how they are looked at.
pub struct SetUp {
    /// The recipes that it is made of.
    pub of: Vec<String>,
    /// Texts by their paths.
    pub files: BTreeMap<String, String>,
    pub version: u32,
    pub closed: bool,
    pub namespace: Option<&'static str>,
    /// How many resources of Istio's API there are.
    pub istio: usize,
}

impl SetUp {
    /// The recipe as it stands in its file.
    pub fn as_written(recipe: &Recipe) -> Self {
        Self {
            of: vec![recipe.name.clone()],
            files: BTreeMap::from([(format!("{}.yaml", recipe.name), recipe.text.clone())]),
            version: recipe.since.max(30),
            closed: recipe.whole,
            namespace: None,
            istio: istio(&recipe.documents),
        }
    }

    /// Always the same one for a seed.
    pub fn draw(recipes: &[Recipe], seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let chosen = choose(recipes, &mut dice);
        let mut used = dice.below(1000);
        let mut documents = Vec::new();
        for recipe in &chosen {
            documents.extend(renamed(recipe, &mut used, &mut dice));
        }
        let istio = istio(&documents);
        dice.shuffle(&mut documents);
        let since = chosen.iter().map(|it| it.since).max().unwrap_or(24);
        Self {
            of: chosen.iter().map(|it| it.name.clone()).collect(),
            files: cut(documents, &mut dice),
            version: since + u32::try_from(dice.below(33 - since as usize)).expect("a version"),
            closed: chosen.iter().all(|it| it.whole) && dice.one_in(2),
            namespace: dice.one_in(6).then_some("default"),
            istio,
        }
    }
}

fn istio(documents: &[Value]) -> usize {
    let ours = documents.iter().filter(|it| match get(it, "apiVersion") {
        Some(Value::Str(version)) => version.starts_with("networking.istio.io/"),
        _ => false,
    });
    ours.count()
}

/// One to five recipes, of which one at most sets the mesh.
fn choose<'r>(recipes: &'r [Recipe], dice: &mut Dice) -> Vec<&'r Recipe> {
    let count = 1 + dice.below(5);
    let mut all: Vec<&Recipe> = recipes.iter().collect();
    dice.shuffle(&mut all);
    let mut mesh = 0;
    all.retain(|recipe| {
        mesh += usize::from(recipe.sets_the_mesh());
        !recipe.sets_the_mesh() || mesh == 1
    });
    all.truncate(count);
    all
}

fn renamed(recipe: &Recipe, used: &mut usize, dice: &mut Dice) -> Vec<Value> {
    let names = Names::draw(&recipe.words, used, dice);
    let namespaces = recipe.words.iter().filter(|it| it.sort == Sort::Namespace);
    let unsaid = namespaces.count() == 1 && dice.one_in(4);
    let version = *dice.pick(&["v1", "v1beta1", "v1alpha3"]);
    let mut documents = recipe.documents.clone();
    for document in &mut documents {
        names.apply(document);
        if unsaid && !is_mesh(document) {
            forget_namespace(document);
        }
        set_version(document, version);
    }
    documents
}

/// Most manifests do not say their namespace.
fn forget_namespace(document: &mut Value) {
    let Value::Map(entries) = document else {
        return;
    };
    for (_, value) in entries.iter_mut().filter(|(key, _)| key == "metadata") {
        if let Value::Map(entries) = value {
            entries.retain(|(key, _)| key != "namespace");
        }
    }
}

/// All versions of Istio's API that are served say the same.
fn set_version(document: &mut Value, version: &str) {
    let Value::Map(entries) = document else {
        return;
    };
    let old = Value::from("networking.istio.io/v1");
    for (_, value) in entries
        .iter_mut()
        .filter(|(key, value)| key == "apiVersion" && *value == old)
    {
        *value = Value::Str(format!("networking.istio.io/{version}"));
    }
}

/// The documents in one to four files, in one folder or several.
fn cut(documents: Vec<Value>, dice: &mut Dice) -> BTreeMap<String, String> {
    let folders = ["", "istio/", "egress/", "clusters/prod/"];
    let count = 1 + dice.below(documents.len().min(4));
    let spread = dice.one_in(2);
    let mut files: Vec<Vec<Value>> = vec![Vec::new(); count];
    for (at, document) in documents.into_iter().enumerate() {
        let file = if at < count { at } else { dice.below(count) };
        files[file].push(document);
    }
    let folder = *dice.pick(&folders);
    let mut texts = BTreeMap::new();
    for (at, documents) in files.iter().enumerate() {
        let folder = if spread { *dice.pick(&folders) } else { folder };
        let style = Style::draw(dice);
        let path = format!("{folder}{}-{at}.yaml", title(&documents[0]));
        texts.insert(path, style.write(documents, dice));
    }
    texts
}

/// What people call a file after.
fn title(document: &Value) -> String {
    match get(document, "kind") {
        Some(Value::Str(kind)) => kind.to_ascii_lowercase(),
        _ => "manifest".to_owned(),
    }
}
