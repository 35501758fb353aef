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

# What the pages say of Envoy, measured on real ones
lab *EXPERIMENTS:
    lab/run {{EXPERIMENTS}}

# Speed against ripgrep on the same tree, in the same run
bench FILES="100000":
    cargo bench --bench speed -- {{FILES}}

# A new rule that stands, registered and tested; it is host-trailing-dot under another name, to be written over
new-rule NAME:
    #!/usr/bin/env bash
    set -euo pipefail
    export LC_ALL=C
    name={{NAME}} module=$(tr - _ <<< {{NAME}})
    [[ $name =~ ^[a-z0-9]+(-[a-z0-9]+)+$ ]] || { echo "$name: write it as some-fault"; exit 1; }
    [[ ! -e src/rules/$module.rs ]] || { echo "$name: there is one"; exit 1; }
    type=$(sed -E 's/(^|-)([a-z0-9])/\U\2/g' <<< "$name")
    # It finds hosts that begin with its name, where the other finds those that end with a dot.
    copy() {
      sed -e "s/host-trailing-dot/$name/g; s/HostTrailingDot/$type/g; s/ends_with('\.')/starts_with(\"$name.\")/" \
        -e "s/- pay\.partner\.example\.\( .*\)\?$/- $name.example\1/" "$1" > "$2"
    }
    mkdir "testdata/rules/$name"
    copy src/rules/host_trailing_dot.rs "src/rules/$module.rs"
    copy rules/host-trailing-dot.md "rules/$name.md"
    for kind in bad good; do
      copy "testdata/rules/host-trailing-dot/$kind.yaml" "testdata/rules/$name/$kind.yaml"
    done
    rules=src/rules/mod.rs
    registry=$({ sed -n '/^    &.*::RULE,$/p' $rules; echo "    &$module::RULE,"; } | tr _ - | sort | tr - _)
    { sed '/^static ALL/q' $rules; echo "$registry"; sed -n '/^static ALL/,$ { /^\];/,$p }' $rules; } > $rules.new
    sed "0,/^mod /s//mod $module;\nmod /" $rules.new > $rules
    rm $rules.new
    cargo fmt
    BLESS=1 cargo test --quiet --test catalogue
    BLESS=1 cargo test --quiet --test pages --test cases -- "$name"
    echo "now write over: src/rules/$module.rs, rules/$name.md, testdata/rules/$name/, then just bless; and CHANGELOG.md"
