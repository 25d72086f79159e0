//! Spools against a pipe: what goes in comes out by offset, and what is not kept is a hole.

use std::io::Write;
use std::os::fd::AsFd;

use super::*;
use crate::exec::link::reader::SpoolReader;

struct Case {
    _folder: Folder,
    spool: Spool,
    reader: SpoolReader,
    pipe: std::io::PipeReader,
    writer: std::io::PipeWriter,
    buffer: Vec<u8>,
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

impl Case {
    fn new(name: &str, cap: u64) -> Case {
        let folder =
            std::env::temp_dir().join(format!("brattice-spool-{}-{name}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let (pipe, writer) = std::io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&pipe, true).unwrap();
        let spool = Spool::new(folder.join("stdout"), cap);
        Case {
            _folder: Folder(folder),
            spool,
            reader: SpoolReader::default(),
            pipe,
            writer,
            buffer: vec![0; 65536],
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(60_000) {
            self.writer.write_all(piece).unwrap();
            while let Taken::Bytes(_) = self.spool.take(self.pipe.as_fd(), &mut self.buffer) {}
        }
        if let Some(fd) = self.spool.untold().unwrap() {
            self.reader.replace(fd);
        }
    }

    fn read(&self, offset: u64, limit: usize) -> (Vec<u8>, u64, u64) {
        let chunk = self.reader.read(offset, limit, self.spool.bytes()).unwrap();
        (chunk.data, chunk.offset, chunk.skipped)
    }
}

/// Bytes that tell their own offset.
fn pattern(from: u64, count: u64) -> Vec<u8> {
    (from..from + count).map(|offset| (offset % 251) as u8).collect()
}

#[test]
fn small_output_stays_in_memory() {
    let mut case = Case::new("small", 64 << 20);
    case.write(b"hello ");
    case.write(b"world");
    assert_eq!(case.read(0, 100), (b"hello world".to_vec(), 0, 0));
    assert_eq!(case.read(6, 3), (b"wor".to_vec(), 6, 0));
    assert_eq!(case.read(11, 100), (vec![], 11, 0));
    assert_eq!(case.spool.end(), StreamEnd { bytes: 11, ..StreamEnd::default() });
}

#[test]
fn output_that_outgrows_memory_is_in_a_file_whole() {
    let mut case = Case::new("file", 64 << 20);
    let total = IN_MEMORY * 5 + 17;
    case.write(&pattern(0, total));
    let end = case.spool.end();
    assert_eq!(std::fs::read(end.file.unwrap()).unwrap(), pattern(0, total));
    assert_eq!(case.read(IN_MEMORY - 3, 6).0, pattern(IN_MEMORY - 3, 6));
}

#[test]
fn past_the_cap_head_and_tail_stay_and_offsets_hold() {
    use std::os::unix::fs::MetadataExt;
    let cap = 16 << 20;
    let mut case = Case::new("cap", cap);
    let total = 40 << 20;
    case.write(&pattern(0, total));
    let end = case.spool.end();
    let (from, to) = end.dropped;
    assert_eq!((end.bytes, from), (total, cap / 2));
    assert!(to % BLOCK == 0 && to > from && total - to <= cap / 2);
    assert!(std::fs::metadata(end.file.unwrap()).unwrap().blocks() * 512 <= cap + BLOCK);
    assert_eq!(case.read(from - 4, 100), (pattern(from - 4, 4), from - 4, 0));
    assert_eq!(case.read(from, 4), (pattern(to, 4), to, to - from));
    assert_eq!(case.read(total - 9, 100), (pattern(total - 9, 9), total - 9, 0));
}

#[test]
fn what_cannot_be_kept_is_counted_and_the_pipe_is_emptied() {
    let mut case = Case::new("lost", 64 << 20);
    case.spool.path = "/nonexistent/folder/stdout".into();
    case.write(&pattern(0, 1000));
    case.write(&pattern(1000, 200_000));
    let end = case.spool.end();
    let lost = end.lost.unwrap();
    assert_eq!((end.bytes, lost.error.as_str(), end.file), (201_000, "ENOENT", None));
    let kept = end.bytes - lost.bytes;
    assert!((1000..=IN_MEMORY).contains(&kept), "kept {kept}");
    let (data, offset, skipped) = case.read(0, 200_000);
    assert_eq!((data, offset, skipped), (pattern(0, kept), 0, 0));
    assert_eq!(case.read(kept, 100), (vec![], 201_000, 201_000 - kept));
}

#[test]
fn what_cannot_go_to_disk_at_the_end_is_lost_to_those_who_come_later_only() {
    let mut case = Case::new("unkept", 64 << 20);
    let path = std::mem::replace(&mut case.spool.path, "/nonexistent/folder/stdout".into());
    case.write(b"hello");
    let lost = Lost { bytes: 5, error: "ENOENT".to_owned() };
    assert_eq!(case.spool.persist(), Err(lost));
    assert_eq!(case.spool.end(), StreamEnd { bytes: 5, ..StreamEnd::default() });
    assert_eq!(case.read(0, 100), (b"hello".to_vec(), 0, 0));
    case.spool.path = path.clone();
    assert_eq!(case.spool.persist(), Ok(()));
    let file = Some(path.clone());
    assert_eq!(case.spool.end(), StreamEnd { bytes: 5, file, ..StreamEnd::default() });
    assert_eq!(std::fs::read(path).unwrap(), b"hello");
}

#[test]
fn a_descriptor_that_cannot_be_handed_over_loses_what_no_file_holds() {
    let error = std::io::Error::from(Errno::MFILE);
    let mut case = Case::new("given-up", 64 << 20);
    case.write(b"hello");
    let kept = case.spool.end();
    case.spool.persist().unwrap();
    case.spool.give_up(&error);
    assert_eq!((kept.lost, case.spool.end().lost), (None, None), "it stands in its file");
    let mut case = Case::new("given-up-memory", 64 << 20);
    case.write(b"hello");
    case.spool.give_up(&error);
    let lost = Lost { bytes: 5, error: "EMFILE".to_owned() };
    assert_eq!(case.spool.end().lost, Some(lost));
}

#[test]
fn a_closed_pipe_is_told_from_an_empty_one() {
    let Case { mut spool, pipe, writer, mut buffer, .. } = Case::new("closed", 64 << 20);
    assert_eq!(spool.take(pipe.as_fd(), &mut buffer), Taken::Nothing);
    drop(writer);
    assert_eq!(spool.take(pipe.as_fd(), &mut buffer), Taken::Closed);
}
