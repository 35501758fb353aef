//! Values as the files say them.

use super::Context;
use crate::egress::facts::Traced;
use crate::istio::value::Duration;

/// A time in milliseconds as its line writes it, such as `5000ms`; as Go does where no line says just that.
pub(super) fn time(cx: &Context<'_>, time: &Traced<i64>) -> String {
    let lines = time.spans().iter();
    let mut texts = lines.map(|line| cx.sources.text(*line).trim_matches(['"', '\'']));
    let written = texts.find(|it| Duration::parse(it).is_some_and(|it| it.millis() == time.value));
    written.map_or_else(
        || Duration::from_millis(time.value).to_string(),
        str::to_owned,
    )
}
