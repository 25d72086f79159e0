//! Questions of the model to a person: who is asked them, and how they are answered.
//!
//! `question.request` goes to the session's own client, `question.pending` to operators, and `question.list` shows what is
//! open, plans ([`crate::plan`]) included; `question.respond` answers on the control socket. Whoever answers first settles it,
//! and all others are told by `question.settled`. What nobody answers has no answer: none is ever made up.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::audit::Actor;
use crate::plan::{PlanAnswer, PlanDecision, PlanRequest};
use crate::{CallId, QuestionId, SessionId};

/// Longest free text of an answer, or feedback on a plan, in bytes.
pub const MAX_TEXT: usize = 32 << 10;

/// The questions of one call: the parameters of `question.request` and `question.pending`, and an entry of `question.list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionRequest {
    /// Their id, never used again.
    pub id: QuestionId,
    /// The session.
    pub session: SessionId,
    /// The call that waits for the answers.
    pub call: CallId,
    /// What is asked, at least one.
    pub questions: Vec<Question>,
}

/// One question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What an answer names; unique in its request.
    pub id: String,
    /// The question, in the model's words.
    pub question: String,
    /// A word or two to head it with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The answers to choose from, which may be none: free text is always possible.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<QuestionOption>,
    /// Whether several may be chosen.
    #[serde(default)]
    pub multi_select: bool,
}

/// An answer to choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionOption {
    /// What it is called, and what an answer names; unique in its question.
    pub label: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The question.
    pub id: String,
    /// The labels that were chosen: of the question's own, and no more than one unless it lets several be chosen.
    pub selected: Vec<String>,
    /// What the person wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom: Option<String>,
}

/// The answer to `question.request`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "AnswerForm", into = "AnswerForm")]
pub enum QuestionAnswer {
    /// A person answered every question.
    Answered(Vec<Answer>),
    /// A person closed the dialog.
    Dismissed,
}

/// It on the wire: `answers`, or `dismissed: true`.
#[derive(Default, Serialize, Deserialize)]
struct AnswerForm {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answers: Option<Vec<Answer>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    dismissed: bool,
}

/// Why something is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerFault {
    /// It says nothing, or two things at once.
    #[error(
        "expected either `answers`, or `dismissed: true`, or for a plan `decision` with or without `feedback`"
    )]
    Shape,
    /// It answers questions, and a plan was to be judged; or the other way round.
    #[error("expected {0}")]
    OtherKind(&'static str),
    /// A question is not answered, or not once.
    #[error("answers: expected one for each of {expected}")]
    Ids {
        /// The ids of the questions.
        expected: String,
    },
    /// Nothing was chosen and nothing written.
    #[error("answers: the one for {id:?} neither selects anything nor has a text in `custom`")]
    Empty {
        /// The question.
        id: String,
    },
    /// A choice that was not offered.
    #[error("answers: {label:?} is no option of question {id:?}")]
    NotOffered {
        /// The question.
        id: String,
        /// What was chosen.
        label: String,
    },
    /// More choices than may be made, or one of them twice.
    #[error("answers: question {id:?} takes {most}")]
    TooMany {
        /// The question.
        id: String,
        /// What it takes.
        most: &'static str,
    },
    /// A text is too long.
    #[error("the text of an answer may have {MAX_TEXT} bytes, and one has {0}")]
    TooLong(usize),
}

impl TryFrom<AnswerForm> for QuestionAnswer {
    type Error = AnswerFault;

    fn try_from(form: AnswerForm) -> Result<Self, AnswerFault> {
        match form {
            AnswerForm { answers: Some(answers), dismissed: false } => {
                Ok(QuestionAnswer::Answered(answers))
            }
            AnswerForm { answers: None, dismissed: true } => Ok(QuestionAnswer::Dismissed),
            AnswerForm { .. } => Err(AnswerFault::Shape),
        }
    }
}

impl From<QuestionAnswer> for AnswerForm {
    fn from(answer: QuestionAnswer) -> Self {
        match answer {
            QuestionAnswer::Answered(answers) => {
                AnswerForm { answers: Some(answers), dismissed: false }
            }
            QuestionAnswer::Dismissed => AnswerForm { answers: None, dismissed: true },
        }
    }
}

