//! Colours and characters.

use miette::{GraphicalReportHandler, GraphicalTheme, ThemeCharacters, ThemeStyles};

use crate::diag::Severity;

/// Draws frames and underlines, and paints what miette does not draw.
pub(super) struct Painter {
    color: bool,
    width: usize,
}

/// What a piece of text is.
#[derive(Clone, Copy)]
pub(super) enum Paint {
    Level(Severity),
    Bold,
    Help,
    Removed,
    Added,
}

impl Painter {
    pub(super) fn new(color: bool, width: usize) -> Self {
        Self { color, width }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn paint(&self, out: &mut String, paint: Paint, text: &str) {
        if !self.color {
            return out.push_str(text);
        }
        let code = match paint {
            Paint::Level(Severity::Error) => "\x1b[1;31m",
            Paint::Level(Severity::Warning) => "\x1b[1;33m",
            Paint::Level(Severity::Advice) | Paint::Help => "\x1b[1;36m",
            Paint::Bold => "\x1b[1m",
            Paint::Removed => "\x1b[31m",
            Paint::Added => "\x1b[32m",
        };
        out.push_str(code);
        out.push_str(text);
        out.push_str("\x1b[0m");
    }

    /// Draws the snippets of a finding: the label of its own place in the colour of its level, the others in another.
    /// `primary` is the place of its own label among all, by offset.
    pub(super) fn drawer(
        &self,
        level: Severity,
        labels: usize,
        primary: usize,
    ) -> GraphicalReportHandler {
        let mut styles = if self.color {
            ThemeStyles::ansi()
        } else {
            ThemeStyles::none()
        };
        let own = match level {
            Severity::Error => styles.error,
            Severity::Warning => styles.warning,
            Severity::Advice => styles.advice,
        };
        styles.highlights = (0..labels.max(1))
            .map(|index| if index == primary { own } else { styles.help })
            .collect();
        let theme = GraphicalTheme {
            characters: ThemeCharacters::unicode(),
            styles,
        };
        GraphicalReportHandler::new_themed(theme)
            .with_width(self.width)
            .with_context_lines(1)
            .with_urls(false)
            .without_cause_chain()
            .without_syntax_highlighting()
    }
}
