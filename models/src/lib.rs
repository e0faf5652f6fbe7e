//! Model servers: what the simulator breaks, and what memory: runs on.
