//! Programs and builtins that find the command, or the code, in ways of their own.

use super::Place;
use super::shells::look_through;
use crate::rules::shell::{Dialect, FoundCommand, Script, Unclear, Word};

/// Programs with an option whose value a shell reads: `su -c`, `script -c`, `flock FILE -c`.
const BY_OPTION: [&str; 4] = ["su", "runuser", "script", "flock"];

/// Words that are looked at where any of them may be the command's first; more are not known.
const MOST_WORDS: usize = 64;

/// Looks through code that stands in words; false where the command has none.
pub(super) fn run(script: &mut Script, name: &str, command: &FoundCommand, place: Place) -> bool {
    let words = command.words.get(1..).unwrap_or_default();
    match name {
        "eval" => eval(script, words, command, place),
        // A program that joins its words and hands them to a shell.
        "watch" => watch(script, words, place),
        "trap" => trap(script, words, place),
        "alias" => {
            for word in words {
                match word.literal() {
                    Some(text) => {
                        if let Some((_, code)) = text.split_once('=') {
                            look_through(script, Some(code), place);
                        }
                    }
                    None => script.is_unclear(Unclear::Code),
                }
            }
        }
        "." | "source" => source(script, words, command.is_open, place),
        "mapfile" | "readarray" | "complete" => option_code(script, words, (Some('C'), ""), place),
        "compgen" => {
            // The words of `-W` are expanded.
            for letter in ['C', 'W'] {
                option_code(script, words, (Some(letter), ""), place);
            }
        }
        // `hash -p FILE NAME`: the name is that file's from then on.
        "hash" if !words.is_empty() => script.is_unclear(Unclear::Command),
        "sg" => {
            for word in words {
                look_through(script, word.literal(), (place.0, Dialect::Posix));
            }
        }
        "parallel" | "rush" | "at" | "batch" => script.is_unclear(Unclear::Code),
        _ if BY_OPTION.contains(&name) => {
            let place = (place.0, Dialect::Posix);
            option_code(script, words, (Some('c'), "command"), place);
            option_code(script, words, (None, "session-command"), place);
            // They run what stands behind their operands, too.
            return false;
        }
        _ => return false,
    }
    true
}

/// Words without the `--` that ends a builtin's options.
fn operands(words: &[Word]) -> &[Word] {
    match words.split_first() {
        Some((first, rest)) if first.literal() == Some("--") => rest,
        _ => words,
    }
}

/// What the file holds is not looked at; it runs as it would by its own name.
fn source(script: &mut Script, words: &[Word], is_open: bool, place: Place) {
    let words = operands(words);
    match words.first().map(Word::literal) {
        Some(Some(file)) if !["/dev/", "/proc/", "-"].iter().any(|odd| file.starts_with(odd)) => {
            let file = FoundCommand { words: words.to_vec(), is_open };
            super::found(script, file, super::Input::Inherited, place);
        }
        None => {}
        Some(_) => script.is_unclear(Unclear::Code),
    }
}

fn eval(script: &mut Script, words: &[Word], command: &FoundCommand, place: Place) {
    let words = operands(words);
    let texts: Option<Vec<&str>> = words.iter().map(Word::literal).collect();
    match texts.filter(|_| !command.is_open) {
        Some(texts) => look_through(script, Some(&texts.join(" ")), place),
        None => {
            script.is_unclear(Unclear::Code);
            let rest = FoundCommand { words: words.to_vec(), is_open: command.is_open };
            if !words.is_empty() {
                super::found(script, rest, super::Input::Inherited, place);
            }
        }
    }
}

/// Whichever of its words the command begins with: options of it have values.
fn watch(script: &mut Script, words: &[Word], (depth, _): Place) {
    if words.len() > MOST_WORDS {
        script.is_unclear(Unclear::Code);
    }
    for at in 0..words.len().min(MOST_WORDS) {
        let texts: Option<Vec<&str>> = words[at..].iter().map(Word::literal).collect();
        let code = texts.map(|texts| texts.join(" "));
        look_through(script, code.as_deref(), (depth, Dialect::Posix));
    }
}

fn trap(script: &mut Script, words: &[Word], place: Place) {
    let code = words.iter().find(|word| word.literal().is_none_or(|text| text != "--"));
    match code.map(Word::literal) {
        None | Some(Some("-" | "-p" | "-l" | "-P")) => {}
        Some(code) => look_through(script, code, place),
    }
}

/// The value of an option by its letter or by its long name, in its word or the next one.
fn option_code(
    script: &mut Script,
    words: &[Word],
    (letter, name): (Option<char>, &str),
    place: Place,
) {
    for (at, word) in words.iter().enumerate() {
        let Some(text) = word.literal() else {
            script.is_unclear(Unclear::Code);
            continue;
        };
        let attached = match text.strip_prefix("--") {
            // Long names may be cut short.
            Some(long) => {
                let (short, value) = long
                    .split_once('=')
                    .map_or((long, None), |(short, value)| (short, Some(value)));
                (!short.is_empty() && name.starts_with(short)).then_some(value)
            }
            // Letters may be put together: `script -qc CODE`, `-qcCODE`.
            None => text.strip_prefix('-').and_then(|letters| {
                let (_, value) = letters.split_once(letter?)?;
                Some(Some(value).filter(|value| !value.is_empty()))
            }),
        };
        match attached {
            Some(Some(value)) => look_through(script, Some(value), place),
            Some(None) => {
                if let Some(value) = words.get(at + 1) {
                    look_through(script, value.literal(), place);
                }
            }
            None => {}
        }
    }
}

