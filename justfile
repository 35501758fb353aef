# What a developer needs, by name. `just --list` says what there is.

# All that must hold before a change is handed in
ready:
    cargo fmt --check
    cargo clippy --all-targets -- -D warnings
    cargo test --quiet
    cargo doc --no-deps --quiet

# Write the generated parts anew: expected outputs, pages, schemas
bless:
    BLESS=1 cargo test --quiet

# Speed against ripgrep on the same tree, in the same run
bench FILES="100000":
    cargo build --release --quiet
    cargo bench --bench speed -- {{FILES}}

# The files of a new rule, all of one name; registering it in src/rules/mod.rs is left to you
new-rule NAME:
    #!/usr/bin/env bash
    set -euo pipefail
    name={{NAME}} file=src/rules/$(tr - _ <<< {{NAME}}).rs
    type=$(sed -E 's/(^|-)([a-z0-9])/\U\2/g' <<< "$name")
    test ! -e "$file"
    mkdir -p "testdata/rules/$name"
    sed -e "s/host-trailing-dot/$name/g; s/HostTrailingDot/$type/g" src/rules/host_trailing_dot.rs > "$file"
    sed -e "s/host-trailing-dot/$name/g" rules/host-trailing-dot.md > "rules/$name.md"
    for kind in bad good; do
      sed -e "s/host-trailing-dot/$name/g" "testdata/rules/host-trailing-dot/$kind.yaml" > "testdata/rules/$name/$kind.yaml"
    done
    echo "copies of host-trailing-dot to write over; then: mod and &RULE in src/rules/mod.rs, just bless"
