//! Moving the caret.

use super::rows::Point;
use super::{Editor, Last};

impl Editor {
    /// To the previous grapheme cluster or over an element.
    pub fn move_left(&mut self) {
        self.place(self.content.prev(self.caret));
    }

    /// To the next grapheme cluster or over an element.
    pub fn move_right(&mut self) {
        self.place(self.content.next(self.caret));
    }

    /// To the beginning of the word before the caret; an element is a word.
    pub fn move_word_left(&mut self) {
        self.place(self.content.word_before(self.caret));
    }

    /// To the end of the word behind the caret; an element is a word.
    pub fn move_word_right(&mut self) {
        self.place(self.content.word_after(self.caret));
    }

    /// To the start of the hard line.
    pub fn move_to_line_start(&mut self) {
        self.place(self.content.line_start(self.caret));
    }

    /// To the end of the hard line.
    pub fn move_to_line_end(&mut self) {
        self.place(self.content.line_end(self.caret));
    }

    /// To the start of the text.
    pub fn move_to_start(&mut self) {
        self.place(0);
    }

    /// To the end of the text.
    pub fn move_to_end(&mut self) {
        self.place(self.content.len());
    }

    /// To an offset such as [`Rows::position_at`](super::Rows::position_at) gives; any other is taken as the next place
    /// where the caret can stand.
    pub fn move_to(&mut self, at: usize) {
        self.place(self.content.boundary_from(at));
    }

    /// To the visual row above, as near as possible to the column where vertical moves began. Stays and returns false on
    /// the first row.
    pub fn move_up(&mut self, width: usize) -> bool {
        let row = self.layout(width).caret().row;
        self.move_to_row((0..row).rev(), width, |at, caret| at < caret)
    }

    /// To the visual row below, as near as possible to the column where vertical moves began. Stays and returns false on
    /// the last row.
    pub fn move_down(&mut self, width: usize) -> bool {
        let rows = self.layout(width);
        let below = rows.caret().row + 1..rows.count();
        self.move_to_row(below, width, |at, caret| at > caret)
    }

    /// Goes to the first of the rows that has a place for the caret: those in the middle of a cut element have none.
    fn move_to_row(
        &mut self,
        candidates: impl Iterator<Item = usize>,
        width: usize,
        is_on_way: impl Fn(usize, usize) -> bool,
    ) -> bool {
        let rows = self.layout(width);
        let start = rows.caret();
        let column = self.goal.unwrap_or(start.column);
        let found = candidates
            .map(|row| rows.position_at(Point { row, column }))
            .find(|&at| is_on_way(at, self.caret) && rows.point_of(at).row != start.row);
        let Some(at) = found else { return false };
        self.place(at);
        self.goal = Some(column);
        true
    }

    fn place(&mut self, at: usize) {
        self.caret = at;
        self.settle(Last::Other);
    }
}
