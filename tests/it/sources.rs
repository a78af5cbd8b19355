//! Sessions of other tools: files as the tools wrote them give exactly the
//! conversation that the tool would go on with.
//!
//! Small ones are committed under `tests/fixtures`. More are read where the
//! environment variable `IBID_SAMPLES` names a folder of them.

mod claude_code;
mod codex;
mod dsh;
mod gemini;
mod listing;
mod opencode;
mod support;
