//! Patterns that Go's `regexp` compiles, and others.

use super::fault;

#[test]
fn what_re2_reads() {
    for pattern in [
        "",
        "abc",
        "^/api/v[0-9]+(/.*)?$",
        "a{2,3}?",
        "a{",
        "{name}",
        "x{,2}",
        "(?i)abc",
        "(?i-s:a)",
        "(?P<n>a)",
        "(?<n>a)",
        "[]a]",
        "[^]a]",
        "[[]",
        "[a-]",
        "[-a]",
        "[[:alpha:]_]",
        "\\d\\.\\/\\_",
        "\\pL\\p{Greek}",
        "\\x41\\x{1F600}",
        "\\Qa.b\\E",
        "\\Qa*",
        "^*",
        "a|b",
        "a||b",
        "()",
        "()*",
        "\\101",
        "[\\]]",
        "(a{100}){10}",
        "(?i)a*(?s)*",
        "a*?",
        "\\z",
        "é+",
    ] {
        assert_eq!(fault(pattern), None, "{pattern}");
    }
}

#[test]
fn what_re2_refuses() {
    for pattern in [
        "*.example.com",
        "a**",
        "a*+",
        "a+?*",
        "(",
        ")",
        "(a",
        "a)",
        "[a",
        "[",
        "[]",
        "[b-a]",
        "(?=a)",
        "(?!a)",
        "(?<=a)",
        "(?<!a)",
        "(?#c)",
        "(?P<n>a)(?P<n>b)",
        "(?P=n)",
        "\\1",
        "\\8",
        "\\y",
        "\\",
        "[[:foo:]]",
        "a{1001}",
        "a{3,2}",
        "a{2}{3}",
        "|*",
        "(*a)",
        "\\C",
        "\\x{110000}",
        "\\xg",
        "(?i-)",
        "(?",
        "\\p{Greek",
        "(a{100}){11}",
    ] {
        assert!(fault(pattern).is_some(), "{pattern}");
    }
}
