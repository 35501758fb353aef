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
