//! A reason carries its fact: when the node that holds it goes, the fact changes, or something else carries it.

use std::collections::{BTreeMap, BTreeSet};

use egress_lint::calls;
use egress_lint::diag::Edit;
use egress_lint::egress::call::Call;
use egress_lint::egress::client::Client;
use egress_lint::egress::model::Model;
use egress_lint::egress::path;
use egress_lint::egress::settings::Settings;
use egress_lint::istio::{self, IstioVersion, MeshConfig, Resource};
use egress_lint::output::{Traced, write_trace};
use egress_lint::source::{FileId, SourceFile, Sources, Span};
use egress_lint::world::FoundMesh;
use egress_lint::yaml::{Entry, Kind, Node, Tree, change};
use libtest_mimic::Failed;
use serde_json::Value;

/// The texts that reasons may stand in.
const FILES: [&str; 2] = ["input.yaml", "mesh.yaml"];

/// Checks each reason of each fact of the answers to the calls; `texts` are those of [`FILES`].
pub(crate) fn check(texts: [&str; 2], calls: &str) -> Result<(), Failed> {
    let tree = Tree::parse(FileId(0), calls);
    let document = tree.documents(calls).next().ok_or("there are no calls")?;
    let (calls, _) = calls::read(document.root);
    check_calls(texts, &calls)
}

/// The same of a call to each destination that a manifest defines, and of what gateways get then.
pub(crate) fn check_destinations(input: &str) -> Result<(), Failed> {
    let Some(resources) = resources(FileId(0), input) else {
        return Ok(());
    };
    let all: Vec<&Resource> = resources.iter().collect();
    let mesh = MeshConfig::default();
    let model = Model::of_resources(&all, &mesh, &Settings::default());
    let mut calls: Vec<Call> = Vec::new();
    for hop in path::Parts::new(&model)
        .flatten()
        .flat_map(|path| path.hops)
    {
        if !calls.contains(&hop.call) {
            calls.push((*hop.call).clone());
        }
    }
    check_calls([input, ""], &calls)
}

fn check_calls(texts: [&str; 2], calls: &[Call]) -> Result<(), Failed> {
    let clients = calls.iter().map(|call| &call.client);
    let gateways: Vec<Client> = clients.filter(|it| it.is_gateway()).cloned().collect();
    let whole = answers(texts, calls, &gateways).ok_or("the case cannot be read")?;
    let reasons = whole.iter().flat_map(|answer| answer.reasons.values());
    let lines: BTreeSet<_> = reasons.flatten().filter(|it| !it.path.is_empty()).collect();
    let mut idle = BTreeSet::new();
    for line in lines {
        let file = FILES.iter().position(|file| *file == line.path);
        let file = file.ok_or("no file of the case")?;
        let Some(removal) = Removal::of(texts[file], line) else {
            continue;
        };
        let mut less = texts;
        less[file] = &removal.text;
        let rests = |answer: &Answer| answer.reasons.values().any(|it| it.contains(line));
        let resting = calls.iter().zip(&whole).filter(|(_, answer)| rests(answer));
        let (calls, before): (Vec<_>, Vec<_>) = resting.map(|(c, a)| (c.clone(), a)).unzip();
        let Some(after) = answers(less, &calls, &gateways) else {
            continue;
        };
        for (before, after) in before.iter().zip(&after) {
            for (fact, reasons) in before.reasons.iter().filter(|it| it.1.contains(line)) {
                let value = before.fact(fact);
                let remain = removal.moved(reasons);
                let now = after.reasons.get(fact);
                let carried = now.is_some_and(|reasons| !reasons.is_subset(&remain));
                if value == after.fact(fact) && !carried {
                    let number = texts[file][..line.start].lines().count();
                    let gone = removal.gone.trim();
                    idle.insert(format!(
                        "{fact} is {value} without line {number}, too: {gone}"
                    ));
                }
            }
        }
    }
    match idle.is_empty() {
        true => Ok(()),
        false => Err(Vec::from_iter(idle).join("\n").into()),
    }
}

/// A line that makes a fact, or the default that does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reason {
    path: String,
    start: usize,
    end: usize,
    default: String,
}

/// The answer to one call.
struct Answer {
    value: Value,
    /// By the fact.
    reasons: BTreeMap<String, BTreeSet<Reason>>,
}

impl Answer {
    fn new(value: Value) -> Self {
        let mut reasons: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for because in value["because"].as_array().into_iter().flatten() {
            let text = |key: &str| because[key].as_str().unwrap_or_default().to_owned();
            let offset = |place: &str| {
                let offset = because[place]["offset"].as_u64().unwrap_or(0);
                usize::try_from(offset).unwrap_or(usize::MAX)
            };
            let path = text("path");
            reasons.entry(text("fact")).or_default().insert(Reason {
                start: offset("start"),
                end: offset("end"),
                default: if path.is_empty() {
                    text("text")
                } else {
                    String::new()
                },
                path,
            });
        }
        Self { value, reasons }
    }

