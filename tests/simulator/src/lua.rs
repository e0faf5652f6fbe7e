//! A real Lua for the Redis model.
//!
//! It is Lua 5.1, as in Redis. Scripts have the same environment as in Redis 7.0: the conversions between
//! replies and values, read-only globals, and errors that name the script and the line. There are three
//! differences: `cjson`, `cmsgpack`, `struct` and `bit` are missing; a table cannot become a reply of RESP3;
//! and `math.random` restarts with every script, as before 7.0, so that a run can be repeated.

mod convert;

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
};

use fencepost_models::redis::{Lua, Resp, sha1_hex};
use mlua::{BString, Function, MultiValue, StdLib, Table, Value};

/// Lua 5.1 with the libraries of Redis. One for each thread: it is neither `Send` nor `Clone`, and keeps only
/// the compiled text of a script.
#[derive(Debug)]
pub struct RealLua {
    lua: mlua::Lua,
    world: Table,
    globals: Table,
    library: Table,
    run: Function,
    compiled: BTreeMap<Vec<u8>, Function>,
    left_behind: Rc<RefCell<Vec<u8>>>,
    /// Whether the next command's error is returned and not raised.
    quiet: Rc<Cell<bool>>,
    random: Rc<Cell<u64>>,
}

impl Default for RealLua {
    fn default() -> Self {
        Self::new()
    }
}

impl RealLua {
    /// A new Lua.
    ///
    /// # Panics
    /// If there is not enough memory.
    #[must_use]
    pub fn new() -> Self {
        Self::build().expect("a Lua")
    }

    fn build() -> mlua::Result<Self> {
        let libraries = StdLib::STRING | StdLib::TABLE | StdLib::MATH;
        let lua = mlua::Lua::new_with(libraries, mlua::LuaOptions::default())?;
        // Scripts leave little garbage, so a collection can wait until the memory has grown tenfold.
        lua.gc_set_pause(1000);
        let left_behind = Rc::new(RefCell::new(Vec::new()));
        let random = Rc::new(Cell::new(0));
        let quiet = Rc::new(Cell::new(false));
        let taken = left_behind.clone();
        let take_error = lua.create_function(move |lua, ()| lua.create_string(&*taken.borrow()))?;
        let natives = lua.create_table()?;
        let hush = quiet.clone();
        natives.set(
            "hush",
            lua.create_function(move |_, ()| {
                hush.set(true);
                Ok(())
            })?,
        )?;
        natives.set(
            "place",
            lua.create_function(|lua, ()| Ok(place(lua).unwrap_or_default()))?,
        )?;
        let noted = left_behind.clone();
        natives.set(
            "sha1hex",
            lua.create_function(move |lua, arguments: MultiValue| sha1hex(lua, &noted, &arguments))?,
        )?;
        let state = random.clone();
        natives.set(
            "random",
            lua.create_function(move |_, bounds: (Option<f64>, Option<f64>)| draw(&state, bounds))?,
        )?;
        let state = random.clone();
        natives.set(
            "randomseed",
            lua.create_function(move |_, seed: f64| {
                state.set(seeded(convert::truncate(seed)));
                Ok(())
            })?,
        )?;
        let (world, globals, library, run) = lua
            .load(include_str!("lua/world.lua"))
            .set_name("=world")
            .call((take_error, natives))?;
        Ok(Self {
            lua,
            world,
            globals,
            library,
            run,
            compiled: BTreeMap::new(),
            left_behind,
            quiet,
            random,
        })
    }

    fn compile(&mut self, text: &[u8]) -> mlua::Result<Function> {
        if let Some(known) = self.compiled.get(text) {
            return Ok(known.clone());
        }
        let chunk = self.lua.load(text).set_name("@user_script");
        let script = chunk
            .set_mode(mlua::ChunkMode::Text)
            .set_environment(self.world.clone())
            .into_function()?;
        self.compiled.insert(text.into(), script.clone());
        Ok(script)
    }

