//! Resolves one world into the effective model, each value traced to the lines that made it so.

pub mod facts;
