//! Answers to a model's questions, while somebody makes them: one question after the other, and then all of them at once.

use brattice_protocol::QuestionId;
use brattice_protocol::question::{Answer, MAX_TEXT, Question, QuestionRequest};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::Field;

/// Longest text that is typed here, in bytes: a line, and less than the daemon takes.
const MOST_TYPED: usize = 4 << 10;

const _: () = assert!(MOST_TYPED <= MAX_TEXT);

/// The answers so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    request: QuestionRequest,
    drafts: Vec<Draft>,
    place: usize,
}

/// An answer to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    /// Which options are chosen.
    pub(crate) chosen: Vec<bool>,
    /// What is said beside or instead of them.
    pub(crate) own: Field,
    /// The line that keys are for: an option, or after them the text.
    pub(crate) line: usize,
}

/// Where somebody is in it.
pub(crate) enum Place<'a> {
    /// At a question: its number, it and its answer.
    Question(usize, &'a Question, &'a Draft),
    /// At the end: all questions and answers.
    Review(Vec<(&'a Question, String)>),
}

/// Whether there is more to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// There is.
    Not,
    /// These are the answers.
    All(Vec<Answer>),
}

impl Form {
    /// Nothing is answered yet.
    pub(super) fn new(request: QuestionRequest) -> Form {
        let draft = |question: &Question| Draft {
            chosen: vec![false; question.options.len()],
            own: Field::new(MOST_TYPED),
            line: 0,
        };
        let drafts = request.questions.iter().map(draft).collect();
        Form { request, drafts, place: 0 }
    }

    /// Which questions.
    pub(crate) fn id(&self) -> &QuestionId {
        &self.request.id
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.request.questions.len()
    }

    /// Where somebody is.
    pub(crate) fn place(&self) -> Place<'_> {
        match self.current() {
            Some((question, draft)) => Place::Question(self.place + 1, question, draft),
            None => {
                let pairs = self.request.questions.iter().zip(&self.drafts);
                let said = pairs.map(|(question, draft)| (question, draft.said(question)));
                Place::Review(said.collect())
            }
        }
    }

    /// Whether a text is being typed.
    pub(crate) fn is_typing(&self) -> bool {
        self.current().is_some_and(|(_, draft)| draft.line == draft.chosen.len())
    }

    fn current(&self) -> Option<(&Question, &Draft)> {
        self.request.questions.get(self.place).zip(self.drafts.get(self.place))
    }

    /// To the line above, or below.
    pub(super) fn step(&mut self, by: isize) {
        if let Some(draft) = self.drafts.get_mut(self.place) {
            draft.line = draft.line.saturating_add_signed(by).min(draft.chosen.len());
        }
    }

    /// On with it. A question with nothing to say stays; an option that keys are for is chosen where none is.
    pub(super) fn enter(&mut self) -> Done {
        let Some((question, draft)) =
            self.request.questions.get(self.place).zip(self.drafts.get_mut(self.place))
        else {
            return Done::All(self.answers());
        };
        let has_choice = draft.chosen.contains(&true);
        if draft.line < draft.chosen.len() && (!has_choice || !question.multi_select) {
            draft.choose(question, draft.line);
        }
        if draft.chosen.contains(&true) || draft.own.said().is_some() {
            self.place += 1;
        }
        Done::Not
    }

    /// Back to the question before; whether there is one.
    pub(super) fn back(&mut self) -> bool {
        let has_one = self.place > 0;
        self.place = self.place.saturating_sub(1);
        has_one
    }

    /// Any other key: a blank or a number chooses, all else is typed.
    pub(super) fn press(&mut self, key: KeyEvent) {
        let is_typing = self.is_typing();
        let Some((question, draft)) =
            self.request.questions.get(self.place).zip(self.drafts.get_mut(self.place))
        else {
            return;
        };
        match key.code {
            _ if is_typing => draft.own.press(key),
            KeyCode::Char(' ') => draft.choose(question, draft.line),
            KeyCode::Char(sign @ '1'..='9') if !key.modifiers.contains(KeyModifiers::CONTROL) => {
                let line = sign as usize - '1' as usize;
                if line < draft.chosen.len() {
                    draft.line = line;
                    draft.choose(question, line);
                }
            }
            _ => {}
        }
    }

    /// Text that was pasted, where text is typed.
    pub(super) fn paste(&mut self, text: &str) {
        if self.is_typing()
            && let Some(draft) = self.drafts.get_mut(self.place)
        {
            text.chars().for_each(|sign| draft.own.push(sign));
        }
    }

    fn answers(&self) -> Vec<Answer> {
        let pairs = self.request.questions.iter().zip(&self.drafts);
        let answer = |(question, draft): (&Question, &Draft)| Answer {
            id: question.id.clone(),
            selected: draft.labels(question).map(str::to_owned).collect(),
            custom: draft.own.said(),
        };
        pairs.map(answer).collect()
    }
}

impl Draft {
    /// Chooses an option, in place of the one before where only one may be, or takes it back where several may.
    fn choose(&mut self, question: &Question, line: usize) {
        if !question.multi_select {
            self.chosen.fill(false);
        }
        if let Some(chosen) = self.chosen.get_mut(line) {
            *chosen = !*chosen;
        }
    }

    fn labels<'a>(&'a self, question: &'a Question) -> impl Iterator<Item = &'a str> {
        let pairs = question.options.iter().zip(&self.chosen);
        pairs.filter(|(_, chosen)| **chosen).map(|(option, _)| option.label.as_str())
    }

    /// The answer on a line.
    fn said(&self, question: &Question) -> String {
        let labels = self.labels(question).map(str::to_owned);
        labels.chain(self.own.said()).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