impl QuestionRequest {
    /// Whether these are answers to these questions: each once, each saying something, nothing chosen that was not offered.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check(&self, answers: &[Answer]) -> Result<(), AnswerFault> {
        let ids: HashSet<&str> = answers.iter().map(|answer| answer.id.as_str()).collect();
        let is_answered = |question: &Question| ids.contains(question.id.as_str());
        if ids.len() != answers.len()
            || answers.len() != self.questions.len()
            || !self.questions.iter().all(is_answered)
        {
            let quoted = self.questions.iter().map(|question| format!("{:?}", question.id));
            return Err(AnswerFault::Ids { expected: quoted.collect::<Vec<_>>().join(", ") });
        }
        let find = |answer: &Answer| self.questions.iter().find(|asked| asked.id == answer.id);
        answers
            .iter()
            .filter_map(|answer| Some((find(answer)?, answer)))
            .try_for_each(|(question, answer)| question.check(answer))
    }
}

impl Question {
    fn check(&self, Answer { selected, custom, .. }: &Answer) -> Result<(), AnswerFault> {
        let id = || self.id.clone();
        let is_offered = |label: &String| self.options.iter().any(|option| option.label == *label);
        let written = custom.as_deref().unwrap_or_default();
        if written.len() > MAX_TEXT {
            return Err(AnswerFault::TooLong(written.len()));
        }
        if selected.is_empty() && written.trim().is_empty() {
            return Err(AnswerFault::Empty { id: id() });
        }
        if let Some(label) = selected.iter().find(|label| !is_offered(label)) {
            return Err(AnswerFault::NotOffered { id: id(), label: label.clone() });
        }
        if selected.len() > 1 && !self.multi_select {
            return Err(AnswerFault::TooMany { id: id(), most: "one option" });
        }
        if selected.iter().collect::<HashSet<_>>().len() != selected.len() {
            return Err(AnswerFault::TooMany { id: id(), most: "each option once" });
        }
        Ok(())
    }
}

/// The result of `question.list`, the oldest of each kind first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionList {
    /// Questions that wait for an answer.
    pub questions: Vec<QuestionRequest>,
    /// Plans that wait for a decision.
    #[serde(default)]
    pub plans: Vec<PlanRequest>,
    /// How many more there are that did not fit into the answer.
    #[serde(default)]
    pub omitted: usize,
}

/// Parameters of `question.respond`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RespondForm", into = "RespondForm")]
pub struct QuestionRespond {
    /// The question, or the plan.
    pub id: QuestionId,
    /// What is answered.
    pub response: Response,
}

/// An operator's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// Answers to questions.
    Answered(Vec<Answer>),
    /// What is to become of a plan.
    Decided(PlanAnswer),
    /// Neither: a question is not answered, a plan not approved.
    Dismissed,
}

/// They on the wire: `id` and one of `answers`, `decision` with or without `feedback`, and `dismissed: true`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RespondForm {
    id: QuestionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answers: Option<Vec<Answer>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decision: Option<PlanDecision>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    feedback: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    dismissed: bool,
}

impl TryFrom<RespondForm> for QuestionRespond {
    type Error = AnswerFault;

    fn try_from(form: RespondForm) -> Result<Self, AnswerFault> {
        let RespondForm { id, answers, decision, feedback, dismissed } = form;
        let response = match (answers, decision, feedback, dismissed) {
            (Some(answers), None, None, false) => Response::Answered(answers),
            (None, Some(decision), feedback, false) => {
                Response::Decided(PlanAnswer { decision, feedback })
            }
            (None, None, None, true) => Response::Dismissed,
            _ => return Err(AnswerFault::Shape),
        };
        Ok(QuestionRespond { id, response })
    }
}

impl From<QuestionRespond> for RespondForm {
    fn from(QuestionRespond { id, response }: QuestionRespond) -> Self {
        let form =
            RespondForm { id, answers: None, decision: None, feedback: None, dismissed: false };
        match response {
            Response::Answered(answers) => RespondForm { answers: Some(answers), ..form },
            Response::Decided(PlanAnswer { decision, feedback }) => {
                RespondForm { decision: Some(decision), feedback, ..form }
            }
            Response::Dismissed => RespondForm { dismissed: true, ..form },
        }
    }
}

/// Notification `question.settled`, and the result of `question.respond`: of questions and of plans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionSettled {
    /// The question, or the plan.
    pub id: QuestionId,
    /// Its session.
    pub session: SessionId,
    /// The call that waited.
    pub call: CallId,
    /// How.
    pub outcome: QuestionOutcome,
    /// By whom.
    pub by: Actor,
}

/// The facts of a call that asked questions or for a plan's approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionFacts {
    /// The question, or the plan.
    pub question: QuestionId,
    /// How it ended.
    pub outcome: QuestionOutcome,
    /// The answers, where there are any.
    #[serde(default)]
    pub answers: Vec<Answer>,
    /// What the person said about a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

