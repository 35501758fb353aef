//! Small trees of files, and into which worlds they split.

#![allow(clippy::expect_used)]

mod tree_case;

use std::fmt::Write as _;

use egress_lint::istio::{self, IstioVersion};
use egress_lint::manifest::{Kinds, Kustomizations, State, classify, state_of_file};
use egress_lint::source::{FileId, Sources, Span};
use egress_lint::world::{
    File, MeshOrigin, Options, Worlds, assign_namespaces, assign_revisions, find_mesh, split,
};
use egress_lint::yaml::Tree;
use tree_case::Case;

fn main() {
    tree_case::run("worlds", "worlds", answer);
}

fn answer(case: &Case) -> String {
    let files: Vec<File> = case
        .files()
        .map(|(place, file, text)| read(place, file, text, &case.kustomizations))
        .collect();
    let options = Options {
        closed: true,
        ..Options::default()
    };
    let worlds = split(&files, &case.kustomizations, &options);
    print(&case.sources, &files, &worlds)
}

fn read(place: &str, id: FileId, text: &str, kustomizations: &Kustomizations) -> File {
    let mut file = File {
        id,
        place: place.to_owned(),
        resources: Vec::new(),
        meshes: Vec::new(),
        templates: Kinds::default(),
        broken: false,
    };
    let whole = kustomizations
        .state_of_file(place)
        .or_else(|| state_of_file(place));
    for chunk in egress_lint::yaml::split(text) {
        let tree = Tree::parse_chunks(id, text, std::slice::from_ref(&chunk));
        let broken = !tree.errors().is_empty();
        let root = tree.documents(text).next().map(|document| document.root);
        let state = classify(chunk.text(text), root.filter(|_| !broken));
        match (whole.unwrap_or(state), root) {
            (State::Template, _) => file.templates.extend(&Kinds::of_template(chunk.text(text))),
            (State::Patch | State::Fragment, _) => {}
            (State::Resource | State::Other, Some(root)) if !broken => {
                let decoded = istio::read(root, IstioVersion::default());
                file.resources.extend(decoded.resources);
                file.meshes.extend(find_mesh(root));
            }
            _ => file.broken |= broken,
        }
    }
    assign_namespaces(&mut file.resources, place, kustomizations, None);
    assign_revisions(&mut file.resources, place, kustomizations);
    file
}

fn print(sources: &Sources, files: &[File], worlds: &Worlds<'_>) -> String {
    let mut out = String::new();
    for world in &worlds.list {
        let name = world.name.as_deref().unwrap_or("(the only one)");
        let openness = if world.closed { "" } else { " (open)" };
        let _ = writeln!(out, "{name}{openness}");
        for file in files.iter().filter(|file| world.holds(file.id)) {
            let _ = writeln!(out, "  {}", file.place);
        }
        let held = files.iter().filter(|file| world.holds(file.id));
        let held = held.flat_map(|file| &file.resources);
        for resource in held.filter(|it| !world.sees(it.span)) {
            let path = &sources.get(resource.span.file).path;
            let _ = writeln!(out, "  left out: {} of {path}", resource.name());
        }
        for resource in world
            .resources
            .iter()
            .filter(|it| !world.is_decided(it.span))
        {
            let path = &sources.get(resource.span.file).path;
            let _ = writeln!(out, "  undecided: {} of {path}", resource.name());
        }
        if let MeshOrigin::Lines(span) = world.mesh.origin {
            let at = sources.start(span);
            let _ = writeln!(out, "  mesh: {}:{}", sources.get(span.file).path, at.line);
        }
        let unsure: Vec<&str> = ["ServiceEntry", "DestinationRule", "VirtualService"]
            .into_iter()
            .filter(|kind| world.closed && !world.knows_all(kind))
            .collect();
        if !unsure.is_empty() {
            let _ = writeln!(out, "  templates of: {}", unsure.join(" "));
        }
    }
    for resource in files.iter().flat_map(|file| &file.resources) {
        let Some(span) = resource.given.as_ref().and_then(|it| it.because) else {
            continue;
        };
        if span.file != resource.span.file {
            let _ = writeln!(
                out,
                "namespace {} for {} of {} by {}:{}",
                resource.namespace().unwrap_or("?"),
                resource.name(),
                sources.get(resource.span.file).path,
                sources.get(span.file).path,
                sources.start(span).line,
            );
        }
    }
    for finding in &worlds.duplicates {
        let at = |span: Span| {
            let path = &sources.get(span.file).path;
            format!("{path}:{}", sources.start(span).line)
        };
        let _ = writeln!(out, "{}: {}", at(finding.span), finding.message);
        for label in &finding.related {
            let _ = writeln!(out, "  {}: {}", at(label.span), label.message);
        }
    }
    out
}
