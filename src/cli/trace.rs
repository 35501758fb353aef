//! `egress-lint trace`: what becomes of calls.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::Path;

use smol_str::SmolStr;

use anyhow::{Context as _, bail};

use super::arguments::{TextOrJson, Trace};
use super::exit::Exit;
use super::session::{self, Reading};
use super::terminal::{self, Target};
use crate::calls;
use crate::config::Config;
use crate::diag::nearest;
use crate::egress::call::Call;
use crate::egress::client::Client;
use crate::egress::facts::Speaks;
use crate::egress::forecast::Outlook;
use crate::egress::host;
use crate::egress::model::Model;
use crate::egress::path::{Question, paths_to};
use crate::egress::proxy::Proxy;
use crate::egress::settings::Settings as Conditions;
use crate::engine::{self, Levels, Loaded, Settings};
use crate::istio::decode::Items as _;
use crate::istio::resource::{Resource, Spec};
use crate::output::{self, Traced};
use crate::source::{SourceFile, Sources, Span, Spanned};
use crate::world::World;
use crate::yaml::Tree;

pub(super) fn run(arguments: &Trace, out: &mut dyn Write) -> anyhow::Result<Exit> {
    if arguments.calls.is_some() && arguments.format == Some(TextOrJson::Text) {
        bail!("`--calls` is answered in JSON: leave out `--format text`");
    }
    let session = session::open(&arguments.inputs, false, Reading::AsInTheCluster)?;
    let config = &session.config;
    let known = engine::known_rules();
    let levels = Levels::new(config, &[], &[], &known)?;
    let settings = Settings {
        config,
        levels: &levels,
        istio_version: session.version,
        mesh: engine::mesh(config, &session.loaded.sources),
        closed: session.closed,
        world: None,
        objects: false,
        fixes: false,
    };
    let calls = match &arguments.calls {
        Some(path) => match calls_of(path)? {
            Some(calls) => Some(calls),
            None => return Ok(Exit::Trouble),
        },
        None => None,
    };
    let worlds = engine::worlds(&session.loaded, &settings);
    let world = session::choose(&worlds.list, arguments.world.as_deref())?;
    let mut conditions = Conditions {
        version: session.version,
        ..Conditions::default()
    };
    if let Some(root) = &config.root_namespace {
        conditions.root_namespace.clone_from(&root.value);
    }
    let gateways = calls.iter().flatten().map(|call| &call.client);
    let gateways = gateways.filter(|client| client.is_gateway()).cloned();
    let model = Model::new(world, &conditions).with_gateways(gateways);
    let sources = &session.loaded.sources;
    let mut file = match &arguments.sink.output {
        Some(path) => {
            Some(BufWriter::new(File::create(path).with_context(|| {
                format!("cannot write `{}`", path.display())
            })?))
        }
        None => None,
    };
    let out = file.as_mut().map_or(out, |file| file as &mut dyn Write);
    match &calls {
        Some(calls) => output::write_trace(&trace(&model, calls), sources, out)?,
        None => {
            let host = arguments.to.as_ref().map(|to| &*to.host);
            let unread = unread(&session.loaded);
            misread(&session.loaded);
            let refused = refused(host, world, sources);
            left_out(unread.into_iter().chain(refused).collect());
            ways(arguments, world, &model, config, sources, out)?;
        }
    }
    out.flush()?;
    let trouble = !session.loaded.problems.is_empty();
    Ok(if trouble { Exit::Trouble } else { Exit::Clean })
}

/// The ways to the destinations that are asked about.
fn ways(
    arguments: &Trace,
    world: &World<'_>,
    model: &Model<'_>,
    config: &Config,
    sources: &Sources,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let to = arguments.to.as_ref();
    let question = Question {
        host: to.map(|to| to.host.clone()),
        port: to.and_then(|to| to.port),
        speaks: arguments.speaks.map(Speaks::from),
        client: arguments.client.clone(),
    };
    let paths = paths_to(model, &question);
    if let Some(host) = question.host.as_deref()
        && paths.iter().all(|path| path.declared.is_none())
        && refused(Some(host), world, sources).is_empty()
    {
        unknown(host, model);
    }
    let outlook = |path| Outlook::of(path, model, config, arguments.matrix);
    let outlooks: Vec<_> = paths.iter().map(outlook).collect();
    if arguments.format == Some(TextOrJson::Json) {
        return Ok(output::write_paths_json(&outlooks, sources, out)?);
    }
    if outlooks.is_empty() {
        terminal::say("the files define no external host; ask for one with --to HOST[:PORT]");
    }
    let target = arguments
        .sink
        .output
        .as_ref()
        .map_or(Target::Stdout, |_| Target::File);
    let mut options = terminal::options(arguments.sink.color, target);
    if arguments.sink.output.is_some() || !io::stdout().is_terminal() {
        options.width = output::WIDEST_TRACE;
    }
    let folder = std::env::current_dir().unwrap_or_default();
    let folder = folder.to_string_lossy();
    Ok(output::write_paths(
        &outlooks, sources, &options, &folder, out,
    )?)
}

/// How many of those that are left out are named.
const NAMED: usize = 3;