/// How a question or a plan ended. Only `approved` is consent to a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionOutcome {
    /// Questions: a person answered.
    Answered,
    /// A plan: a person approved it.
    Approved,
    /// A plan: a person wants another one.
    KeptPlanning,
    /// A person closed the dialog.
    Dismissed,
    /// Nobody is left who could answer.
    NotAnswered,
    /// Nobody answered as long as the call waits for a person.
    Expired,
    /// The call was withdrawn, or its session ends, or, for a plan, plan mode ended another way.
    Withdrawn,
}

impl QuestionOutcome {
    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            QuestionOutcome::Answered => "answered",
            QuestionOutcome::Approved => "approved",
            QuestionOutcome::KeptPlanning => "kept for planning",
            QuestionOutcome::Dismissed => "dismissed",
            QuestionOutcome::NotAnswered => "not answered",
            QuestionOutcome::Expired => "not answered in time",
            QuestionOutcome::Withdrawn => "withdrawn",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request() -> QuestionRequest {
        let option = |label: &str| QuestionOption { label: label.to_owned(), description: None };
        let question = |id: &str, multi_select| Question {
            id: id.to_owned(),
            question: "Which?".to_owned(),
            header: None,
            options: vec![option("A"), option("B")],
            multi_select,
        };
        QuestionRequest {
            id: QuestionId::new("q"),
            session: SessionId::new("s"),
            call: CallId::new("c"),
            questions: vec![question("one", false), question("many", true)],
        }
    }

    fn answer(id: &str, selected: &[&str], custom: Option<&str>) -> Answer {
        let selected = selected.iter().map(|label| (*label).to_owned()).collect();
        Answer { id: id.to_owned(), selected, custom: custom.map(str::to_owned) }
    }

    #[test]
    fn only_answers_to_what_was_asked_count() {
        let many = || answer("many", &["B", "A"], None);
        let check =
            |answers: &[Answer]| request().check(answers).map_err(|fault| fault.to_string());
        assert_eq!(check(&[many(), answer("one", &["A"], None)]), Ok(()));
        assert_eq!(check(&[many(), answer("one", &[], Some("none of them"))]), Ok(()));
        let long = "x".repeat(MAX_TEXT + 1);
        let cases = [
            (vec![many()], "answers: expected one for each of \"one\", \"many\""),
            (vec![many(), many()], "answers: expected one for each of \"one\", \"many\""),
            (
                vec![many(), answer("other", &["A"], None)],
                "answers: expected one for each of \"one\", \"many\"",
            ),
            (
                vec![many(), answer("one", &[], Some(" \n"))],
                "answers: the one for \"one\" neither selects anything nor has a text in `custom`",
            ),
            (
                vec![many(), answer("one", &["C"], None)],
                "answers: \"C\" is no option of question \"one\"",
            ),
            (
                vec![many(), answer("one", &["A", "B"], None)],
                "answers: question \"one\" takes one option",
            ),
            (
                vec![answer("many", &["A", "A"], None), answer("one", &["A"], None)],
                "answers: question \"many\" takes each option once",
            ),
            (
                vec![many(), answer("one", &[], Some(&long))],
                "the text of an answer may have 32768 bytes, and one has 32769",
            ),
        ];
        for (answers, expected) in cases {
            assert_eq!(check(&answers), Err(expected.to_owned()), "{answers:?}");
        }
    }

    #[test]
    fn an_answer_says_one_thing() {
        let read = |value| serde_json::from_value::<QuestionAnswer>(value).ok();
        assert_eq!(read(json!({"dismissed": true})), Some(QuestionAnswer::Dismissed));
        assert_eq!(read(json!({"answers": []})), Some(QuestionAnswer::Answered(Vec::new())));
        for nothing in [
            json!({}),
            json!({"dismissed": false}),
            json!({"answers": [], "dismissed": true}),
            json!({"answers": "yes"}),
            json!("yes"),
            json!(null),
        ] {
            assert_eq!(read(nothing.clone()), None, "{nothing}");
        }
        let respond = |value| serde_json::from_value::<QuestionRespond>(value).ok();
        for nothing in [
            json!({"id": "q"}),
            json!({"id": "q", "feedback": "yes"}),
            json!({"id": "q", "answers": [], "decision": "approve"}),
            json!({"id": "q", "decision": "approve", "dismissed": true}),
            json!({"id": "q", "decision": "yes"}),
        ] {
            assert_eq!(respond(nothing.clone()), None, "{nothing}");
        }
    }
}
