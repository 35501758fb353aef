//! Small trees of files, and into which worlds they split.
//!
//! A case of `testdata/worlds` holds its files behind `-- path --` lines and the expected answer behind the last one,
//! `-- worlds --`. `BLESS=1` writes the answers anew.

#![allow(clippy::expect_used)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use egress_lint::istio::{self, IstioVersion};
use egress_lint::manifest::{
    Kinds, Kustomization, Kustomizations, State, classify, folder, state_of_file,
};
use egress_lint::source::{FileId, SourceFile, Sources};
use egress_lint::world::{File, MeshOrigin, Options, Worlds, assign_namespaces, find_mesh, split};
use egress_lint::yaml::Tree;
use libtest_mimic::{Arguments, Failed, Trial};

const ANSWER: &str = "worlds";

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/worlds");
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of the cases")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let trials = paths
        .into_iter()
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy();
            Trial::test(name.into_owned(), move || check(&path))
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn check(path: &Path) -> Result<(), Failed> {
    let case = std::fs::read_to_string(path)?;
    let (comment, sections) = parse(&case);
    let mut files = sections.clone();
    let expected = files.remove(ANSWER).unwrap_or_default();
    let answer = answer(files.iter().map(|(path, text)| (*path, text.as_str())));
    let reversed = self::answer(
        files
            .iter()
            .rev()
            .map(|(path, text)| (*path, text.as_str())),
    );
    if answer != reversed {
        return Err(format!("in another order:\n{reversed}\ninstead of\n{answer}").into());
    }
    if answer == expected {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_none() {
        return Err(format!("expected\n{expected}\nfound\n{answer}").into());
    }
    let mut text = comment.to_owned();
    for (path, section) in files {
        let _ = write!(text, "-- {path} --\n{section}");
    }
    let _ = write!(text, "-- {ANSWER} --\n{answer}");
    std::fs::write(path, text)?;
    Ok(())
}

/// The text before the first section, and the sections by name.
fn parse(case: &str) -> (&str, BTreeMap<&str, String>) {
    let header =
        |line: &str| -> bool { line.starts_with("-- ") && line.trim_end().ends_with(" --") };
    let mut sections = BTreeMap::new();
    let mut comment = 0;
    let mut current: Option<&str> = None;
    for line in case.split_inclusive('\n') {
        if header(line) {
            let name = line.trim_end();
            let name = &name[3..name.len() - 3];
            sections.insert(name, String::new());
            current = Some(name);
        } else if let Some(name) = current {
            sections.get_mut(name).expect("inserted").push_str(line);
        } else {
            comment += line.len();
        }
    }
    (&case[..comment], sections)
}

fn answer<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut sources = Sources::new();
    let ids: BTreeMap<&str, FileId> = files
        .map(|(path, text)| (path, sources.add(SourceFile::new(path, text))))
        .collect();
    let kustomizations =
        Kustomizations::collect(ids.keys().map(|path| folder(path).to_owned()), |place| {
            let file = *ids.get(place)?;
            let text = &sources.get(file).text;
            let tree = Tree::parse(file, text);
            let root = tree.documents(text).next()?.root;
            Kustomization::read(file, place, root)
        });
    let files: Vec<File> = ids
        .iter()
        .map(|(place, &file)| read(place, file, &sources.get(file).text, &kustomizations))
        .collect();
    let options = Options {
        closed: true,
        ..Options::default()
    };
    print(&sources, &files, &split(&files, &kustomizations, &options))
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
    for chunk in egress_lint::yaml::split(id, text) {
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
        let Some(span) = resource.namespace.because else {
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
        let at = |span| {
            format!(
                "{}:{}",
                sources.get(span_file(span)).path,
                sources.start(span).line
            )
        };
        let _ = writeln!(out, "{}: {}", at(finding.span), finding.message);
        for label in &finding.related {
            let _ = writeln!(out, "  {}: {}", at(label.span), label.message);
        }
    }
    out
}

fn span_file(span: egress_lint::source::Span) -> FileId {
    span.file
}
