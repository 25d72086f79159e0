//! Questions and plans answered by keys.

use brattice_protocol::SessionId;
use brattice_protocol::plan::{PlanAnswer, PlanDecision, PlanRequest};
use brattice_protocol::question::{Question, QuestionOption, QuestionRespond, Response};
use brattice_protocol::{CallId, QuestionId};

use super::super::{Asked, Event, Told, Wish};
use super::*;
use crate::attach::keys::Input;
use crate::attach::samples::Case;

fn question(id: &str, options: &[&str], multi_select: bool) -> Question {
    let option = |label: &&str| QuestionOption { label: (*label).to_owned(), description: None };
    Question {
        id: id.to_owned(),
        question: format!("Which {id}?"),
        header: None,
        options: options.iter().map(option).collect(),
        multi_select,
    }
}

/// A case in which these questions are selected and being answered.
fn answering(questions: Vec<Question>) -> Case {
    let request = QuestionRequest {
        id: QuestionId::new("q"),
        session: SessionId::new("s"),
        call: CallId::new("c"),
        questions,
    };
    let mut case = Case::busy(80, 24);
    case.tell(Told::Pending(Asked::Questions(request.clone())));
    case.press("w");
    assert_eq!(case.press("enter"), [Wish::ShowFirst]);
    case
}

fn answers(wishes: Vec<Wish>) -> Vec<(String, Vec<String>, Option<String>)> {
    let [Wish::Reply(QuestionRespond { response: Response::Answered(answers), .. })] = &wishes[..]
    else {
        panic!("{wishes:?}")
    };
    answers.iter().cloned().map(|answer| (answer.id, answer.selected, answer.custom)).collect()
}

fn answer(id: &str, selected: &[&str], own: Option<&str>) -> (String, Vec<String>, Option<String>) {
    let selected = selected.iter().map(|label| (*label).to_owned()).collect();
    (id.to_owned(), selected, own.map(str::to_owned))
}

#[test]
fn questions_are_answered_one_after_the_other_and_sent_at_once() {
    let mut case = answering(vec![
        question("one", &["A", "B"], false),
        question("many", &["C", "D", "E"], true),
        question("own", &[], false),
    ]);
    for name in ["down", "enter", " ", "down", "down", " ", "enter"] {
        assert_eq!(case.press(name), [], "{name}");
    }
    case.type_in("neither, q?");
    case.happen(Event::Input(Input::Pasted("\nyes".to_owned())));
    assert_eq!(case.press("enter"), []);
    let sent = answers(case.press("enter"));
    assert_eq!(
        sent,
        [
            answer("one", &["B"], None),
            answer("many", &["C", "E"], None),
            answer("own", &[], Some("neither, q? yes")),
        ]
    );
    assert_eq!(case.model.overlay, None);
}

#[test]
fn a_question_with_nothing_to_say_is_not_passed_over() {
    let mut case = answering(vec![question("own", &[], false)]);
    assert_eq!((case.press("enter"), case.press("enter")), (vec![], vec![]));
    case.type_in("x");
    case.press("enter");
    // Back, and something else.
    case.press("esc");
    case.press("backspace");
    assert_eq!((case.press("enter"), case.press("enter")), (vec![], vec![]));
    case.type_in("y");
    case.press("enter");
    assert_eq!(answers(case.press("enter")), [answer("own", &[], Some("y"))]);
}

#[test]
fn numbers_choose_and_one_of_them_where_only_one_may_be() {
    let mut case = answering(vec![question("one", &["A", "B", "C"], false)]);
    case.type_in("13");
    case.type_in("9");
    case.press("enter");
    assert_eq!(answers(case.press("enter")), [answer("one", &["C"], None)]);
    let mut case = answering(vec![question("many", &["A", "B", "C"], true)]);
    case.type_in("132");
    case.type_in("2");
    case.press("enter");
    assert_eq!(answers(case.press("enter")), [answer("many", &["A", "C"], None)]);
    let mut case = answering(vec![question("one", &["A", "B"], false)]);
    case.press("down");
    case.press("down");
    case.type_in("1 of each");
    case.press("enter");
    assert_eq!(answers(case.press("enter")), [answer("one", &[], Some("1 of each"))]);
}

#[test]
fn questions_may_stay_without_an_answer() {
    let mut case = answering(vec![question("one", &["A"], false)]);
    case.press("esc");
    assert_eq!(case.model.overlay, None);
    case.press("n");
    let dismissed = QuestionRespond { id: QuestionId::new("q"), response: Response::Dismissed };
    assert_eq!(case.press("enter"), [Wish::Reply(dismissed)]);
}

#[test]
fn only_a_yes_to_the_question_back_approves_a_plan() {
    let mut case = Case::busy(80, 24);
    let request = PlanRequest {
        id: QuestionId::new("p"),
        session: SessionId::new("s"),
        call: CallId::new("c"),
        plan: "# Clean up\n\n1. rm it".to_owned(),
    };
    case.tell(Told::Pending(Asked::Plan(request)));
    case.press("w");
    let decided = |decision, feedback: Option<&str>| {
        let response =
            Response::Decided(PlanAnswer { decision, feedback: feedback.map(str::to_owned) });
        vec![Wish::Reply(QuestionRespond { id: QuestionId::new("p"), response })]
    };
    assert_eq!(case.press("enter"), []);
    assert_eq!(case.press("y"), [Wish::ShowFirst]);
    assert_eq!(case.press("esc"), []);
    case.press("n");
    case.type_in("yes, but not all");
    assert_eq!(case.press("enter"), decided(PlanDecision::KeepPlanning, Some("yes, but not all")));
    case.press("y");
    assert_eq!(case.press("enter"), decided(PlanDecision::Approve, None));
}
