//! Bounds on what a client sends to be kept, shown or handed to the kernel. Each fault names the field.

use brattice_protocol::session::OpenParams;
use brattice_protocol::{ErrorCode, RpcError};

/// Most characters of a name that is kept and shown: a label, a client's name or version, a tool.
const MAX_NAME: usize = 200;

/// Longest path that the kernel takes in bytes: `PATH_MAX` (limits.h) without its final NUL.
const MAX_PATH: usize = 4_095;

/// Writable roots of a session, besides its workspace.
const MAX_WRITABLE: usize = 64;

/// Tools that a session can be opened without.
const MAX_DISABLED: usize = 64;

/// Folders of skills of a session.
const MAX_SKILLS: usize = 16;

/// Checks a name for people.
pub(super) fn check_name(field: &str, name: &str) -> Result<(), RpcError> {
    match name.chars().count() {
        0..=MAX_NAME => Ok(()),
        came => Err(invalid(field, &format!("at most {MAX_NAME} characters, got {came}"))),
    }
}

/// Checks that a path can be handed to the kernel. Whether it leads anywhere is for others to see.
pub(crate) fn check_path(field: &str, path: &str) -> Result<(), RpcError> {
    if path.len() > MAX_PATH {
        let text = format!("a path of at most {MAX_PATH} bytes, got {}", path.len());
        return Err(invalid(field, &text));
    }
    match path.find('\0') {
        None => Ok(()),
        Some(at) => {
            let text = format!("a path without NUL characters, got one at byte {at}");
            Err(invalid(field, &text))
        }
    }
}

/// Checks all that `session.open` takes.
pub(crate) fn check_opening(params: &OpenParams) -> Result<(), RpcError> {
    check_path("params.workspace", &params.workspace)?;
    for (field, path) in
        [("params.cwd", &params.cwd), ("params.options.dsh_home", &params.options.dsh_home)]
    {
        path.as_deref().map_or(Ok(()), |path| check_path(field, path))?;
    }
    params.label.as_deref().map_or(Ok(()), |label| check_name("params.label", label))?;
    check_count("params.writable", "paths", params.writable.len(), MAX_WRITABLE)?;
    for (number, path) in params.writable.iter().enumerate() {
        check_path(&format!("params.writable[{number}]"), path)?;
    }
    let disabled = &params.options.disable;
    check_count("params.options.disable", "tools", disabled.len(), MAX_DISABLED)?;
    for (number, name) in disabled.iter().enumerate() {
        check_name(&format!("params.options.disable[{number}]"), name)?;
    }
    let skills = &params.options.skills;
    check_count("params.options.skills", "folders", skills.len(), MAX_SKILLS)?;
    for (number, path) in skills.iter().enumerate() {
        check_path(&format!("params.options.skills[{number}]"), path)?;
    }
    Ok(())
}

fn check_count(field: &str, things: &str, came: usize, most: usize) -> Result<(), RpcError> {
    match came {
        came if came <= most => Ok(()),
        came => Err(invalid(field, &format!("at most {most} {things}, got {came}"))),
    }
}

fn invalid(field: &str, expected: &str) -> RpcError {
    RpcError::new(ErrorCode::Invalid, format!("{field}: expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use brattice_protocol::session::Options;

    fn fault(change: impl FnOnce(&mut OpenParams)) -> Option<String> {
        let mut params = OpenParams { workspace: "/ws".to_owned(), ..OpenParams::default() };
        change(&mut params);
        check_opening(&params).err().map(|error| {
            assert!(error.is(ErrorCode::Invalid), "{error:?}");
            error.message
        })
    }

    #[test]
    fn each_field_that_is_out_of_bounds_is_named() {
        let (path, name) = ("p".repeat(MAX_PATH + 1), "é".repeat(MAX_NAME + 1));
        let too_long =
            |field: &str| Some(format!("{field}: expected a path of at most 4095 bytes, got 4096"));
        let too_wordy =
            |field: &str| Some(format!("{field}: expected at most 200 characters, got 201"));
        let options = |options: Options| move |params: &mut OpenParams| params.options = options;
        assert_eq!(fault(|params| params.workspace = path.clone()), too_long("params.workspace"));
        assert_eq!(fault(|params| params.cwd = Some(path.clone())), too_long("params.cwd"));
        assert_eq!(
            fault(|params| params.writable = vec!["/a".to_owned(), path.clone()]),
            too_long("params.writable[1]")
        );
        assert_eq!(
            fault(options(Options { skills: vec![path.clone()], ..Options::default() })),
            too_long("params.options.skills[0]")
        );
        assert_eq!(
            fault(options(Options { dsh_home: Some(path.clone()), ..Options::default() })),
            too_long("params.options.dsh_home")
        );
        assert_eq!(fault(|params| params.label = Some(name.clone())), too_wordy("params.label"));
        assert_eq!(
            fault(options(Options { disable: vec![name.clone()], ..Options::default() })),
            too_wordy("params.options.disable[0]")
        );
        assert_eq!(
            fault(options(Options { disable: vec![String::new(); 65], ..Options::default() })),
            Some("params.options.disable: expected at most 64 tools, got 65".to_owned())
        );
        assert_eq!(
            fault(|params| params.writable = vec!["/a".to_owned(); 65]),
            Some("params.writable: expected at most 64 paths, got 65".to_owned())
        );
        assert_eq!(
            fault(|params| params.cwd = Some("a\0".to_owned())),
            Some(
                "params.cwd: expected a path without NUL characters, got one at byte 1".to_owned()
            )
        );
    }

    #[test]
    fn what_just_fits_is_taken() {
        let fits = |params: &mut OpenParams| {
            params.label = Some("é".repeat(MAX_NAME));
            params.workspace = "p".repeat(MAX_PATH);
            params.writable = vec!["/a".to_owned(); MAX_WRITABLE];
        };
        assert_eq!(fault(fits), None);
    }
}
