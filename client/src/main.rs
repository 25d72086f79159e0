//! The `brattice` command. Arguments and words for people are in [`cli`], what each command does in [`commands`].

mod attach;
mod cli;
mod commands;

fn main() -> std::process::ExitCode {
    cli::main()
}
