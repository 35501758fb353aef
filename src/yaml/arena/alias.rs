//! Aliases: followed, never expanded, and counted as if they were.

use super::{Anchor, Arena, DEPTH, FAULTS, Token, offset};
use crate::yaml::fault::SyntaxError;
use crate::yaml::tag::Tag;
use crate::yaml::tree::{Raw, Shape, Sight, Style};

impl Arena<'_> {
    pub(in crate::yaml) fn alias(&mut self, token: Token, id: usize) -> Result<(), SyntaxError> {
        self.begin();
        let Token { start, end, .. } = token;
        self.walk(start);
        self.role(start)?;
        self.gap.token(end, false, false);
        let Some(target) = id.checked_sub(1).and_then(|id| self.anchors.get(id)) else {
            return Ok(());
        };
        let (size, depth, closed) = (target.size, target.depth, target.closed);
        let node = target.node;
        let node = self.push(Raw {
            start: offset(start),
            end: offset(end),
            a: node,
            b: 0,
            shape: Shape::Alias,
            style: Style::Plain,
            tag: Tag::None,
            sight: Sight::Other,
        });
        if !closed {
            return Err(self.refuse(start, end, "an alias stands inside of what it stands for"));
        }
        if self.stack.len() + depth > DEPTH {
            return Err(self.refuse(
                start,
                end,
                format!("nested deeper than {DEPTH} levels, aliases followed"),
            ));
        }
        if let Some(frame) = self.stack.last_mut() {
            frame.depth = frame.depth.max(depth);
        }
        self.grow(size.saturating_add(1), offset(end));
        self.count(size, node);
        Ok(())
    }

    pub(in crate::yaml) fn unresolved(
        &mut self,
        token: Token,
        name: &str,
    ) -> Result<(), SyntaxError> {
        self.begin();
        self.walk(token.start);
        self.role(token.start)?;
        self.gap.token(token.end, false, false);
        let error = self.alias_error(token.start, token.end, name);
        if self.faults.len() < FAULTS {
            self.faults.push(error);
        }
        self.push(Raw {
            start: offset(token.start),
            end: offset(token.end),
            a: Raw::SOURCE,
            b: 0,
            shape: Shape::Scalar,
            style: Style::Double,
            tag: Tag::None,
            sight: Sight::Other,
        });
        Ok(())
    }

    /// An alias of nothing is mostly a wildcard without quotes.
    pub(super) fn alias_error(&self, start: usize, end: usize, name: &str) -> SyntaxError {
        let written = self.text.get(start..end).unwrap_or("");
        if !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        {
            return self
                .refuse(
                    start,
                    end,
                    format!("no anchor `&{name}` stands before the alias `*{name}`"),
                )
                .help("define the anchor above in the same document, or quote the text");
        }
        let what = if name.starts_with('.') {
            "wildcard host"
        } else {
            "text"
        };
        self.refuse(
            start,
            end,
            format!("`*` begins an alias: `{written}` is no text without quotes"),
        )
        .help(format!("quote the {what}: `\"{written}\"`"))
        .quote()
    }

    pub(super) fn anchor(
        &mut self,
        id: usize,
        node: u32,
        closed: bool,
        size: u64,
        depth: usize,
    ) -> Option<usize> {
        if id == 0 {
            return None;
        }
        self.anchors.push(Anchor {
            node,
            closed,
            size,
            depth,
        });
        Some(self.anchors.len() - 1)
    }

    /// Counts a node and what comes through it if it is an alias. go-yaml refuses a document of which aliases make
    /// too much.
    pub(super) fn count(&mut self, aliased: u64, node: u32) {
        let all = aliased.saturating_add(1);
        self.decoded = self.decoded.saturating_add(all);
        self.aliased = self.aliased.saturating_add(aliased);
        if self.aliased > 100 && self.decoded > 1000 && excessive(self.aliased, self.decoded) {
            self.note(node, "aliases make up too much of this document");
        }
    }
}

/// go-yaml's bound on the share of nodes that come through aliases.
#[expect(clippy::cast_precision_loss, reason = "go-yaml computes likewise")]
fn excessive(aliased: u64, decoded: u64) -> bool {
    const LOW: f64 = 400_000.0;
    const HIGH: f64 = 4_000_000.0;
    let (aliased, decoded) = (aliased as f64, decoded as f64);
    let part = ((decoded - LOW) / (HIGH - LOW)).clamp(0.0, 1.0);
    aliased / decoded > 0.99 - 0.89 * part
}
