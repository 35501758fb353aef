//! Whatever the bytes: no panic, and every span lies in the text, on the borders of characters.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use egress_lint::source::{FileId, Span};
use egress_lint::yaml::{Kind, Node, Style, Tree, split};
use proptest::prelude::*;

fn seeds() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/yaml");
    let mut seeds: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path()).ok())
        .filter(|text| text.len() < 800)
        .collect();
    seeds.sort();
    seeds
}

/// One change of a text: where, how much is lost, and what is put there.
type Mutation = (prop::sample::Index, usize, String);

fn mutate(text: &str, mutations: &[Mutation]) -> String {
    let mut text = text.to_owned();
    for (at, lost, put) in mutations {
        let borders: Vec<usize> = text
            .char_indices()
            .map(|(at, _)| at)
            .chain([text.len()])
            .collect();
        let first = at.index(borders.len());
        let last = (first + lost).min(borders.len() - 1);
        text.replace_range(borders[first]..borders[last], put);
    }
    text
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let put = prop_oneof![
        "[-?:,\\[\\]{}#&*!|>'\"%@` \t\n\ra1.~<]{0,4}",
        Just("\n---\n".to_owned()),
        Just("...\n".to_owned()),
        Just("\u{feff}".to_owned()),
        Just("\u{85}".to_owned()),
        Just("\u{2028}".to_owned()),
        Just("한".to_owned()),
        Just("\r\r\n".to_owned()),
        Just("*a".to_owned()),
        Just("&a ".to_owned()),
        Just("<<: ".to_owned()),
        Just("!!binary ".to_owned()),
        Just("\\u12".to_owned()),
        Just("\0".to_owned()),
    ];
    (any::<prop::sample::Index>(), 0usize..5, put)
}

struct Check<'t> {
    text: &'t str,
    nodes: usize,
}

impl Check<'_> {
    fn span(&self, span: Span) -> &str {
        self.text
            .get(span.start as usize..span.end as usize)
            .expect("a span on borders of characters")
    }

    fn node(&mut self, node: Node<'_>, depth: usize) {
        assert!(depth <= 130, "deeper than the limit");
        self.nodes += 1;
        let written = self.span(node.span()).to_owned();
        self.span(node.first_character());
        if node.kind() == Kind::Scalar
            && !node.is_alias()
            && !written.contains(['\n', '\r', '\u{85}', '\u{feff}'])
        {
            let value = node.written().unwrap();
            match node.style() {
                Style::Plain => assert_eq!(value, written),
                Style::Single => {
                    assert_eq!(value, written[1..written.len() - 1].replace("''", "'"))
                }
                Style::Double => {
                    assert!(written.starts_with('"') && written.ends_with('"') && written.len() > 1)
                }
                _ => assert!(written.starts_with(['|', '>'])),
            }
        }
        for entry in node.entries() {
            self.span(entry.key.span());
            self.node(entry.value, depth + 1);
        }
        for item in node.items() {
            self.node(item, depth + 1);
        }
    }
}

fn check(text: &str) {
    let tree = Tree::parse(FileId(0), text);
    let mut check = Check { text, nodes: 0 };
    for document in tree.documents(text) {
        check.span(document.span);
        check.node(document.root, 0);
    }
    for comment in tree.comments() {
        assert!(check.span(comment.span).starts_with('#'));
    }
    assert!(
        tree.comments()
            .is_sorted_by_key(|comment| comment.span.start)
    );
    for error in tree.errors() {
        check.span(error.span);
        for edit in error.fix.iter().flat_map(|fix| &fix.edits) {
            check.span(edit.span);
        }
    }
    for notice in tree.notices() {
        check.span(notice.span);
    }
    // Chunk by chunk it is the same.
    let parts: Vec<Tree> = split(text)
        .chunks(1)
        .map(|chunk| Tree::parse_chunks(FileId(0), text, chunk))
        .collect();
    assert_eq!(
        parts
            .iter()
            .map(|part| part.documents(text).count())
            .sum::<usize>(),
        tree.documents(text).count()
    );
    assert!(parts.iter().flat_map(Tree::errors).eq(tree.errors()));
    assert!(parts.iter().flat_map(Tree::notices).eq(tree.notices()));
}

#[test]
fn spans_are_sound_for_all_cases() {
    for text in seeds() {
        check(&text);
    }
}

#[test]
fn a_block_scalar_begins_at_its_indicator_whatever_ends_its_lines() {
    for end in ["\n", "\r\n", "\r", "\u{85}", "\r\u{85}\r\n\u{85}\r\n"] {
        check(&format!("a:\n---\n |{end}"));
        check(&format!("|{end}{end}"));
        check(&format!("|{end} x{end}"));
        check(&format!("|{end}x{end}"));
    }
}

#[test]
fn spans_are_sound_whatever_the_text() {
    let seeds = seeds();
    let strategy = (
        any::<prop::sample::Index>(),
        prop::collection::vec(mutation(), 1..5),
    );
    let config = ProptestConfig {
        cases: 4000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest::test_runner::TestRunner::new(config)
        .run(&strategy, |(seed, mutations)| {
            let text = mutate(&seeds[seed.index(seeds.len())], &mutations);
            if let Err(panic) = std::panic::catch_unwind(|| check(&text)) {
                let _ = panic;
                return Err(TestCaseError::fail(format!("{text:?}")));
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}
