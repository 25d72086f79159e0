//! What a record says, as lines of text: an entry a file, then marks as things happen. A line that is cut off was never written.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use crate::load::Identity;
use crate::place::Step;

/// The first line of a record.
const HEAD: &str = "brattice-files 1";

/// How a file gets its new content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// There is none: a temporary gets its name.
    Create,
    /// A temporary and the file exchange their names.
    Exchange,
    /// Its own bytes are overwritten, after they were saved.
    InPlace,
}

/// One file of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) method: Method,
    /// The inode that has the name; 0 if none has.
    pub(crate) inode: u64,
    pub(crate) steps: Vec<Step>,
    pub(crate) missing: Vec<OsString>,
    pub(crate) name: OsString,
}

/// Something that happened to the file of this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Its temporary is whole.
    Made(usize, Identity),
    /// Its old and its new content are whole in the journal's folder.
    Saved(usize),
    /// All files have their new content.
    Commit,
}

/// A record as it was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Found {
    pub(crate) files: Vec<FoundFile>,
    pub(crate) is_committed: bool,
}

/// One file of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundFile {
    pub(crate) entry: Entry,
    pub(crate) made: Option<Identity>,
    pub(crate) is_saved: bool,
}

/// The name beside the target of what one record makes there.
pub(crate) fn temporary(record: &str, number: usize, kind: &str) -> String {
    format!(".brattice-{record}-{number}.{kind}")
}

impl Entry {
    /// The file's path when the record was written.
    pub(crate) fn path(&self) -> PathBuf {
        let way = self.steps.iter().map(|step| &step.name).chain(&self.missing).chain([&self.name]);
        Path::new("/").join(way.collect::<PathBuf>())
    }
}

/// The lines that a record begins with.
pub(crate) fn written(entries: &[Entry]) -> String {
    let mut text = format!("{HEAD}\n");
    for entry in entries {
        let method = match entry.method {
            Method::Create => "create",
            Method::Exchange => "exchange",
            Method::InPlace => "inplace",
        };
        let steps: Vec<String> =
            entry.steps.iter().map(|step| format!("{}:{}", hex(&step.name), step.inode)).collect();
        let missing: Vec<String> = entry.missing.iter().map(|name| hex(name)).collect();
        text += &format!(
            "file {method} {} {} /{} /{}\n",
            entry.inode,
            hex(&entry.name),
            steps.join("/"),
            missing.join("/")
        );
    }
    text + "ready\n"
}

/// The line of a mark.
pub(crate) fn line(mark: Mark) -> String {
    match mark {
        Mark::Made(number, identity) => {
            let (seconds, nanoseconds) = identity.modified;
            let Identity { inode, size, .. } = identity;
            format!("made {number} {inode} {size} {seconds} {nanoseconds}\n")
        }
        Mark::Saved(number) => format!("saved {number}\n"),
        Mark::Commit => "commit\n".to_owned(),
    }
}

/// Reads a record. None if its beginning is not whole: nothing was changed then.
pub(crate) fn found(text: &[u8]) -> Option<Found> {
    let text = String::from_utf8_lossy(text);
    let whole = &text[..=text.rfind('\n')?];
    let mut lines = whole.lines();
    if lines.next()? != HEAD {
        return None;
    }
    let mut found = Found::default();
    loop {
        let line = lines.next()?;
        if line == "ready" {
            break;
        }
        let entry = entry(line)?;
        found.files.push(FoundFile { entry, made: None, is_saved: false });
    }
    // A mark that cannot be read was torn, as one that is cut off: what stands before it holds.
    for line in lines {
        if apply(&mut found, line).is_none() {
            break;
        }
    }
    Some(found)
}