/// Says what of the files is no part of the answer.
fn left_out(all: Vec<String>) {
    for one in all.iter().take(NAMED) {
        terminal::say(&format!(
            "note: {one}: left out here, see `egress-lint check`"
        ));
    }
    if let Some(more) = all.len().checked_sub(NAMED).filter(|more| *more > 0) {
        terminal::say(&format!("note: and {more} more are left out"));
    }
}

/// Says that the configuration has a mistake, which sets nothing.
fn misread(loaded: &Loaded) {
    let wrong = loaded.diagnostics.iter().find(|it| it.rule == "config");
    if let Some(wrong) = wrong {
        let at = place(wrong.span, &loaded.sources);
        terminal::say(&format!(
            "note: {at}: {}; the answer may be another when that is mended",
            wrong.message
        ));
    }
}

/// The files with a document that Kubernetes does not read.
fn unread(loaded: &Loaded) -> Vec<String> {
    let broken = loaded.diagnostics.iter();
    let mut broken: Vec<_> = broken
        .filter(|finding| finding.rule == "yaml-syntax")
        .map(|finding| (finding.span.file, finding.span))
        .collect();
    broken.dedup_by_key(|(file, _)| *file);
    let said = broken.into_iter().map(|(_, span)| {
        let at = place(span, &loaded.sources);
        format!("{at} is not read as YAML")
    });
    said.collect()
}

/// The resources that Istio refuses: those that have to do with the host, or all.
fn refused(host: Option<&str>, world: &World<'_>, sources: &Sources) -> Vec<String> {
    let all = world.resources.iter().filter(|resource| resource.refused);
    all.filter(|resource| host.is_none_or(|host| concerns(resource, host)))
        .map(|resource| {
            let (kind, name) = (resource.spec.kind(), resource.name());
            let at = place(resource.kind, sources);
            format!("{kind} `{name}` ({at}) is refused when it is applied")
        })
        .collect()
}

/// Whether what it says may hold for the host.
fn concerns(resource: &Resource, host: &str) -> bool {
    let namespace = resource.namespace();
    let is = |name: &Spanned<SmolStr>| {
        let name = host::to_fqdn(&name.value, namespace).to_lowercase();
        host::overlaps(host, &name)
    };
    match &resource.spec {
        Spec::ServiceEntry(it) => it.hosts.items().iter().any(is),
        Spec::VirtualService(it) => it.hosts.items().iter().any(is),
        Spec::DestinationRule(it) => it.host.as_ref().is_some_and(is),
        _ => true,
    }
}

/// `file:line`.
fn place(span: Span, sources: &Sources) -> String {
    let line = sources.start(span).line;
    format!("{}:{line}", sources.get(span.file).path)
}

/// Known hosts that a mistyped one is compared with.
const COMPARED: usize = 10_000;

/// Says that no file defines a host, and which one may have been meant.
fn unknown(host: &str, model: &Model<'_>) {
    let registry = &model.registry;
    let known = |name: &str| host::subset_of(host, &name.to_lowercase());
    let names = || registry.services().map(|service| &*service.host.name);
    if names().any(known) {
        return;
    }
    let meant = match nearest(host, names().take(COMPARED)) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    };
    terminal::say(&format!(
        "note: no file defines `{}`{meant}",
        output::visible(host)
    ));
}

fn trace<'t>(model: &Model<'_>, calls: &'t [Call]) -> Vec<Traced<'t>> {
    let mut proxies: HashMap<&Client, Proxy<'_>> = HashMap::new();
    let mut traces = Vec::new();
    for call in calls {
        let proxy = proxies
            .entry(&call.client)
            .or_insert_with(|| model.proxy(&call.client));
        let result = proxy.call(call);
        let clusters = proxy.clusters_of(&result);
        traces.push(Traced::new(call, result, clusters));
    }
    traces
}

/// The calls of the command line; `None` where the file with them has mistakes, which have been said.
fn calls_of(path: &Path) -> anyhow::Result<Option<Vec<Call>>> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read the calls in `{}`", path.display()))?;
    read(path, text)
}

fn read(path: &Path, text: String) -> anyhow::Result<Option<Vec<Call>>> {
    let mut sources = Sources::new();
    let file = sources.add(SourceFile::new(path.to_string_lossy(), text));
    let text = sources.get(file).text.as_str();
    let tree = Tree::parse(file, text);
    let mut wrong: Vec<_> = tree
        .errors()
        .iter()
        .map(|error| (error.span, error.message.clone(), error.help.clone()))
        .collect();
    let mut calls = Vec::new();
    if wrong.is_empty() {
        let Some(document) = tree.documents(text).next() else {
            bail!("there are no calls in `{}`", path.display());
        };
        let (read, diagnostics) = calls::read(document.root);
        calls = read;
        wrong.extend(
            diagnostics
                .into_iter()
                .map(|it| (it.span, it.message.to_string(), it.help.clone())),
        );
    }
    for (span, message, help) in &wrong {
        let at = sources.start(*span);
        let help = help
            .as_ref()
            .map_or(String::new(), |help| format!(" ({help})"));
        terminal::say(&format!(
            "error: {}:{}:{}: {message}{help}",
            path.display(),
            at.line,
            at.column
        ));
    }
    Ok(wrong.is_empty().then_some(calls))
}
