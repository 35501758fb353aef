//! What is read.

use std::path::PathBuf;

use clap::Args;

use crate::istio::IstioVersion;

/// What is read, and what is known about it.
#[derive(Debug, Args)]
pub(in crate::cli) struct Inputs {
    /// Files, folders, or - for standard input
    #[arg(value_name = "PATH", default_value = ".", help_heading = "Input")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Leave out the files and folders that match
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    pub(in crate::cli) exclude: Vec<String>,
    /// The name of standard input; a file of that name gives way to it
    #[arg(
        long,
        value_name = "NAME",
        default_value = "<stdin>",
        help_heading = "Input"
    )]
    pub(in crate::cli) stdin_filename: String,
    /// The configuration [default: the nearest egress-lint.yaml upwards from the working directory]
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub(in crate::cli) config: Option<PathBuf>,
    /// Use no configuration file
    #[arg(long, conflicts_with = "config", help_heading = "Configuration")]
    pub(in crate::cli) isolated: bool,
    /// The version of Istio [default: 1.30]
    #[arg(long, value_name = "X.Y", value_parser = istio_version, help_heading = "Configuration")]
    pub(in crate::cli) istio_version: Option<IstioVersion>,
    /// The namespace of manifests that name none; without it it may equal any other
    #[arg(long, value_name = "NS", value_parser = namespace, help_heading = "Configuration")]
    pub(in crate::cli) namespace: Option<String>,
    /// These files are all there is in the cluster
    #[arg(long, overrides_with = "open_world", help_heading = "Configuration")]
    pub(in crate::cli) closed_world: bool,
    /// Other manifests may exist in the cluster: a missing resource is no proof (the default)
    #[arg(long, overrides_with = "closed_world", help_heading = "Configuration")]
    pub(in crate::cli) open_world: bool,
    /// How many threads to use [default: one per processor]
    #[arg(
        long,
        value_name = "N",
        value_parser = threads,
        default_value = "0",
        hide_default_value = true,
        help_heading = "Input"
    )]
    pub(in crate::cli) threads: usize,
    /// Parse every file: finds out whether the prefilter held anything back
    #[arg(long, hide = true)]
    pub(in crate::cli) no_prefilter: bool,
}

impl Inputs {
    /// What the command line says about the world, if anything.
    pub(in crate::cli) fn closed(&self) -> Option<bool> {
        (self.closed_world || self.open_world).then_some(self.closed_world)
    }
}

fn istio_version(text: &str) -> Result<IstioVersion, String> {
    IstioVersion::parse(text).ok_or_else(|| {
        let (oldest, newest) = (IstioVersion::OLDEST, IstioVersion::NEWEST);
        format!("known are {oldest} to {newest}")
    })
}

fn namespace(text: &str) -> Result<String, String> {
    let alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let inside = text.trim_matches('-');
    let is_name = inside.len() == text.len()
        && (1..=63).contains(&text.len())
        && text.bytes().all(|byte| alphanumeric(byte) || byte == b'-');
    match is_name {
        true => Ok(text.to_owned()),
        false => Err("a namespace is called by lower-case letters, digits and `-`".to_owned()),
    }
}

/// More threads than this help nobody, and may be more than the system has room for.
const MOST_THREADS: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    let number = text.parse().map_err(|_| "write a number".to_owned())?;
    match number <= MOST_THREADS {
        true => Ok(number),
        false => Err(format!("{MOST_THREADS} are the most")),
    }
}