    fn try_eval(
        &mut self,
        text: &[u8],
        keys: &[Vec<u8>],
        arguments: &[Vec<u8>],
        call: &mut dyn FnMut(&[Vec<u8>]) -> Resp,
    ) -> mlua::Result<Resp> {
        let script = self.compile(text)?;
        self.random.set(seeded(0));
        self.globals.raw_set("KEYS", self.strings(keys)?)?;
        self.globals.raw_set("ARGV", self.strings(arguments)?)?;
        let call = RefCell::new(call);
        let execute = |lua: &mlua::Lua, words: &MultiValue| match convert::words(lua, words) {
            Ok(words) => (call.borrow_mut())(&words),
            Err(problem) => Resp::Error(problem.into()),
        };
        self.lua.scope(|scope| {
            let call = scope.create_function(|lua, words: MultiValue| match execute(lua, &words) {
                Resp::Error(text) if !self.quiet.take() => Err(raise(&self.left_behind, text)),
                reply => {
                    self.quiet.set(false);
                    convert::to_lua(lua, reply)
                }
            })?;
            self.library.raw_set("call", call)?;
            let (done, value): (bool, Value) = self.run.call(script)?;
            if done {
                return convert::to_resp(&value);
            }
            let Value::Table(problem) = value else {
                return Ok(Resp::Error(b"ERR the script has failed".into()));
            };
            let message: Option<mlua::String> = problem.raw_get("err").unwrap_or_default();
            let source: String = problem.raw_get("source")?;
            let line: i64 = problem.raw_get("line")?;
            let mut error = message.map_or_else(
                || b"ERR unknown error".to_vec(),
                |message| message.as_bytes().to_vec(),
            );
            error.extend_from_slice(b" script: ");
            error.extend_from_slice(&sha1_hex(text));
            error.extend_from_slice(format!(", on {source}:{line}.").as_bytes());
            Ok(Resp::Error(convert::one_line(&error)))
        })
    }

    fn strings(&self, items: &[Vec<u8>]) -> mlua::Result<Table> {
        self.lua
            .create_sequence_from(items.iter().map(|item| BString::from(item.as_slice())))
    }
}

impl Lua for RealLua {
    fn check(&mut self, text: &[u8]) -> Result<(), String> {
        match self.compile(text) {
            Ok(_) => Ok(()),
            Err(mlua::Error::SyntaxError { message, .. }) => Err(message),
            Err(other) => Err(other.to_string()),
        }
    }

    fn eval(
        &mut self,
        text: &[u8],
        keys: &[Vec<u8>],
        arguments: &[Vec<u8>],
        call: &mut dyn FnMut(&[Vec<u8>]) -> Resp,
    ) -> Resp {
        let result = self.try_eval(text, keys, arguments, call);
        result.unwrap_or_else(|error| Resp::Error(format!("ERR {error}").into()))
    }
}

/// Stores an error's text for `world.lua`: Lua itself only gets a mark.
fn raise(left_behind: &RefCell<Vec<u8>>, text: Vec<u8>) -> mlua::Error {
    *left_behind.borrow_mut() = text;
    mlua::Error::RuntimeError(String::new())
}

/// The position of the script: its source and its line.
fn place(lua: &mlua::Lua) -> Option<(String, usize)> {
    let at = |level| {
        lua.inspect_stack(level, |frame| {
            let source = frame.source().source?;
            // The sources of native functions, of tail calls and of `world.lua` begin with `=`.
            let of_script = !source.starts_with('=');
            of_script.then(|| (source.into_owned(), frame.current_line().unwrap_or(0)))
        })
    };
    (0..).map_while(at).flatten().next()
}

fn sha1hex(
    lua: &mlua::Lua,
    left_behind: &RefCell<Vec<u8>>,
    arguments: &MultiValue,
) -> mlua::Result<mlua::String> {
    if arguments.len() != 1 {
        return Err(raise(left_behind, b"ERR wrong number of arguments".into()));
    }
    let text = arguments.front().and_then(|text| convert::bytes(lua, text));
    lua.create_string(sha1_hex(&text.unwrap_or_default()))
}

/// `srand48`.
fn seeded(seed: i64) -> u64 {
    ((seed.cast_unsigned() & 0xffff_ffff) << 16) | 0x330e
}

/// `math.random` on `lrand48`.
fn draw(state: &Cell<u64>, bounds: (Option<f64>, Option<f64>)) -> mlua::Result<f64> {
    let next = state.get().wrapping_mul(0x5_deec_e66d).wrapping_add(0xb) & 0xffff_ffff_ffff;
    state.set(next);
    let most = f64::from(i32::MAX);
    let drawn = ((next >> 17) as f64) % most / most;
    let (low, high) = match bounds {
        (None, _) => return Ok(drawn),
        (Some(high), None) => (1.0, high),
        (Some(low), Some(high)) => (low, high),
    };
    if low > high {
        return Err(mlua::Error::RuntimeError("interval is empty".into()));
    }
    Ok((drawn * (high - low + 1.0)).floor() + low)
}
