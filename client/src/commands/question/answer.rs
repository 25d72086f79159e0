//! `brattice answer`: one answer, to the questions of a call or to a plan.

use std::process::ExitCode;

use brattice_protocol::QuestionId;
use brattice_protocol::plan::{PlanAnswer, PlanDecision};
use brattice_protocol::question::{Answer as Given, QuestionRequest, QuestionRespond, Response};

use super::words::settled;
use crate::cli::asked::Answer;
use crate::cli::{Context, Failure};

/// Answers.
pub(crate) async fn answer(context: &Context, arguments: Answer) -> Result<ExitCode, Failure> {
    let client = context.operator().await?;
    let Answer { id, choose, text, approve, keep_planning, feedback, dismiss } = arguments;
    let id = QuestionId::new(id);
    let decided = |decision| Response::Decided(PlanAnswer { decision, feedback });
    let response = match (approve, keep_planning, dismiss) {
        (true, ..) => decided(PlanDecision::Approve),
        (_, true, _) => decided(PlanDecision::KeepPlanning),
        (_, _, true) => Response::Dismissed,
        (false, false, false) => {
            let list = client.question_list().await?;
            let asked = list.questions.iter().find(|request| request.id == id);
            // What is not open any more the daemon knows best.
            let answers = asked.map_or_else(|| Ok(Vec::new()), |asked| given(asked, choose, text));
            Response::Answered(answers?)
        }
    };
    let told = client.question_respond(&QuestionRespond { id, response }).await?;
    context.show("the answer", &told, |style| settled(&told, style))
}

/// What was chosen and written, by question.
fn given(
    asked: &QuestionRequest,
    choose: Vec<String>,
    text: Vec<String>,
) -> Result<Vec<Given>, Failure> {
    let none = |id: &String| Given { id: id.clone(), selected: Vec::new(), custom: None };
    let mut answers: Vec<Given> = asked.questions.iter().map(|one| none(&one.id)).collect();
    for said in choose {
        let (index, label) = split(asked, said)?;
        answers[index].selected.push(label);
    }
    for said in text {
        let (index, words) = split(asked, said)?;
        answers[index].custom = Some(match answers[index].custom.take() {
            Some(earlier) => format!("{earlier}\n{words}"),
            None => words,
        });
    }
    // What says nothing is left out, and the daemon names what is missing.
    answers.retain(|answer| !answer.selected.is_empty() || answer.custom.is_some());
    Ok(answers)
}

/// Which question is meant, and what is said to it: `QUESTION=ANSWER`, or the answer alone to the only one.
fn split(asked: &QuestionRequest, said: String) -> Result<(usize, String), Failure> {
    let named = asked.questions.iter().enumerate().find_map(|(index, question)| {
        let rest = said.strip_prefix(question.id.as_str())?.strip_prefix('=')?;
        Some((index, rest.to_owned()))
    });
    match (named, asked.questions.len()) {
        (Some(named), _) => Ok(named),
        (None, 1) => Ok((0, said)),
        (None, _) => {
            let known = asked.questions.iter().map(|question| question.id.clone()).collect();
            Err(Failure::Unaddressed { said, known })
        }
    }
}

#[cfg(test)]
mod tests {
    use brattice_protocol::question::Question;
    use brattice_protocol::{CallId, SessionId};

    use super::*;

    fn asked(ids: &[&str]) -> QuestionRequest {
        let question = |id: &&str| Question {
            id: (*id).to_owned(),
            question: "?".to_owned(),
            header: None,
            options: Vec::new(),
            multi_select: true,
        };
        QuestionRequest {
            id: QuestionId::new("q"),
            session: SessionId::new("s"),
            call: CallId::new("c"),
            questions: ids.iter().map(question).collect(),
        }
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn an_answer_names_its_question_unless_there_is_one() {
        let answer = |id: &str, selected: &[&str], custom: Option<&str>| Given {
            id: id.to_owned(),
            selected: texts(selected),
            custom: custom.map(str::to_owned),
        };
        let one = given(&asked(&["db"]), texts(&["A", "db=B=C"]), Vec::new()).unwrap();
        assert_eq!(one, [answer("db", &["A", "B=C"], None)]);
        let two = given(&asked(&["a", "ab"]), texts(&["ab=X"]), texts(&["a=own", "a=words"]));
        assert_eq!(
            two.unwrap(),
            [answer("a", &[], Some("own\nwords")), answer("ab", &["X"], None)]
        );
        let unaddressed = given(&asked(&["a", "b"]), texts(&["X"]), Vec::new()).unwrap_err();
        assert_eq!(unaddressed.to_string(), "\"X\" names none of the questions a, b");
        assert_eq!(given(&asked(&["a"]), Vec::new(), Vec::new()).unwrap(), []);
    }
}
