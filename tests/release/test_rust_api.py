"""The list of Rust's API: the tests change a small crate, and check the lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools" / "api"))
import rust  # noqa: E402
import rustdoc  # noqa: E402

MANIFEST = """\
[package]
name = "a-lock"
version = "0.1.0"
edition = "2024"

[features]
default = ["more"]
more = []
tests = []
"""
LOCK = 'version = 4\n\n[[package]]\nname = "a-lock"\nversion = "0.1.0"\n'
SOURCE = """\
mod inner {
    #[derive(Clone)]
    pub struct Lock<T> { pub name: String, owner: Option<T> }
    impl<T: Send> Lock<T> {
        pub async fn acquire(&mut self, _: core::time::Duration) -> Result<(), Error> { Ok(()) }
        pub fn owner(self: Box<Self>) -> Option<T> { self.owner }
        #[doc(hidden)]
        pub fn hidden(&self) {}
        fn private(&self) {}
    }
    pub enum Error { Gone, Refused(u8), Late { by: u64 } }
    #[non_exhaustive]
    pub enum Kind { One, Two }
    pub struct Local(*const u8);
    pub struct Place { pub x: i32, pub y: i32 }
    pub trait Server {
        const NAME: &'static str;
        type Answer;
        fn ask(&self, what: &str) -> Self::Answer;
        fn end(&self) {}
    }
    pub trait Closed: sealed::Sealed { fn closed(&self); }
    mod sealed { pub trait Sealed {} }
}
pub mod errors { pub use crate::inner::Error as Failure; }
pub use inner::*;
pub use std::sync::Arc as Shared;
pub const LIMIT: usize = 3;
pub type Locks = Vec<Lock<u8>>;
pub fn find(names: &[&str], by: impl Fn(&str) -> bool) -> Option<String> { None }
pub fn forms<'a, const N: usize>(a: &'a mut (dyn FnMut(u8) + Send), b: (u8,), c: [*mut u8; N], d: fn(&str))
where for<'b> &'b str: Into<Box<dyn core::fmt::Debug + 'a>> {}
impl From<Error> for String { fn from(_: Error) -> Self { Self::new() } }
impl Iterator for Place { type Item = i32; fn next(&mut self) -> Option<i32> { None } }
"""
#: All lines except the traits of the types.
LINES = """\
mod a_lock
trait a_lock::Closed: _::Sealed { .. }
fn a_lock::Closed::closed(&self)
enum a_lock::Error { Gone, Late, Refused }
variant a_lock::Error::Gone
variant a_lock::Error::Late { by }
field a_lock::Error::Late.by: u64
variant a_lock::Error::Refused(u8)
#[non_exhaustive] enum a_lock::Kind { .. }
variant a_lock::Kind::One
variant a_lock::Kind::Two
const a_lock::LIMIT: usize
struct a_lock::Local(..)
struct a_lock::Lock<T> { .. }
field a_lock::Lock.name: String
async fn a_lock::Lock<T>::acquire(&mut self, std::time::Duration) -> Result<(), a_lock::Error> where T: Send
fn a_lock::Lock<T>::owner(self: Box<Self>) -> Option<T> where T: Send
type a_lock::Locks = Vec<a_lock::Lock<u8>>
struct a_lock::Place { x, y }
field a_lock::Place.x: i32
field a_lock::Place.y: i32
type <a_lock::Place as Iterator>::Item = i32
trait a_lock::Server { Answer, NAME, ask }
const a_lock::Server::NAME: &'static str
type a_lock::Server::Answer
fn a_lock::Server::ask(&self, &str) -> <Self as a_lock::Server>::Answer
fn a_lock::Server::end(&self)
use a_lock::Shared = std::sync::Arc
mod a_lock::errors
use a_lock::errors::Failure = a_lock::Error
fn a_lock::find(&[&str], impl Fn(&str) -> bool) -> Option<String>
fn a_lock::forms<'a, const N: usize>(&'a mut (dyn FnMut(u8) + Send), (u8,), [*mut u8; N], fn(&str)) where \
for<'b> &'b str: Into<Box<dyn std::fmt::Debug + 'a>>
feature a-lock/default
feature a-lock/default = more
feature a-lock/more
"""
IMPLEMENTATIONS = {
    "impl From<a_lock::Error> for String",
    "impl Iterator for a_lock::Place",
    "impl<T: Clone> Clone for a_lock::Lock<T>",
    "impl<T> Send for a_lock::Lock<T> where T: Send",
    "impl<T> Sync for a_lock::Lock<T> where T: Sync",
    *(
        f"impl {trait} for a_lock::{name}"
        for trait in ("Send", "Sync")
        for name in ("Error", "Kind", "Place")
    ),
}

List = Callable[[str], list[str]]


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> List:
    """The list of the crate with this source."""
    folder = tmp_path_factory.mktemp("crate")
    (folder / "src").mkdir()
    (folder / "Cargo.toml").write_text(MANIFEST)
    (folder / "Cargo.lock").write_text(LOCK)

    def run(source: str) -> list[str]:
        (folder / "src" / "lib.rs").write_text(source)
        asked = {"a-lock": ["default", "more"]}
        return rust.listed(folder / "Cargo.toml", asked, folder / "target")

    return run


@pytest.fixture(scope="module")
def before(listed: List) -> list[str]:
    """The list of the unchanged crate above."""
    return listed(SOURCE)


def test_all_that_is_public_has_its_line(listed: List, before: list[str]) -> None:
    assert sorted(line for line in before if not line.startswith("impl")) == sorted(LINES.splitlines())
    assert {line for line in before if line.startswith("impl")} == IMPLEMENTATIONS
    assert listed(SOURCE) == before


CHANGES = {
    "an item comes": ("pub const LIMIT", "pub fn new() {}\npub const LIMIT", "", "fn a_lock::new()"),
    "an item goes": ("pub const LIMIT: usize = 3;", "", "const a_lock::LIMIT: usize", ""),
    "an item is hidden": (
        "pub const LIMIT",
        "#[doc(hidden)]\npub const LIMIT",
        "const a_lock::LIMIT: usize",
        "",
    ),
    "another result": (
        "pub fn owner(self: Box<Self>)",
        "pub fn owner(self)",
        "fn a_lock::Lock<T>::owner(self: Box<Self>) -> Option<T> where T: Send",
        "fn a_lock::Lock<T>::owner(self) -> Option<T> where T: Send",
    ),
    "another name of a parameter": ("what: &str", "question: &str", "", ""),
    "a variant of an open enum": ("Two }", "Two, Three }", "", "variant a_lock::Kind::Three"),
    "a variant of a closed enum": (
        "{ Gone,",
        "{ Gone, More,",
        "enum a_lock::Error { Gone, Late, Refused }",
        "enum a_lock::Error { Gone, Late, More, Refused }\nvariant a_lock::Error::More",
    ),
    "a private field": (
        "pub y: i32 }",
        "pub y: i32, z: i32 }",
        "struct a_lock::Place { x, y }",
        "struct a_lock::Place { .. }",
    ),
    "a method that implementations need": (
        "fn end(&self) {}",
        "fn end(&self);",
        "trait a_lock::Server { Answer, NAME, ask }",
        "trait a_lock::Server { Answer, NAME, ask, end }",
    ),
    "a method of a sealed trait": (
        "fn closed(&self);",
        "fn closed(&self); fn more(&self);",
        "",
        "fn a_lock::Closed::more(&self)",
    ),
    "no longer for threads": (
        "x: i32, pub y: i32 }",
        "x: i32, pub y: *const u8 }",
        "field a_lock::Place.y: i32\nimpl Send for a_lock::Place\nimpl Sync for a_lock::Place",
        "field a_lock::Place.y: *const u8",
    ),
    "a trait of a type": (
        "#[derive(Clone)]",
        "",
        "impl<T: Clone> Clone for a_lock::Lock<T>",
        "",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(listed: List, before: list[str], change: str) -> None:
    written, instead, gone, come = CHANGES[change]
    assert SOURCE.count(written) == 1
    now = listed(SOURCE.replace(written, instead))
    assert [line for line in before if line not in now] == gone.splitlines()
    assert [line for line in now if line not in before] == come.splitlines()


@pytest.mark.parametrize(("required", "shown"), [("^1.0.220", "1"), ("=0.2.130", "0.2"), ("^0.11", "0.11")])
def test_crates_have_the_version_that_programs_share(required: str, shown: str) -> None:
    assert rust.major(required) == shown


def test_another_format_is_refused_with_both_numbers() -> None:
    with pytest.raises(SystemExit, match=r"of format 58, but tools/api reads format 57, .* FORMAT in tools"):
        rustdoc.checked(json.loads('{"format_version": 58}'))
