//! The loop: what happens, taken into the model one thing after the other, and frames of it.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::time::Duration;

use brattice_protocol::hello::Role;
use rustix::process::{Signal, kill_current_process_group};
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep, sleep_until, timeout};

use super::keys::{self, Input};
use super::screen::{self, Screen};
use super::state::{self, Event, Model, Start, Told, Wish};
use super::view::{self, Theme};
use super::watch::Watch;
use crate::cli::context::Asker;
use crate::cli::duration::now;
use crate::cli::terminal::Format;
use crate::cli::{Context, Failure};
use crate::commands::interrupt::Interrupts;

/// The shortest time between two frames: more would be seen by nobody, and sent over a slow line all the same.
const FRAME: Duration = Duration::from_millis(40);

/// How often the time that is shown changes.
const CLOCK: Duration = Duration::from_secs(1);

/// How long keys that were typed before a question was shown may take to arrive.
const TYPED: Duration = Duration::from_millis(30);

/// How long a stop takes to come. A shell's job stops before this; where there is no shell the kernel passes the stop over.
const STOP: Duration = Duration::from_millis(200);

/// Why there is no connection after that.
const STOPPED: &str = "this program was stopped";

/// Shows the view until somebody leaves it.
pub(crate) async fn attach(context: &Context) -> Result<ExitCode, Failure> {
    if let Some(lacks) = lacking(context) {
        return Err(Failure::NoScreen(lacks));
    }
    let mut interrupts = Interrupts::listen()?;
    let client = interrupts.guard(context.asking(Role::Operator, Asker::Person)).await?;
    let continued =
        signal(SignalKind::from_raw(Signal::CONT.as_raw())).map_err(Failure::Signals)?;
    let start = if context.may_start() { Start::Allowed } else { Start::Refused };
    let daemon = client.hello().daemon.clone();
    let model = Model::new(daemon, start, screen::size(), now());
    let mut watch = Watch::new(context);
    watch.connect(Some(client));
    let screen = Screen::enter().map_err(Failure::Screen)?;
    let theme = Theme::of_stdout();
    let mut view = View { watch, screen, theme, inputs: keys::read(), continued };
    tokio::select! {
        shown = view.show(model) => shown.map_err(Failure::Screen),
        interrupt = interrupts.next() => Err(Failure::Interrupted(interrupt)),
    }
}

/// What there is not of what a screen takes.
fn lacking(context: &Context) -> Option<&'static str> {
    let is_dumb = std::env::var_os("TERM").is_none_or(|value| value.is_empty() || value == "dumb");
    match context.format {
        Format::Json => Some("there is no data to print"),
        Format::Text if !io::stdin().is_terminal() => Some("standard input is no terminal"),
        Format::Text if !io::stdout().is_terminal() => Some("standard output is no terminal"),
        Format::Text if is_dumb => Some("the terminal is none that a program can draw on (TERM)"),
        Format::Text => None,
    }
}

struct View {
    watch: Watch,
    screen: Screen,
    theme: Theme,
    inputs: mpsc::Receiver<io::Result<Input>>,
    continued: Signals,
}

impl View {
    async fn show(&mut self, mut model: Model) -> io::Result<ExitCode> {
        let mut clock = clock();
        let mut drawn: Option<Instant> = None;
        let mut is_due = true;
        loop {
            let due = drawn.map_or_else(Instant::now, |drawn| drawn + FRAME);
            let event = tokio::select! {
                () = sleep_until(due), if is_due => {
                    self.draw(&model)?;
                    (drawn, is_due) = (Some(Instant::now()), false);
                    continue;
                }
                input = self.inputs.recv() => Event::Input(input.unwrap_or(Err(io::ErrorKind::UnexpectedEof.into()))?),
                told = self.watch.next() => Event::Told(told),
                _ = clock.tick() => Event::Clock(now()),
                _ = self.continued.recv() => {
                    // Whoever stopped this program by a signal may have given the terminal to another one meanwhile.
                    self.screen.enter_again()?;
                    Event::Input(Input::Resized(screen::size()))
                }
            };
            let wishes;
            (model, wishes) = self.step(model, event)?;
            for wish in wishes {
                if wish == Wish::Quit {
                    return Ok(ExitCode::SUCCESS);
                }
                model = self.fulfil(model, wish).await?;
            }
            is_due = true;
        }
    }

    fn step(&mut self, model: Model, event: Event) -> io::Result<(Model, Vec<Wish>)> {
        if let Event::Input(Input::Resized(size)) = &event {
            self.screen.resize(*size)?;
        }
        let (model, wishes) = state::next(model, event);
        self.watch.want(model.wants());
        Ok((model, wishes))
    }

    async fn fulfil(&mut self, model: Model, wish: Wish) -> io::Result<Model> {
        match wish {
            // The loop's part.
            Wish::Quit => {}
            Wish::Suspend => return self.suspend(model).await,
            Wish::Redraw => self.screen.resize(model.screen)?,
            Wish::ShowFirst => self.show_first(&model).await?,
            Wish::Respond(params) => self.watch.respond(params),
            Wish::Reply(params) => self.watch.reply(params),
            Wish::Kill(params) => self.watch.kill(params),
            Wish::Start => self.watch.start(),
        }
        Ok(model)
    }

    fn draw(&mut self, model: &Model) -> io::Result<()> {
        let theme = self.theme;
        self.screen.draw(|frame| view::draw(model, theme, frame))
    }

    /// What was typed before something was asked is no answer to it.
    async fn show_first(&mut self, model: &Model) -> io::Result<()> {
        sleep(TYPED).await;
        screen::forget_typed()?;
        while self.inputs.try_recv().is_ok() {}
        self.draw(model)
    }

    /// Nobody is there while this program is stopped, so its connection ends before, and another is made after.
    async fn suspend(&mut self, model: Model) -> io::Result<Model> {
        self.watch.leave().await;
        screen::give_back();
        kill_current_process_group(Signal::TSTP)?;
        // Stopped here, until the shell has it go on.
        drop(timeout(STOP, self.continued.recv()).await);
        self.screen.enter_again()?;
        self.watch.connect(None);
        let (model, _) = self.step(model, Event::Told(Told::Gone(STOPPED.to_owned())))?;
        let (model, _) = self.step(model, Event::Input(Input::Resized(screen::size())))?;
        Ok(model)
    }
}

fn clock() -> Interval {
    let mut clock = interval(CLOCK);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    clock
}
