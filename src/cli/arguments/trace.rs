//! What `egress-lint trace` is asked.

use std::path::PathBuf;

use clap::Args;

use super::inputs::Inputs;
use super::{Sink, TextOrJson};
use crate::cli::question::{Protocol, Target, client, target};
use crate::egress::client::Client;

#[derive(Debug, Args)]
pub(in crate::cli) struct Trace {
    #[command(flatten)]
    pub(in crate::cli) inputs: Inputs,
    /// Only the ways to this host [default: to every external host that the files define]
    #[arg(long, value_name = "HOST[:PORT]", value_parser = target, help_heading = "Question")]
    pub(in crate::cli) to: Option<Target>,
    /// What the client speaks [default: what the port is declared to carry]
    #[arg(
        long = "as",
        value_enum,
        value_name = "PROTOCOL",
        help_heading = "Question"
    )]
    pub(in crate::cli) speaks: Option<Protocol>,
    /// Who calls: a namespace and labels [default: each namespace that has something to say about the host]
    #[arg(long, value_name = "NS[/K=V,…]", value_parser = client, help_heading = "Question")]
    pub(in crate::cli) client: Option<Client>,
    /// Answer the calls of a file instead, in JSON
    #[arg(long, value_name = "FILE", conflicts_with_all = ["to", "speaks", "client", "matrix"], help_heading = "Question")]
    pub(in crate::cli) calls: Option<PathBuf>,
    /// Which of several worlds is asked about
    #[arg(long, value_name = "NAME", help_heading = "Question")]
    pub(in crate::cli) world: Option<String>,
    /// Draw STRICT and LOGICAL against HTTP and TCP for each destination, too
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) matrix: bool,
    /// The form of the answer [default: text; json with --calls]
    #[arg(long, value_enum, help_heading = "Output")]
    pub(in crate::cli) format: Option<TextOrJson>,
    #[command(flatten)]
    pub(in crate::cli) sink: Sink,
}
