//! A plan as a form with a decision and feedback, and what was decided. Pure. Only the decision `approve` is consent.

use brattice_client::protocol::plan::{PlanAnswer, PlanDecision, PlanRequest};
use rmcp::model::{ElicitRequest, ElicitResult, ElicitationAction};
use serde_json::json;

use super::{Form, MOST_WORDS, NoForm, decision, quoted, words};

/// The form's fields.
const DECISION: &str = "decision";
const FEEDBACK: &str = "feedback";

/// The plan as a form.
pub(crate) fn form(request: &PlanRequest) -> Result<ElicitRequest, NoForm> {
    let mut form = Form::saying(format!(
        "Approve this plan of the model's? Approval ends plan mode, and the model carries the plan out.{}",
        quoted(&request.plan)
    ));
    let choices = [
        ("approve".to_owned(), "The plan is carried out".to_owned()),
        ("keep_planning".to_owned(), "The model makes another plan".to_owned()),
    ];
    form.required(DECISION, decision(&choices));
    let feedback = json!({
        "type": "string", "title": "Feedback", "maxLength": MOST_WORDS,
        "description": "What the model is told with the decision",
    });
    form.field(FEEDBACK, feedback);
    form.request()
}

/// What a person decided; none where they did not. A form that was sent off without a decision is none.
pub(crate) fn answer(result: &ElicitResult) -> Option<PlanAnswer> {
    let decision = match result.action {
        ElicitationAction::Accept => {
            let chosen = result.content.as_ref()?.get(DECISION)?.clone();
            serde_json::from_value(chosen).ok()?
        }
        ElicitationAction::Decline => PlanDecision::KeepPlanning,
        _ => return None,
    };
    Some(PlanAnswer { decision, feedback: words(result, FEEDBACK) })
}