/// The commands of a program whose options are none of the table's kind.
pub(super) fn inner(name: &str, command: &FoundCommand) -> Option<Vec<FoundCommand>> {
    match name {
        "find" => Some(find(&command.words)),
        "xargs" => Some(xargs(&command.words)),
        "flock" | "su" | "runuser" | "script" | "setarch" | "systemd-run" | "nsenter"
        | "xvfb-run" | "bwrap" | "firejail" | "valgrind" | "perf" => Some(any_word(command)),
        "env" => env_split(command),
        _ => None,
    }
}

/// `find … -exec COMMAND ;`
fn find(words: &[Word]) -> Vec<FoundCommand> {
    let is_action =
        |word: &Word| matches!(word.literal(), Some("-exec" | "-execdir" | "-ok" | "-okdir"));
    let is_within = |word: &&Word| !matches!(word.literal(), Some(";" | "+"));
    let mut found = Vec::new();
    let mut rest = words.iter();
    while rest.by_ref().any(is_action) {
        let inner = rest.by_ref().take_while(is_within);
        let words: Vec<Word> = inner.map(|word| replaced(word, "{}")).collect();
        found.push(FoundCommand { is_open: words.is_empty(), words });
    }
    found
}

/// A word in which another text is put.
fn replaced(word: &Word, placeholder: &str) -> Word {
    match word.literal() {
        Some(text) if !text.contains(placeholder) => word.clone(),
        _ => Word::unknown(),
    }
}

/// `xargs … COMMAND`, to which words are added or in which they are put.
fn xargs(words: &[Word]) -> Vec<FoundCommand> {
    const VALUED: &str = "adEILnPs";
    const LONG_VALUED: [&str; 6] =
        ["arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"];
    const LONG_FLAGS: [&str; 9] = [
        "null",
        "eof",
        "replace",
        "interactive",
        "max-lines",
        "no-run-if-empty",
        "open-tty",
        "verbose",
        "exit",
    ];
    let from = |at: usize| FoundCommand {
        words: words.get(at..).unwrap_or_default().to_vec(),
        is_open: true,
    };
    let mut placeholder = "{}".to_owned();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let Some(text) = word.literal() else {
            return vec![from(at + 1), open()];
        };
        let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            break;
        };
        at += 1;
        if letters == "-" {
            break;
        }
        if let Some(long) = letters.strip_prefix('-') {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            match (LONG_VALUED.contains(&name), value) {
                (true, None) => at += 1,
                (true, Some(_)) => {}
                (false, _) if !LONG_FLAGS.contains(&name) => {
                    return vec![from(at), from(at + 1), open()];
                }
                (false, Some(value)) if name == "replace" => value.clone_into(&mut placeholder),
                (false, _) => {}
            }
            continue;
        }
        let valued = letters.char_indices().find(|(_, letter)| VALUED.contains(*letter));
        if let Some((place, letter)) = valued {
            let attached = &letters[place + 1..];
            let value = if attached.is_empty() {
                words.get(at).and_then(Word::literal)
            } else {
                Some(attached)
            };
            if letter == 'I' {
                value.unwrap_or_default().clone_into(&mut placeholder);
            }
            at += usize::from(attached.is_empty());
        } else if let Some(text) =
            letters.split_once('i').map(|(_, text)| text).filter(|text| !text.is_empty())
        {
            text.clone_into(&mut placeholder);
        }
    }
    let inner = words.get(at..).unwrap_or_default();
    if inner.is_empty() {
        // It prints what it reads.
        return Vec::new();
    }
    let words = inner.iter().map(|word| replaced(word, &placeholder)).collect();
    vec![FoundCommand { words, is_open: true }]
}

/// A command of which nothing is known.
fn open() -> FoundCommand {
    FoundCommand { words: Vec::new(), is_open: true }
}

/// Whatever word the command may begin with.
fn any_word(command: &FoundCommand) -> Vec<FoundCommand> {
    let words = &command.words[..command.words.len().min(MOST_WORDS)];
    let is_cut = words.len() < command.words.len();
    let is_open = command.is_open || is_cut;
    let from = |at: usize| FoundCommand { words: words[at..].to_vec(), is_open };
    (1..words.len()).map(from).chain(is_cut.then(open)).collect()
}

/// `env -S 'COMMAND'`: what it splits is not looked into.
fn env_split(command: &FoundCommand) -> Option<Vec<FoundCommand>> {
    let is_split = |word: &Word| {
        word.literal().is_some_and(|text| {
            let is_short = text.starts_with('-') && !text.starts_with("--") && text.contains('S');
            is_short || text.starts_with("--split-string")
        })
    };
    let options = command.words.iter().skip(1).take_while(|word| {
        word.is_assignment || word.literal().is_some_and(|text| text.starts_with('-'))
    });
    options.into_iter().any(is_split).then(|| vec![open()])
}
