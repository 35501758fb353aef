//! The experiments, by the names that `docs/measurements.md` and the pages of the rules give them.

mod accepted;
mod budget;
mod dns_fails;
mod ejection;
mod gateway_ejected;
mod hash_of_bytes;
mod http2_to_http1;
mod keepalive;
mod kept;
mod misfit;
mod origination;
mod panic_threshold;
mod pin;
mod resolved_to_several;
mod retries;
mod returning;
mod silent;
mod switch;
mod two_hops;

use crate::bench::Lab;
use crate::report::Row;

pub(crate) struct Experiment {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) run: fn(&Lab) -> anyhow::Result<Vec<Row>>,
}

pub(crate) static ALL: [Experiment; 19] = [
    switch::E1,
    retries::E2,
    ejection::E3,
    budget::E4,
    resolved_to_several::E5,
    dns_fails::E6,
    silent::E7,
    pin::E10,
    panic_threshold::E12,
    kept::E15,
    accepted::E16,
    http2_to_http1::E17,
    returning::E18,
    hash_of_bytes::E19,
    keepalive::E20,
    origination::E21,
    misfit::E22,
    two_hops::E23,
    gateway_ejected::E24,
];
