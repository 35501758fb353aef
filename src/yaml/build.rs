//! From the parser's events to the arena. The only place that knows the parser.

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, StructureStyle};

use super::arena::{Arena, DEPTH, Token};
use super::fault::SyntaxError;
use super::scalar::Tag;
use super::tree::Style;

fn options() -> Options {
    granit_parser::options! {
        bom_inside_document_as_content: true,
        emit_unresolved_aliases: true,
        // The arena finds them itself: the parser would keep them all until it knows what they belong to.
        emit_comments: false,
        disallow_directives: true,
        flow_nesting_limit: DEPTH,
        block_nesting_limit: DEPTH,
    }
}

/// Parses one document, which begins at `base` in its file.
pub(super) fn parse(chunk: &str, base: usize, arena: &mut Arena<'_>) -> Result<(), SyntaxError> {
    for event in Parser::new_from_str_with_options(chunk, options()) {
        let (event, span) = match event {
            Ok(event) => event,
            Err(_) if arena.is_ignored_from_here() => break,
            Err(error) => return Err(scan_error(&error, base, arena)),
        };
        if arena.is_complete() {
            break;
        }
        let bytes = span.byte_range().unwrap_or(0..0);
        let token = Token {
            start: base + bytes.start,
            end: base + bytes.end,
            column: span.start.col(),
        };
        match event {
            Event::Scalar(value, style, anchor, tag) => {
                let tag = tag.as_deref().map_or(Tag::None, core_tag);
                arena.scalar(token, &value, scalar_style(style), anchor, tag)?;
            }
            Event::MappingStart(style, anchor, _) => {
                arena.open(token, true, style == StructureStyle::Flow, anchor)?
            }
            Event::SequenceStart(style, anchor, _) => {
                arena.open(token, false, style == StructureStyle::Flow, anchor)?
            }
            Event::MappingEnd | Event::SequenceEnd => arena.close(token)?,
            Event::Alias(id) => arena.alias(token, id)?,
            Event::UnresolvedAlias(name) => arena.unresolved(token, &name)?,
            Event::DocumentEnd => break,
            _ => {}
        }
    }
    arena.finish()
}

fn scalar_style(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::SingleQuoted => Style::Single,
        ScalarStyle::DoubleQuoted => Style::Double,
        ScalarStyle::Literal => Style::Literal,
        ScalarStyle::Folded => Style::Folded,
        _ => Style::Plain,
    }
}

fn core_tag(tag: &granit_parser::Tag) -> Tag {
    tag.suffix_in_namespace("tag:yaml.org,2002:")
        .map_or(Tag::Other, |name| Tag::core(&name))
}

fn scan_error(error: &ScanError, base: usize, arena: &Arena<'_>) -> SyntaxError {
    let at = base + error.marker().byte_offset().unwrap_or(0);
    arena.refuse(at, at, words(error.kind()))
}

fn words(kind: &ErrorKind) -> String {
    kind.to_string()
}
