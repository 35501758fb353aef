//! `egress-lint debug`: what the parts make of one file.

use std::io::Write;
use std::path::Path;

use anyhow::Context as _;

use crate::source::{Content, Input, Role, read};
use crate::yaml::debug;

use super::arguments::Debug;
use super::exit::Exit;

pub(super) fn run(what: &Debug, out: &mut dyn Write) -> anyhow::Result<Exit> {
    match what {
        Debug::Yaml { file, spans } => yaml(file, *spans, out),
    }
}

fn yaml(path: &Path, spans: bool, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let shown = path.display().to_string();
    let input = Input {
        path: path.to_owned(),
        shown: shown.clone(),
        role: Role::Named,
    };
    let dump = match read(&input, &mut Vec::new(), true).context(shown)? {
        Content::Text(text) => debug::dump(&text, spans),
        Content::Nothing => debug::dump("", spans),
        Content::NotUtf8 { text, at, .. } => debug::undecoded(&text, at, "the file is not UTF-8"),
        Content::Wide { text } => {
            debug::undecoded(&text, 0, "the file is UTF-16 or UTF-32, not UTF-8")
        }
    };
    serde_json::to_writer(&mut *out, &dump.json)?;
    writeln!(out)?;
    Ok(if dump.refused {
        Exit::Trouble
    } else {
        Exit::Clean
    })
}
