//! What a session's namespaces hold at this moment: the profile's paths that they can hold, as far as they exist. A mode is
//! set up anew before its next command when that changes.

use std::path::{Path, PathBuf};

use brattice_policy::layer::{LayerReport, LayerState};
use brattice_policy::view::Held;
use brattice_policy::{LayerName, Mode, Profile};

/// Whether the commands behind these layers have namespaces.
pub(crate) fn are_namespaces_on(layers: &LayerReport) -> bool {
    let is_on = |state| matches!(state, LayerState::On | LayerState::Partial);
    layers.layers.iter().any(|layer| layer.name == LayerName::Namespaces && is_on(layer.state))
}

/// What is held for the profile behind these layers. What is protected is told in every mode, for it is a reason not to ask
/// for a wider one. Blocks.
pub(crate) fn held(profile: &Profile, layers: &LayerReport) -> Held {
    let protected = profile.with_mode(Mode::WorkspaceWrite).protected();
    let protected = protected.iter().map(|protected| protected.path());
    if !are_namespaces_on(layers) {
        return Held { unprotected: protected.collect(), ..Held::default() };
    }
    let (protected, unprotected) = protected.partition(|path| can_be_held(path));
    let hidden = profile.hidden().iter().filter_map(|path| path.canonicalize().ok()).collect();
    Held { protected, unprotected, hidden }
}

/// Whether the path is there, or a file stands where one of its folders would be; and no link leads there.
fn can_be_held(path: &Path) -> bool {
    let nearest: Option<&Path> = path.ancestors().find(|path| path.symlink_metadata().is_ok());
    let is_itself = |nearest: &Path| nearest == path || nearest.is_file();
    let is_real =
        |nearest: &Path| nearest.canonicalize().is_ok_and(|real: PathBuf| real == nearest);
    nearest.is_some_and(|nearest| is_itself(nearest) && is_real(nearest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;

    #[test]
    fn a_path_is_held_where_it_or_a_file_in_its_way_stands() {
        let scratch = Scratch::new();
        scratch.folder("a/.git/hooks");
        scratch.folder("b/.git");
        scratch.folder("c");
        scratch.file("c/.git", "gitdir: /x");
        scratch.folder("d");
        std::os::unix::fs::symlink(scratch.path("a/.git"), scratch.path("d/.git")).unwrap();
        let holds = ["a", "b", "c", "d"]
            .map(|name| can_be_held(&scratch.path([name, "/.git/hooks"].concat())));
        assert_eq!(holds, [true, false, true, false]);
    }
}
