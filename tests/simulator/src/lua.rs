//! A real Lua for the Redis model.
