//! Memory files: how large things travel between processes (memfd_create(2)).

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use rustix::fs::MemfdFlags;

/// A memory file with this content, to be read from its beginning.
pub(crate) fn file(name: &str, content: &[u8]) -> std::io::Result<OwnedFd> {
    let file = File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?);
    file.write_all_at(content, 0)?;
    Ok(file.into())
}

/// The whole content of a memory file.
pub(crate) fn content(fd: OwnedFd) -> std::io::Result<Vec<u8>> {
    let mut file = File::from(fd);
    let mut content = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut content)?;
    Ok(content)
}

/// Texts joined for a memory file: each ends with a NUL.
pub(crate) fn join(texts: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    texts.into_iter().flat_map(|text| text.into_iter().chain([0])).collect()
}

/// The texts of [`join`].
pub(crate) fn split(joined: &[u8]) -> Vec<Vec<u8>> {
    let mut texts: Vec<_> = joined.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
    texts.pop();
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_joined_is_split_again() {
        for texts in
            [vec![], vec![b"".to_vec()], vec![b"a=b".to_vec(), b"".to_vec(), b"\xff".to_vec()]]
        {
            assert_eq!(split(&join(texts.clone())), texts);
        }
    }

    #[test]
    fn a_file_is_read_from_its_beginning() {
        assert_eq!(content(file("test", b"echo hi").unwrap()).unwrap(), b"echo hi");
    }
}