    /// The value of a fact, by its path.
    fn fact(&self, path: &str) -> Value {
        let pick = |keys: &[&str]| keys.iter().map(|key| self.value[*key].clone()).collect();
        match path {
            "outcome" => return pick(&["outcome", "error", "status"]),
            // What is handled otherwise may end in the same part of Envoy, as traffic to an unknown host.
            "handler" => return pick(&["handler", "outcome"]),
            _ => {}
        }
        let clusters = &self.value["cluster_facts"];
        let (mut at, rest) = match path.split_once("].") {
            Some((cluster, fact)) if cluster.starts_with("cluster_facts[") => {
                let name = cluster
                    .trim_start_matches("cluster_facts[")
                    .trim_matches('"');
                (&clusters[name], fact)
            }
            Some((cluster, fact)) if cluster.starts_with("clusters[") => {
                let number: usize = cluster.trim_start_matches("clusters[").parse().unwrap();
                let cluster = &self.value["clusters"][number];
                match fact {
                    "name" | "weight" => (cluster, fact),
                    _ => (
                        &clusters[cluster["name"].as_str().unwrap_or_default()],
                        fact,
                    ),
                }
            }
            _ => (&self.value, path),
        };
        for step in rest.split(['.', '[']) {
            at = match step
                .strip_suffix(']')
                .and_then(|number| number.parse::<usize>().ok())
            {
                Some(number) => &at[number],
                None => &at[step],
            };
        }
        at.clone()
    }
}

/// The answers to calls where these gateways run; `None` where the texts are no YAML.
fn answers([input, mesh]: [&str; 2], calls: &[Call], gateways: &[Client]) -> Option<Vec<Answer>> {
    let mut sources = Sources::new();
    let [input, mesh] = [(FILES[0], input), (FILES[1], mesh)]
        .map(|(path, text)| sources.add(SourceFile::new(path, text)));
    let resources = resources(input, &sources.get(input).text)?;
    let mesh = match sources.get(mesh).text.as_str() {
        "" => MeshConfig::default(),
        text => {
            let tree = Tree::parse(mesh, text);
            FoundMesh::read(tree.documents(text).next()?.root)?.config
        }
    };
    let all: Vec<&Resource> = resources.iter().collect();
    let model = Model::of_resources(&all, &mesh, &Settings::default());
    let model = model.with_gateways(gateways.iter().cloned());
    let traces = calls.iter().map(|call| {
        let proxy = model.proxy(&call.client);
        let result = proxy.call(call);
        let clusters = proxy.clusters_of(&result);
        Traced::new(call, result, clusters)
    });
    let mut json = Vec::new();
    write_trace(&traces.collect::<Vec<_>>(), &sources, &mut json).unwrap();
    let mut json: Value = serde_json::from_slice(&json).unwrap();
    let results = json["results"].as_array_mut().unwrap().drain(..);
    Some(results.map(Answer::new).collect())
}

fn resources(file: FileId, text: &str) -> Option<Vec<Resource>> {
    let tree = Tree::parse(file, text);
    tree.errors().is_empty().then_some(())?;
    let decoded = tree
        .documents(text)
        .map(|document| istio::read(document.root, IstioVersion::default()));
    Some(decoded.flat_map(|it| it.resources).collect())
}

/// A text without the entry or item that holds a reason.
struct Removal {
    text: String,
    gone: String,
    edit: Edit,
    /// First characters of items that begin with what is gone: they stay.
    kept: Vec<Span>,
    path: String,
}

impl Removal {
    /// `None` where the text does not allow it in one place.
    fn of(text: &str, reason: &Reason) -> Option<Self> {
        let offset = |at: usize| u32::try_from(at).unwrap();
        let span = Span::new(FileId(0), offset(reason.start), offset(reason.end));
        let tree = Tree::parse(FileId(0), text);
        let mut documents = tree.documents(text);
        let mut parent = documents.find(|it| it.span.contains(span))?.root;
        let mut kept = Vec::new();
        let edit = loop {
            if let Some(entry) = parent.entries().find(|entry| written(entry).contains(span)) {
                let value = entry.value;
                if value.span().contains(span) && inner(value, span) {
                    parent = value;
                    continue;
                }
                let key = entry.key.span();
                kept.retain(|kept: &Span| kept.start == key.start && *kept != span);
                break change::remove(parent, &entry)?;
            }
            let item = parent.items().find(|item| item.span().contains(span))?;
            let first = item.first_character();
            if item.kind() == Kind::Scalar || span == first || span == item.span() {
                kept.clear();
                break change::remove_item(parent, item)?;
            }
            kept.push(first);
            parent = item;
        };
        let range = edit.span.start as usize..edit.span.end as usize;
        let mut rest = text.to_owned();
        let gone = rest[range.clone()].to_owned();
        rest.replace_range(range, &edit.text);
        Some(Self {
            text: rest,
            gone,
            edit,
            kept,
            path: reason.path.clone(),
        })
    }

    /// The same reasons as they stand in the text that is left, without those that are gone.
    fn moved(&self, reasons: &BTreeSet<Reason>) -> BTreeSet<Reason> {
        let (start, end) = (self.edit.span.start as usize, self.edit.span.end as usize);
        let reasons = reasons.iter().filter_map(|reason| {
            let is_kept = |kept: &Span| {
                (kept.start as usize, kept.end as usize) == (reason.start, reason.end)
            };
            if reason.path != self.path || reason.end <= start || self.kept.iter().any(is_kept) {
                return Some(reason.clone());
            }
            let by = |at: usize| at - (end - start) + self.edit.text.len();
            (reason.start >= end).then(|| Reason {
                start: by(reason.start),
                end: by(reason.end),
                ..reason.clone()
            })
        });
        reasons.collect()
    }
}

/// From the key to the end of the value.
fn written(entry: &Entry<'_>) -> Span {
    Span {
        end: entry.value.span().end,
        ..entry.key.span()
    }
}

/// Whether the span is that of something inside of the value.
fn inner(value: Node<'_>, span: Span) -> bool {
    value.kind() != Kind::Scalar && value.span() != span
}
