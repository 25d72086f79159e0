//! `audit.tail`, on the control socket only: the newest lines of the audit log, and those that come.

use std::time::Duration;

use brattice_protocol::audit::{DEFAULT_LINES, MAX_LINES, Tail, TailParams};
use brattice_protocol::{ErrorCode, RpcError};

use super::Methods;
use crate::audit::{Told, Wanted};
use crate::session::Stage;
use crate::workers::Lane;

/// The longest wait for a line.
const MAX_WAIT: Duration = Duration::from_secs(60);

impl Methods {
    pub(super) async fn audit_tail(&self, params: TailParams) -> Result<Tail, RpcError> {
        let TailParams { lines, after, wait_ms } = params;
        let lines = lines.unwrap_or(DEFAULT_LINES);
        if !(1..=MAX_LINES).contains(&lines) {
            let text = format!("params.lines: expected 1 to {MAX_LINES} lines, got {lines}");
            return Err(RpcError::new(ErrorCode::Invalid, text));
        }
        let wanted = match after {
            Some(seq) => Wanted::After { seq, lines },
            None => Wanted::Newest { lines },
        };
        match (after, wait_ms) {
            (Some(seq), Some(wait)) => self.audit_beyond(seq, wait).await,
            (None, Some(_)) => {
                let text = "params.wait_ms: expected \"after\" with it, the line to wait beyond";
                return Err(RpcError::new(ErrorCode::Invalid, text));
            }
            (_, None) => {}
        }
        let audit = self.audit.clone();
        let reading = self.workers.run(Lane::State, move || (audit.tail(wanted), audit.standing()));
        let (told, standing) = reading.await.map_err(|error| {
            RpcError::new(ErrorCode::Unavailable, format!("the audit log was not read: {error}"))
        })?;
        let Told { lines, skipped } = told?;
        let lost = standing.loss.map_or(0, |loss| loss.events);
        Ok(Tail { lines, skipped, head: standing.head, fault: standing.fault, lost })
    }

    /// Waits for a line after that number; not beyond the daemon's own end.
    async fn audit_beyond(&self, seq: u64, wait_ms: u64) {
        let mut written = self.audit.written();
        let wait = Duration::from_millis(wait_ms).min(MAX_WAIT);
        tokio::select! {
            // The sender lives as long as the log does.
            _ = written.wait_for(|last| *last > seq) => {}
            () = self.stages.reached(Stage::Stopping) => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
}
