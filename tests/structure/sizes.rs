//! Files stay under 400 lines and functions under 80, and every file opens with what it is for.
//!
//! Exempt from sizes: tests (folders `tests`, files `tests.rs` and `…_tests.rs`, items under `#[cfg(test)]` or
//! `#[test]`) and tables (files `table.rs`). A function counts from its signature to its closing brace, without attributes and documentation.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::sources::{self, Source, marks_test};

const FILE_LINES: usize = 400;
const FUNCTION_LINES: usize = 80;

fn long_files(sources: &[Source]) -> Vec<String> {
    let counted = sources.iter().filter(|source| !source.is_test() && !source.is_table());
    counted
        .filter_map(|source| {
            let tests: usize = source.test_lines().into_iter().map(Iterator::count).sum();
            let lines = source.text.lines().count() - tests;
            (lines > FILE_LINES)
                .then(|| format!("{}: {lines} lines without its tests", source.path))
        })
        .collect()
}

fn long_functions(sources: &[Source]) -> Vec<String> {
    let counted = sources.iter().filter(|source| !source.is_test() && !source.is_table());
    let mut violations = Vec::new();
    for source in counted {
        let mut functions = Functions(Vec::new());
        functions.visit_file(&source.parsed());
        let long = functions.0.into_iter().filter(|function| function.lines > FUNCTION_LINES);
        violations.extend(long.map(|function| {
            format!("{}: fn {}: {} lines", source.path, function.name, function.lines)
        }));
    }
    violations
}

struct Function {
    name: String,
    lines: usize,
}

struct Functions(Vec<Function>);

impl Functions {
    fn add(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let lines = block.span().end().line - signature.span().start().line + 1;
        self.0.push(Function { name: signature.ident.to_string(), lines });
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !marks_test(&function.attrs) {
            self.add(&function.sig, &function.block);
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.add(&function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !marks_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }
}

fn without_duty(sources: &[Source]) -> Vec<String> {
    let silent = sources.iter().filter(|source| !source.text.starts_with("//! "));
    silent.map(|source| format!("{}: does not open with `//!`", source.path)).collect()
}

#[test]
fn files_are_short() {
    assert_eq!(long_files(&sources::all()), Vec::<String>::new());
}

#[test]
fn functions_are_short() {
    assert_eq!(long_functions(&sources::all()), Vec::<String>::new());
}

#[test]
fn every_file_says_its_duty() {
    assert_eq!(without_duty(&sources::all()), Vec::<String>::new());
}

#[test]
fn a_long_file_is_found_and_its_tests_do_not_count() {
    let code = "const A: u8 = 1;\n".repeat(300);
    let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "const B: u8 = 1;\n".repeat(300));
    let short = Source::new("a/src/b.rs", &format!("{code}{tests}"));
    let table = Source::new("a/src/table.rs", &code.repeat(2));
    let long = Source::new("a/src/c.rs", &format!("{code}{code}"));
    assert_eq!(long_files(&[short, table, long]), ["a/src/c.rs: 600 lines without its tests"]);
}

#[test]
fn a_long_function_is_found_wherever_it_stands() {
    let body = "    a();\n".repeat(80);
    let text = format!(
        "fn outer() {{\n{body}}}\nimpl A {{\nfn method() {{\n{body}}}\n}}\ntrait B {{\nfn given() {{\n{body}}}\n}}\n\
         #[test]\nfn exempt() {{\n{body}}}\n/// Docs.\nfn fits() {{\n}}\n"
    );
    assert_eq!(
        long_functions(&[Source::new("a/src/b.rs", &text)]),
        [
            "a/src/b.rs: fn outer: 82 lines",
            "a/src/b.rs: fn method: 82 lines",
            "a/src/b.rs: fn given: 82 lines"
        ]
    );
}

#[test]
fn a_file_without_duty_is_found() {
    let sources = [Source::new("a.rs", "//! Says it.\n"), Source::new("b.rs", "// Does not.\n")];
    assert_eq!(without_duty(&sources), ["b.rs: does not open with `//!`"]);
}
