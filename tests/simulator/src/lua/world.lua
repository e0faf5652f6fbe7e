-- The environment of a script in Redis 7.0: read-only globals, errors with their line, commands. Its arguments: the
-- function that removes and returns the error of the last command, and other native functions.
local take_error, natives = ...
local native_pcall, native_xpcall, native_setmetatable, native_getmetatable = pcall, xpcall, setmetatable, getmetatable
local native_rawset, native_load, native_loadstring = rawset, load, loadstring
local error, type, tostring, setfenv = error, type, tostring, setfenv

local sealed = native_setmetatable({}, { __mode = 'k' })
local READ_ONLY = 'Attempt to modify a readonly table'

local function refuse()
  error(READ_ONLY, 2)
end

local function seal(open)
  local closed = native_setmetatable({}, { __index = open, __newindex = refuse })
  sealed[closed] = true
  return closed
end

local globals = native_setmetatable({}, {
  __index = function(_, name)
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
  end,
})
local world = seal(globals)
globals._G = world

for _, name in ipairs({
  '_VERSION', 'assert', 'collectgarbage', 'error', 'gcinfo', 'ipairs', 'next', 'pairs', 'rawequal',
  'rawget', 'select', 'tonumber', 'tostring', 'type', 'unpack', 'xpcall',
}) do
  native_rawset(globals, name, _G[name])
end

for _, name in ipairs({ 'string', 'table', 'math', 'coroutine' }) do
  local open = {}
  for key, value in pairs(_G[name]) do
    open[key] = value
  end
  native_rawset(globals, name, seal(open))
  if name == 'math' then
    open.random, open.randomseed = natives.random, natives.randomseed
  end
end

local of_strings = seal({ __index = globals.string })

function globals.getmetatable(value)
  if type(value) == 'string' then
    return of_strings
  end
  return native_getmetatable(value)
end

function globals.setmetatable(value, metatable)
  if sealed[value] then
    error(READ_ONLY, 0)
  end
  return native_setmetatable(value, metatable)
end

function globals.rawset(value, ...)
  if sealed[value] then
    error(READ_ONLY, 0)
  end
  return native_rawset(value, ...)
end

local function in_world(made, problem)
  if made then
    setfenv(made, world)
  end
  return made, problem
end

function globals.load(...)
  return in_world(native_load(...))
end

function globals.loadstring(...)
  return in_world(native_loadstring(...))
end

-- A failed command is an error with the field `err`; a script that catches one gets the text.
local function caught(done, first, ...)
  if done then
    return done, first, ...
  end
  if type(first) == 'userdata' then
    first = { err = take_error() }
  end
  if type(first) == 'table' and type(first.err) == 'string' then
    first = first.err
  end
  return done, first
end

function globals.pcall(...)
  return caught(native_pcall(...))
end

local function code_and_text(text)
  text = text:gsub('^%-', '')
  if not text:find(' ', 1, true) then
    text = 'ERR ' .. text
  end
  return text
end

local library = {}

function library.error_reply(...)
  local text = ...
  if select('#', ...) ~= 1 or type(text) ~= 'string' then
    return { err = 'ERR wrong number or type of arguments' }
  end
  return { err = code_and_text(text) }
end

function library.status_reply(...)
  local text = ...
  if select('#', ...) ~= 1 or type(text) ~= 'string' then
    return { err = 'ERR wrong number or type of arguments' }
  end
  return { ok = text }
end

function library.pcall(...)
  natives.hush()
  return library.call(...)
end

function library.log() end

-- Since 5.0, Redis replicates the effects of scripts anyway: this returns true and changes nothing.
function library.replicate_commands()
  return true
end

library.LOG_DEBUG, library.LOG_VERBOSE, library.LOG_NOTICE, library.LOG_WARNING = 0, 1, 2, 3
library.sha1hex = natives.sha1hex
globals.redis = seal(library)

-- The position in the script at which the error was raised.
local function locate(problem)
  if type(problem) == 'userdata' then
    problem = { err = take_error() }
  elseif type(problem) ~= 'table' then
    problem = { err = 'ERR ' .. tostring(problem) }
  end
  local source, line = natives.place()
  return { err = problem.err, source = source, line = line }
end

local function run(script)
  return native_xpcall(script, locate)
end

return world, globals, library, run
