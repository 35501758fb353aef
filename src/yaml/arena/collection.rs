//! Maps and lists, from their first byte to their last.

use super::{Arena, DEPTH, Frame, Token, offset};
use crate::yaml::fault::SyntaxError;
use crate::yaml::map::{self, MapFault};
use crate::yaml::tag::Tag;
use crate::yaml::tree::{Raw, Shape, Sight, Style};

impl Arena<'_> {
    pub(in crate::yaml) fn open(
        &mut self,
        token: Token,
        map: bool,
        flow: bool,
        anchor: usize,
    ) -> Result<(), SyntaxError> {
        self.begin();
        let mut start = token.start;
        if map || flow {
            self.walk(start);
        } else {
            start = self.walk_to(b'-').unwrap_or(start);
        }
        // The `?` of the first key belongs to the map that it opens.
        let question = self.gap.question && map && !flow;
        self.role(start)?;
        self.gap.question = question;
        let node = self.push(Raw {
            start: offset(start),
            end: offset(start),
            a: 0,
            b: 0,
            shape: if map { Shape::Map } else { Shape::List },
            style: if flow { Style::Flow } else { Style::Block },
            tag: Tag::None,
            sight: Sight::Other,
        });
        self.count(0, node);
        let anchor = self.anchor(anchor, node, false, 0, 0);
        self.stack.push(Frame {
            node,
            map,
            flow,
            implicit: flow && token.start == token.end,
            start,
            column: None,
            anchor,
            first: true,
            value: false,
            explicit: false,
            key_start: start,
            size: 1,
            depth: 0,
            end: offset(start),
        });
        if self.stack.len() > DEPTH {
            return Err(self.refuse(start, start, format!("nested deeper than {DEPTH} levels")));
        }
        Ok(())
    }

    pub(in crate::yaml) fn close(&mut self, token: Token) -> Result<(), SyntaxError> {
        if std::mem::take(&mut self.dissolved) {
            return Ok(());
        }
        let end = token.end;
        let bracketed = token.start < token.end;
        if self.stack.last().is_some_and(|frame| !frame.flow) {
            // The blanks behind the last value are still under its indentation.
            self.walk(self.gap.blank_end(self.text, self.end));
            self.check()?;
        }
        if bracketed {
            self.walk(end);
            self.check()?;
        }
        let Some(frame) = self.stack.pop() else {
            return Ok(());
        };
        let after = offset(self.tree.nodes.len());
        let end = if bracketed { offset(end) } else { frame.end };
        if let Some(raw) = self.tree.nodes.get_mut(frame.node as usize) {
            raw.a = after;
            raw.end = end;
        }
        if let Some(anchor) = frame.anchor.and_then(|index| self.anchors.get_mut(index)) {
            anchor.closed = true;
            anchor.size = frame.size;
            anchor.depth = frame.depth + 1;
        }
        self.grow(frame.size, end);
        if let Some(parent) = self.stack.last_mut() {
            parent.depth = parent.depth.max(frame.depth + 1);
        }
        if frame.map
            && self.faults.is_empty()
            && let Err(fault) = map::settle(self.tree, self.text, frame.node, &mut self.merges)
        {
            self.map_fault(fault);
        }
        Ok(())
    }

    pub(super) fn map_fault(&mut self, fault: MapFault) {
        match fault {
            MapFault::Key(key) => self.note(key, "a map or a list cannot be a key"),
            MapFault::Name(key, reason) => self.note(key, reason),
            MapFault::Merge(value) => self.note(
                value,
                "`<<` merges maps only: an alias of a map, or a list of such",
            ),
            MapFault::TooMany(value) => {
                self.note(
                    value,
                    format!(
                        "the merges of this document bring more than {} entries",
                        map::MERGED
                    ),
                );
            }
        }
    }
}
