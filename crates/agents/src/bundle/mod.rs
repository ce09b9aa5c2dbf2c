//! The plugin bundle for Claude Code.
