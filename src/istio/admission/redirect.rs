//! `redirect` and `rewrite` of an HTTP route.

use smol_str::SmolStr;

use super::super::Items;
use super::super::route::{HttpRoute, RegexRewrite};
use super::super::version::IstioVersion;
use super::{Review, port, refusal, string_match};
use crate::source::Spanned;

fn text(value: &Option<Spanned<SmolStr>>) -> Option<&Spanned<SmolStr>> {
    value.as_ref().filter(|value| !value.is_empty())
}

pub(super) fn check(route: &HttpRoute, review: &mut Review<'_>) {
    let Some(redirect) = &route.redirect else {
        return;
    };
    let prefix = text(&redirect.prefix_rewrite).filter(|_| review.version >= IstioVersion(31));
    if let (Some(uri), Some(prefix)) = (text(&redirect.uri), prefix) {
        review.push(
            refusal(prefix.key, "`prefixRewrite` and `uri` exclude each other")
                .because(uri.key, "set here")
                .help("keep one of them"),
        );
    }
    if let Some(prefix) = prefix {
        let other = route
            .matches
            .items()
            .iter()
            .filter_map(|it| it.uri.as_ref())
            .find(|uri| uri.prefix.is_none());
        if let Some(uri) = other {
            review.push(
                refusal(
                    prefix.key,
                    "`prefixRewrite` needs every match of `uri` to be a `prefix`",
                )
                .because(uri.span, "this one is none"),
            );
        }
    }
    let nothing = text(&redirect.uri).is_none()
        && prefix.is_none()
        && text(&redirect.authority).is_none()
        && redirect.port.is_none()
        && redirect.derive_port.is_none()
        && text(&redirect.scheme).is_none();
    if nothing {
        review.push(
            refusal(redirect.key, "the redirect does not say where to")
                .help("set `uri`, `authority`, `scheme` or `port`"),
        );
    }
    if let Some(code) = redirect
        .redirect_code
        .as_ref()
        .filter(|code| code.value != 0 && !(300..=399).contains(&code.value))
    {
        review.push(
            refusal(
                code.span,
                format!("`{}` is no code of a redirect", code.value),
            )
            .help("write 301, 302, 303, 307 or 308"),
        );
    }
    if let Some(scheme) =
        text(&redirect.scheme).filter(|scheme| !matches!(scheme.as_str(), "http" | "https"))
    {
        review.push(
            refusal(
                scheme.span,
                format!("`{}` is no scheme of a redirect", scheme.value),
            )
            .help("write `http` or `https`"),
        );
    }
    port::check_optional_number(redirect.port.as_ref(), review);
}

pub(super) fn check_rewrite(route: &HttpRoute, review: &mut Review<'_>) {
    let Some(rewrite) = &route.rewrite else {
        return;
    };
    let uri = text(&rewrite.uri);
    if let (Some(uri), Some(regex)) = (uri, &rewrite.uri_regex_rewrite) {
        review.push(
            refusal(regex.key, "`uriRegexRewrite` and `uri` exclude each other")
                .because(uri.key, "set here")
                .help("keep one of them"),
        );
    }
    if uri.is_none() && rewrite.uri_regex_rewrite.is_none() && text(&rewrite.authority).is_none() {
        review.push(
            refusal(rewrite.key, "the rewrite rewrites nothing")
                .help("set `uri`, `uriRegexRewrite` or `authority`, or remove it"),
        );
    }
    if let Some(regex) = &rewrite.uri_regex_rewrite {
        check_regex_rewrite(regex, review);
    }
}

fn check_regex_rewrite(rewrite: &Spanned<RegexRewrite>, review: &mut Review<'_>) {
    for (name, value) in [("match", &rewrite.pattern), ("rewrite", &rewrite.rewrite)] {
        if text(value).is_none() {
            let finding = match value {
                Some(value) => refusal(value.span, format!("`uriRegexRewrite` needs a `{name}`")),
                None => {
                    refusal(rewrite.key, format!("`uriRegexRewrite` needs a `{name}`")).absent(name)
                }
            };
            review.push(finding);
        }
    }
    if let Some(pattern) = text(&rewrite.pattern) {
        string_match::check_expression(pattern, review);
    }
}
