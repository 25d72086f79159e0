//! Names are the field's own: no type is a `Manager`, `Helper`, `Data` or `Info`, no module a `utils` or `common`.

use syn::visit::{self, Visit};

use crate::sources::{self, Source};

const TYPE_SUFFIXES: [&str; 4] = ["Manager", "Helper", "Data", "Info"];
const MODULES: [&str; 6] = ["common", "helper", "helpers", "misc", "util", "utils"];

fn empty_names(sources: &[Source]) -> Vec<String> {
    let mut violations = Vec::new();
    for source in sources {
        let stems = source.path.split('/').map(|part| part.trim_end_matches(".rs"));
        violations.extend(
            stems
                .filter(|stem| MODULES.contains(stem))
                .map(|_| format!("{}: such a file name", source.path)),
        );
        let mut names = Names(Vec::new());
        names.visit_file(&source.parsed());
        violations.extend(names.0.into_iter().map(|name| format!("{}: {name}", source.path)));
    }
    violations
}

struct Names(Vec<String>);

impl Names {
    fn check_type(&mut self, name: &syn::Ident) {
        let name = name.to_string();
        if TYPE_SUFFIXES.iter().any(|suffix| name.ends_with(suffix)) {
            self.0.push(name);
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Enum(item) => self.check_type(&item.ident),
            syn::Item::Struct(item) => self.check_type(&item.ident),
            syn::Item::Trait(item) => self.check_type(&item.ident),
            syn::Item::Type(item) => self.check_type(&item.ident),
            syn::Item::Union(item) => self.check_type(&item.ident),
            syn::Item::Mod(item) if MODULES.iter().any(|name| item.ident == name) => {
                self.0.push(format!("mod {}", item.ident));
            }
            _ => {}
        }
        visit::visit_item(self, item);
    }
}

#[test]
fn names_say_something() {
    assert_eq!(empty_names(&sources::all()), Vec::<String>::new());
}

#[test]
fn empty_names_are_found() {
    let text = "mod utils;\nstruct TaskManager;\nenum Database { Info }\nfn a() {\n    type PeerInfo = u8;\n}\n";
    let inside = Source::new("a/src/common/b.rs", "//! B.\n");
    assert_eq!(
        empty_names(&[Source::new("a.rs", text), inside]),
        [
            "a.rs: mod utils",
            "a.rs: TaskManager",
            "a.rs: PeerInfo",
            "a/src/common/b.rs: such a file name"
        ]
    );
}
