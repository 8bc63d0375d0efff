//! Where in the source an engine's diagnostic points.

/// The module that the source becomes, as diagnostics name it.
const PROGRAM_MODULE: &str = "program.js:";

/// Lines that stand before the source in its module.
const LINES_BEFORE: usize = 1;

/// The longest source line that is shown, in characters; of a longer one the part around the place is.
const SHOWN_CHARACTERS_MAX: usize = 100;

/// A place in the source. Line and column count from 1; the column counts UTF-16 units, as the engine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// What a diagnostic calls the first column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstColumn {
    /// As the parser counts.
    Zero,
    /// As the frames of a stack do.
    One,
}

impl Place {
    /// Finds the first place in the program that a diagnostic names. A place past the source's end, in the text that
    /// was put around it, becomes the end.
    pub(crate) fn find(diagnostic: &str, source: &str, first: FirstColumn) -> Option<Self> {
        let (_, rest) = diagnostic.split_once(PROGRAM_MODULE)?;
        let (line, rest) = number(rest)?;
        let column = rest.strip_prefix(':').and_then(number).map_or(0, |(column, _)| column);
        let column = if first == FirstColumn::Zero { column + 1 } else { column.max(1) };
        let lines = source.lines().count().max(1);
        let line = line.checked_sub(LINES_BEFORE).filter(|line| *line > 0)?;
        if line <= lines {
            return Some(Self { line, column });
        }
        let last = source.lines().next_back().unwrap_or_default();
        Some(Self { line: lines, column: last.encode_utf16().count() + 1 })
    }

    /// The line of the source, and under it a mark at the place.
    pub(crate) fn excerpt(self, source: &str) -> String {
        let line = source.lines().nth(self.line - 1).unwrap_or_default();
        // Characters before the place, counted in the engine's units.
        let mut units = 0;
        let before = line
            .chars()
            .take_while(|character| {
                units += character.len_utf16();
                units < self.column
            })
            .count();
        let start = before.saturating_sub(SHOWN_CHARACTERS_MAX / 2);
        let shown: String = line.chars().skip(start).take(SHOWN_CHARACTERS_MAX).collect();
        // A tab is one character here and many columns there: the mark repeats what is above it.
        let pad: String =
            line.chars().take(before).skip(start).map(|character| if character == '\t' { '\t' } else { ' ' }).collect();
        let number = self.line.to_string();
        let gutter = " ".repeat(number.len());
        format!("{gutter} |\n{number} | {shown}\n{gutter} | {pad}^")
    }
}

/// The number that a text begins with, and what follows it.
fn number(text: &str) -> Option<(usize, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_source_not_of_its_module() {
        let source = "async () => {\n  return 1 +;\n}";
        for (diagnostic, expected) in [
            ("Uncaught SyntaxError: Unexpected token ';'\n  at program.js:3:12", Some((2, 13))),
            ("Uncaught SyntaxError: Unexpected token ')'\n  at program.js:5:1", Some((3, 2))),
            ("Uncaught SyntaxError: x\n  at harness.js:5:1", None),
            ("Uncaught SyntaxError: x\n  at program.js:1:1", None),
            ("nothing", None),
        ] {
            let place = Place::find(diagnostic, source, FirstColumn::Zero).map(|place| (place.line, place.column));
            assert_eq!(place, expected, "{diagnostic}");
        }
    }

    #[test]
    fn excerpts_point_at_the_place() {
        let source = "a\n\té😀 = ;";
        assert_eq!(Place { line: 2, column: 8 }.excerpt(source), "  |\n2 | \té😀 = ;\n  | \t     ^");
        let long = "x".repeat(300);
        let excerpt = Place { line: 1, column: 200 }.excerpt(&long);
        assert!(excerpt.lines().all(|line| line.len() < 120), "{excerpt}");
    }
}
