//! From the parser's events to the arena. The only place that knows the parser.

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, StructureStyle};

use super::arena::{Arena, DEPTH, Token};
use super::fault::SyntaxError;
use super::prepare::Prepared;
use super::tag::Tag;
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
pub(super) fn parse(
    prepared: &Prepared<'_>,
    base: usize,
    arena: &mut Arena<'_>,
) -> Result<(), SyntaxError> {
    for event in Parser::new_from_str_with_options(&prepared.text, options()) {
        let (event, span) = match event {
            Ok(event) => event,
            Err(_) if arena.is_ignored_from_here() => break,
            Err(error) => {
                let at = prepared.original(error.marker().byte_offset().unwrap_or(0));
                return Err(scan_error(&error, base + at, arena));
            }
        };
        if arena.is_complete() {
            break;
        }
        let bytes = span.byte_range().unwrap_or(0..0);
        let token = Token {
            start: base + prepared.original(bytes.start),
            end: base + prepared.original(bytes.end),
        };
        match event {
            Event::Scalar(value, style, anchor, tag) => {
                let tag = tag.as_deref().map_or(Tag::None, core_tag);
                arena.scalar(
                    token,
                    &prepared.value(&value),
                    scalar_style(style),
                    anchor,
                    tag,
                )?;
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

fn scan_error(error: &ScanError, at: usize, arena: &Arena<'_>) -> SyntaxError {
    let here = match error.kind() {
        ErrorKind::MissingAnchorOrAliasName => arena.bare_star(at),
        ErrorKind::MappingValueNotAllowed => {
            arena.missing_blank(at).or_else(|| arena.text_above(at))
        }
        ErrorKind::UnknownQuotedScalarEscape => arena.unknown_escape(at),
        ErrorKind::UnexpectedCharacter { character } => Some(arena.bad_start(at, *character)),
        ErrorKind::ExpectedBlockMappingKey => {
            arena.misplaced_item(at).or_else(|| arena.misplaced(at))
        }
        _ => arena.misplaced(at),
    };
    here.unwrap_or_else(|| {
        let (message, help) = words(error.kind());
        let refusal = arena.refuse(at, at, message);
        if help.is_empty() {
            refusal
        } else {
            refusal.help(help)
        }
    })
}

/// What is wrong, and what to do about it where that can be said.
fn words(kind: &ErrorKind) -> (&'static str, &'static str) {
    use ErrorKind as E;
    match kind {
        E::UnexpectedEofFlowSequence => ("a `[` is never closed", ""),
        E::UnexpectedEofFlowMapping | E::UnexpectedEofImplicitFlowMapping => {
            ("a `{` is never closed", "")
        }
        E::UnclosedFlowCollection { open: '{' } => ("this `{` is never closed", ""),
        E::UnclosedFlowCollection { .. } => ("this `[` is never closed", ""),
        E::MismatchedFlowCollectionEnd { open: '{', .. } => ("a `{` must be closed by `}`", ""),
        E::MismatchedFlowCollectionEnd { .. } => ("a `[` must be closed by `]`", ""),
        E::MisplacedFlowCollectionEnd => ("this closing bracket opens nowhere", ""),
        E::ExpectedFlowMappingSeparator => ("`,` or `}` expected", ""),
        E::ExpectedFlowSequenceSeparator => ("`,` or `]` expected", ""),
        E::BlockEntryInFlowCollection | E::PlainScalarStartsWithDashFlowIndicator => (
            "in brackets a `-` makes no item",
            "separate the items by commas, or quote the `-`",
        ),
        E::FlowMappingValueAdjacentCollection => ("a space must follow the `:`", ""),
        E::ExpectedDocumentStart
        | E::DirectiveDisallowed
        | E::MissingDocumentEndBeforeDirective => (
            "a `%` directive: `kubectl` cuts it off from its document",
            "remove the line",
        ),
        E::ExpectedNodeContent | E::UnexpectedEndOfPlainScalar => ("a value is expected here", ""),
        E::ExpectedBlockMappingKey => (
            "the line is neither a key of the map above nor part of a value",
            "indent it like the keys that it belongs to",
        ),
        E::ExpectedBlockSequenceEntry => (
            "the line is no item of the list above",
            "begin it with `- `, or indent it otherwise",
        ),
        E::BlockSequenceEntryNotAllowed => {
            ("no list can begin here", "put the `-` on the next line")
        }
        E::SimpleKeyExpected | E::InvalidSimpleKey => (
            "a `:` is missing: the line is no `key: value`",
            "add the `:`, with a space behind it; a key stands on one line and has 1024 characters at most",
        ),
        E::MappingValueNotAllowed => (
            "no map can begin here: a `:` with a space behind it makes one",
            "quote the text if the `:` belongs to it, or indent the line like the keys around it",
        ),
        E::InvalidColonPlacement | E::InvalidMappingValueWhitespace => {
            ("the `:` must stand on the line of its key", "")
        }
        E::MappingKeyNotAllowed => ("no key can begin here", ""),
        E::InvalidIndentation | E::InvalidFlowScalarIndent | E::InvalidQuotedScalarIndent => {
            ("the indentation fits nothing above", "")
        }
        E::TabNotAllowed
        | E::TabInBlockIndentation
        | E::TabInIndentation
        | E::TabInPlainScalar
        | E::TabAtBlockScalarStart
        | E::InvalidBlockEntryWhitespace => ("a tab cannot indent", "use spaces"),
        E::CommentInterceptedScalar => (
            "the text goes on behind a comment",
            "quote it, or move the comment",
        ),
        E::CommentNotSeparated => ("a space must stand before the `#` of a comment", ""),
        E::MissingAnchorOrAliasName => (
            "`*` begins an alias and `&` an anchor: a name must follow",
            "quote the text",
        ),
        E::RecursionLimitExceeded => ("nested deeper than 128 levels", ""),
        E::ZeroBlockScalarIndent => ("the indentation of a block of text must be 1 to 9", ""),
        E::InvalidBlockScalarHeader => (
            "only `+`, `-` and one digit may stand behind `|` or `>`",
            "",
        ),
        E::InvalidBlockScalarIndent => (
            "the line is indented less than the block of text it belongs to",
            "",
        ),
        E::UnclosedQuotedScalar | E::DocumentIndicatorInQuotedScalar => {
            ("the quoted text never ends", "")
        }
        E::InvalidTrailingSingleQuotedScalar | E::InvalidTrailingDoubleQuotedScalar => (
            "nothing may follow the closing quote",
            "quote the whole value",
        ),
        E::UnknownQuotedScalarEscape => (
            "YAML has no such escape",
            "write `\\\\` for a backslash, or put the text in single quotes",
        ),
        E::InvalidQuotedScalarHexEscape => ("this escape wants hexadecimal digits", ""),
        E::InvalidUnicodeEscape
        | E::InvalidLowSurrogate
        | E::InvalidLowSurrogateHexEscape
        | E::MissingLowSurrogate
        | E::UnpairedLowSurrogate => (
            "this escape is no character of Unicode",
            "write the character itself",
        ),
        E::UndeclaredTagHandle => (
            "the handle of the tag is not declared",
            "quote the text if it is no tag",
        ),
        E::ExpectedTagBang
        | E::InvalidGlobalTagCharacter
        | E::InvalidTagTerminator
        | E::MissingTagUri
        | E::UnclosedVerbatimTag
        | E::InvalidTagEscape
        | E::InvalidTagUtf8
        | E::InvalidTagUtf8LeadingByte
        | E::InvalidTagUtf8TrailingByte => ("this is no tag", "quote the text if it is none"),
        _ => ("this is no YAML", ""),
    }
}