fn entry(line: &str) -> Option<Entry> {
    let mut fields = line.strip_prefix("file ")?.split(' ');
    let method = match fields.next()? {
        "create" => Method::Create,
        "exchange" => Method::Exchange,
        "inplace" => Method::InPlace,
        _ => return None,
    };
    let inode = fields.next()?.parse().ok()?;
    let name = unhex(fields.next()?)?;
    let parts = |field: Option<&str>| -> Option<Vec<String>> {
        let parts = field?.strip_prefix('/')?.split('/').filter(|part| !part.is_empty());
        Some(parts.map(str::to_owned).collect())
    };
    let step = |part: &String| {
        let (name, inode) = part.split_once(':')?;
        Some(Step { name: unhex(name)?, inode: inode.parse().ok()? })
    };
    let steps = parts(fields.next())?.iter().map(step).collect::<Option<_>>()?;
    let missing = parts(fields.next())?.iter().map(|part| unhex(part)).collect::<Option<_>>()?;
    Some(Entry { method, inode, steps, missing, name })
}

fn apply(found: &mut Found, line: &str) -> Option<()> {
    let mut fields = line.split(' ');
    match fields.next()? {
        "commit" => found.is_committed = true,
        "saved" => found.files.get_mut(fields.next()?.parse::<usize>().ok()?)?.is_saved = true,
        "made" => {
            let numbers: Vec<i64> =
                fields.map(|field| field.parse().ok()).collect::<Option<_>>()?;
            let [number, inode, size, seconds, nanoseconds] = numbers[..] else {
                return None;
            };
            let file = found.files.get_mut(usize::try_from(number).ok()?)?;
            let inode = u64::try_from(inode).ok()?;
            file.made = Some(Identity { inode, size, modified: (seconds, nanoseconds) });
        }
        _ => return None,
    }
    Some(())
}

fn hex(name: &OsStr) -> String {
    name.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A name of one component; anything else would lead out of its folder.
fn unhex(text: &str) -> Option<OsString> {
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Vec<u8> = text.as_bytes().chunks(2).map(pair).collect::<Option<_>>()?;
    let is_name = !bytes.is_empty() && bytes != b"." && bytes != b".." && !bytes.contains(&b'/');
    is_name.then(|| OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<Entry> {
        let step = |name: &str, inode| Step { name: name.into(), inode };
        vec![
            Entry {
                method: Method::Exchange,
                inode: 7,
                steps: vec![step("home", 2), step("w s", 3)],
                missing: Vec::new(),
                name: OsString::from_vec(b"a\xff\n".to_vec()),
            },
            Entry {
                method: Method::Create,
                inode: 0,
                steps: Vec::new(),
                missing: vec!["new".into(), "dir".into()],
                name: "b".into(),
            },
        ]
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let identity = Identity { inode: 9, size: 3, modified: (-5, 6) };
        let text = written(&sample()) + &line(Mark::Made(1, identity)) + &line(Mark::Saved(0));
        let file = |number: usize, made, is_saved| FoundFile {
            entry: sample()[number].clone(),
            made,
            is_saved,
        };
        let files = vec![file(0, None, true), file(1, Some(identity), false)];
        assert_eq!(
            found(text.as_bytes()),
            Some(Found { files: files.clone(), is_committed: false })
        );
        // A mark that was cut off is none.
        let cut = format!("{text}commi");
        assert_eq!(
            found(cut.as_bytes()),
            Some(Found { files: files.clone(), is_committed: false })
        );
        // Nor is one that is no mark, with what follows it.
        let torn = format!("{text}made 9 1 1 1 1\n{}", line(Mark::Commit));
        assert_eq!(
            found(torn.as_bytes()),
            Some(Found { files: files.clone(), is_committed: false })
        );
        let committed = text + &line(Mark::Commit);
        assert_eq!(found(committed.as_bytes()), Some(Found { files, is_committed: true }));
        assert_eq!(sample()[1].path(), Path::new("/new/dir/b"));
    }

    #[test]
    fn a_beginning_that_is_not_whole_is_no_record() {
        let text = written(&sample());
        for cut in 0..text.len() {
            assert_eq!(found(&text.as_bytes()[..cut]), None);
        }
        for name in ["", "2e", "2e2e", "612f62", "6", "zz"] {
            assert_eq!(unhex(name).is_some(), name == "6", "{name}");
        }
    }
}
