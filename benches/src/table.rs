//! A table in plain text, its columns as wide as what they hold.

/// Rows of equal length; the first is the heading.
pub(crate) struct Table(Vec<Vec<String>>);

impl Table {
    pub(crate) fn new<S: Into<String>>(heading: impl IntoIterator<Item = S>) -> Self {
        Self(vec![heading.into_iter().map(Into::into).collect()])
    }

    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.0.push(cells.into_iter().map(Into::into).collect());
    }

    pub(crate) fn print(&self) {
        let columns = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.0.iter().filter_map(|row: &Vec<String>| row.get(column)).map(|cell| cell.chars().count()).max()
        };
        let widths: Vec<usize> = (0..columns).filter_map(width).collect();
        for (index, row) in self.0.iter().enumerate() {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            println!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
            if index == 0 {
                println!("{}", widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>().join("  "));
            }
        }
        println!();
    }
}
