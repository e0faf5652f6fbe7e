//! Transcripts and suites that run against real servers.
