//! `loadBalancer` of a `DestinationRule`.

use std::collections::HashMap;

use super::super::Items;
use super::super::traffic::{ConsistentHash, HttpCookie, LoadBalancer, Maglev, Warmup};
use super::super::version::IstioVersion;
use super::{Review, deprecation, duration, locality, refusal};
use crate::source::{Span, Spanned};

pub(super) fn check(settings: Option<&Spanned<LoadBalancer>>, review: &mut Review<'_>) {
    let Some(settings) = settings else { return };
    if let Some(hash) = &settings.consistent_hash {
        check_hash(hash, review);
    }
    if let (Some(locality), Some(zone)) = (
        &settings.locality_lb_setting,
        &settings.zone_aware_lb_setting,
    ) {
        review.push(
            refusal(
                zone.key,
                "`zoneAwareLbSetting` and `localityLbSetting` exclude each other",
            )
            .because(locality.key, "set here")
            .help("keep one of them"),
        );
    }
    if let Some(locality) = &settings.locality_lb_setting {
        locality::check(locality, review);
    }
    if let Some(zone) = &settings.zone_aware_lb_setting {
        locality::check_zone_aware(zone, review);
    }
    if let Some(warmup) = &settings.warmup {
        check_warmup(warmup, review);
    }
}

fn check_hash(hash: &ConsistentHash, review: &mut Review<'_>) {
    if let Some(cookie) = &hash.http_cookie {
        check_cookie(cookie, review);
    }
    if let Some(size) = hash
        .minimum_ring_size
        .as_ref()
        .filter(|size| size.value != 0)
    {
        let ring = hash.ring_hash.as_ref().map(|ring| ("ringHash", ring.key));
        let maglev = hash.maglev.as_ref().map(|maglev| ("maglev", maglev.key));
        if let Some((name, key)) = ring.or(maglev) {
            review.push(
                refusal(
                    size.key,
                    format!("`minimumRingSize` and `{name}` exclude each other"),
                )
                .because(key, "set here")
                .help(format!("remove `minimumRingSize`, which `{name}` replaces")),
            );
        } else {
            let text = "`minimumRingSize` is an older spelling of a setting of `ringHash`";
            let newer = format!("write `ringHash: {{minimumRingSize: {}}}`", size.value);
            review.push(deprecation(size.key, text).help(newer));
        }
    }
    if let Some(maglev) = &hash.maglev {
        check_maglev(maglev, review);
    }
}

fn check_cookie(cookie: &Spanned<HttpCookie>, review: &mut Review<'_>) {
    if let Some(name) = cookie.name.as_ref().filter(|name| name.is_empty()) {
        review.push(refusal(name.span, "the cookie needs a name"));
    }
    let mut seen: HashMap<&str, Span> = HashMap::new();
    for attribute in cookie.attributes.items() {
        let Some(name) = &attribute.name else {
            continue;
        };
        if name.is_empty() {
            review.push(refusal(name.span, "the cookie's attribute needs a name"));
            continue;
        }
        let first = *seen.entry(name.as_str()).or_insert(name.span);
        if first != name.span {
            review.push(
                refusal(
                    name.span,
                    format!("the cookie's attribute `{}` is given twice", name.value),
                )
                .because(first, "first given here"),
            );
        }
    }
}

fn check_maglev(maglev: &Spanned<Maglev>, review: &mut Review<'_>) {
    let Some(size) = maglev.table_size.as_ref() else {
        review.push(
            refusal(maglev.key, "`maglev` needs a `tableSize`")
                .absent("tableSize")
                .help("write a prime, as 65537"),
        );
        return;
    };
    if size.value >= 5_000_011 {
        review.push(refusal(
            size.span,
            format!(
                "`{}` is too large: a Maglev table has less than 5000011 entries",
                size.value
            ),
        ));
    } else if !is_prime(size.value) {
        review.push(
            refusal(
                size.span,
                format!(
                    "`{}` is no prime, which a Maglev table's size must be",
                    size.value
                ),
            )
            .help("write a prime, as 65537"),
        );
    }
}

/// As Envoy has it, for numbers below five millions.
fn is_prime(number: i64) -> bool {
    match number {
        ..=0 => false,
        1..=3 => true,
        even if even % 2 == 0 => false,
        odd => (3..)
            .step_by(2)
            .take_while(|factor| factor * factor <= odd)
            .all(|factor| odd % factor != 0),
    }
}

fn check_warmup(warmup: &Warmup, review: &mut Review<'_>) {
    duration::check(warmup.duration.as_ref(), review);
    let Some(aggression) = &warmup.aggression else {
        return;
    };
    let (right, least) = if review.version >= IstioVersion(31) {
        (aggression.value > 0.0, "more than 0")
    } else {
        (aggression.value >= 1.0, "at least 1")
    };
    if !right {
        review.push(refusal(
            aggression.span,
            format!("`aggression` must be {least}, not `{}`", aggression.value),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::is_prime;

    #[test]
    fn primes() {
        let primes: Vec<i64> = (-1..=30).filter(|number| is_prime(*number)).collect();
        assert_eq!(primes, [1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
        assert!(is_prime(65537) && is_prime(4_999_999) && !is_prime(65535) && !is_prime(25));
    }
}
