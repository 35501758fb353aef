//! A large repository adopts the tool: what was there before is accepted, what is new counts.

#![allow(clippy::expect_used)]

mod harness;

use harness::run::{Answer, Room};

/// A ServiceEntry with fields that nobody knows, each of which is one finding.
fn entry(name: &str, unknown: &[&str]) -> String {
    let fields: String = unknown.iter().map(|it| format!("  {it}: 1\n")).collect();
    format!(
        "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {{name: {name}, namespace: payments}}\n\
         spec:\n  hosts: [{name}.example]\n  location: MESH_EXTERNAL\n  resolution: DNS\n\
         {fields}  ports: [{{number: 443, name: tls, protocol: TLS}}]\n"
    )
}

/// A repository whose findings are accepted.
fn adopted<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Room {
    let room = Room::new(files);
    let answer = room.check(&["--baseline", "b.json", "--write-baseline"], &["."]);
    assert_eq!(answer.code, 0, "{answer:?}");
    room
}

fn check(room: &Room) -> Answer {
    room.check(&["--baseline", "b.json", "--format", "concise"], &["."])
}

fn write(room: &Room, name: &str, text: &str) {
    std::fs::write(room.path().join(name), text).expect("a file");
}

#[test]
fn only_what_is_new_counts() {
    let room = adopted([("a.yaml", entry("a", &["old"]).as_str())]);
    assert_eq!((check(&room).code, check(&room).stdout.as_str()), (0, ""));
    write(&room, "a.yaml", &entry("a", &["new", "old"]));
    let answer = check(&room);
    assert_eq!(answer.code, 1);
    assert!(
        answer
            .stdout
            .starts_with("a.yaml:8:3: error [unknown-field]"),
        "{}",
        answer.stdout
    );
    assert_eq!(answer.stdout.lines().count(), 1);
}

#[test]
fn the_exit_code_is_the_same_in_every_format() {
    let room = adopted([("a.yaml", entry("a", &["old"]).as_str())]);
    for (text, code) in [(entry("a", &["old"]), 0), (entry("a", &["old", "new"]), 1)] {
        write(&room, "a.yaml", &text);
        for format in [
            "text", "concise", "json", "sarif", "github", "gitlab", "junit",
        ] {
            let answer = room.check(&["--baseline", "b.json", "--format", format], &["."]);
            assert_eq!(answer.code, code, "{format} {answer:?}");
        }
    }
}

#[test]
fn lines_may_move_and_be_indented_anew() {
    let text = entry("a", &["old"]);
    let room = adopted([("a.yaml", text.as_str())]);
    let list: String = text.lines().map(|line| format!("    {line}\n")).collect();
    for moved in [
        format!("# a comment\n\n{text}"),
        format!("{}---\n{text}", entry("before", &[])),
        format!("apiVersion: v1\nkind: List\nitems:\n  -\n{list}"),
        text.replace('\n', "\r\n"),
    ] {
        write(&room, "a.yaml", &moved);
        let answer = check(&room);
        assert_eq!(answer.code, 0, "{moved}\n{answer:?}");
    }
}

#[test]
fn equal_findings_are_counted() {
    let ports = |count: usize| {
        let port = |n| format!("  - {{number: {n}, name: tls-{n}, protocol: TLS, nope: 1}}\n");
        let list: String = (1..=count).map(port).collect();
        entry("a", &[]).replace(
            "  ports: [{number: 443, name: tls, protocol: TLS}]\n",
            &format!("  ports:\n{list}"),
        )
    };
    let room = adopted([("a.yaml", ports(2).as_str())]);
    let file = room.read("b.json");
    assert!(
        file.contains(r#""field":"spec.ports[].nope","text":"nope","count":2}"#),
        "{file}"
    );
    write(&room, "a.yaml", &ports(3));
    let answer = check(&room);
    assert_eq!((answer.code, answer.stdout.lines().count()), (1, 1));
}

#[test]
fn what_is_gone_is_told_in_one_line_and_struck_out() {
    let room = adopted([("a.yaml", entry("a", &["one", "two"]).as_str())]);
    write(&room, "a.yaml", &entry("a", &["two"]));
    let answer = room.check(&["--baseline", "b.json"], &["."]);
    assert_eq!(answer.code, 0);
    assert_eq!(
        answer.stdout,
        "no findings in 1 resource of 2 files, 1 in the baseline\n\
         gone since the baseline: 1 finding (`--write-baseline` strikes them out)\n"
    );
    assert!(
        check(&room)
            .stderr
            .contains("1 finding of the baseline is gone")
    );
    let json = room.check(&["--baseline", "b.json", "--format", "json"], &["."]);
    let summary = &json.json()["summary"];
    assert_eq!(summary["suppressed"], 1);
    assert_eq!(
        summary["baseline"],
        serde_json::json!({"known": 1, "stale": 1})
    );
    let answer = room.check(&["--baseline", "b.json", "--write-baseline"], &["."]);
    assert_eq!(answer.code, 0);
    assert!(!room.read("b.json").contains("\"one\""));
    assert!(room.read("b.json").contains("\"two\""));
}

#[test]
fn a_file_may_be_renamed_and_split() {
    let both = format!("{}---\n{}", entry("a", &["x"]), entry("b", &["y"]));
    let room = adopted([("both.yaml", both.as_str())]);
    write(&room, "both.yaml", &entry("a", &["x"]));
    write(&room, "b.yaml", &entry("b", &["y"]));
    assert_eq!(check(&room).code, 0, "an object moves to a file of its own");
    std::fs::rename(room.path().join("both.yaml"), room.path().join("a.yaml")).expect("a file");
    assert_eq!(check(&room).code, 0, "the rest is renamed");
    let stale = room.check(&["--baseline", "b.json"], &["."]).stdout;
    assert!(!stale.contains("gone"), "{stale}");
    write(&room, "copy.yaml", &entry("a", &["x"]));
    assert_eq!(check(&room).code, 1, "a copy is new");
}

#[test]
fn a_run_over_a_part_judges_only_that_part() {
    let (a, b) = (entry("a", &["x"]), entry("b", &["y"]));
    let room = adopted([("a/a.yaml", a.as_str()), ("b/b.yaml", b.as_str())]);
    let part =
        |options: &[&str]| room.check(&[&["--baseline", "b.json"], options].concat(), &["a"]);
    assert!(!part(&[]).stdout.contains("gone"));
    let before = room.read("b.json");
    for options in [
        &["--write-baseline"][..],
        &["--write-baseline", "--only", "refused"],
    ] {
        assert_eq!(part(options).code, 0);
        assert_eq!(room.read("b.json"), before, "{options:?}");
    }
}

#[test]
fn a_run_over_one_world_keeps_what_holds_in_others() {
    let misspelt = entry("a", &["x"]);
    let files = [
        ("east/a.yaml", misspelt.as_str()),
        ("west/a.yaml", &misspelt),
    ];
    let room = adopted(files);
    let before = room.read("b.json");
    let one = ["--baseline", "b.json", "--world", "east"];
    assert_eq!(room.check(&one, &["."]).code, 0);
    let answer = room.check(&[&one[..], &["--write-baseline"]].concat(), &["."]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(room.read("b.json"), before);
}

#[test]
fn paths_begin_at_the_folder_of_the_file() {
    let room = adopted([("m/a.yaml", entry("a", &["x"]).as_str())]);
    assert!(room.read("b.json").contains("\"path\":\"m/a.yaml\""));
    let answer = std::process::Command::new(env!("CARGO_BIN_EXE_egress-lint"))
        .current_dir(room.path().join("m"))
        .args(["check", "--isolated", "--baseline", "../b.json", "a.yaml"])
        .output()
        .expect("the program starts");
    assert!(answer.status.success(), "{answer:?}");
}

#[test]
fn the_configuration_may_name_the_file() {
    let entry = entry("a", &["x"]);
    let config = "version: 1\nbaseline: known/b.json\n";
    let room = Room::new([
        ("egress-lint.yaml", config),
        ("m/a.yaml", entry.as_str()),
        ("known/x", ""),
    ]);
    let absent = room.check(&["--format", "concise"], &["."]);
    assert_eq!(absent.code, 2);
    let place = "egress-lint.yaml:2:11: error [config] `known/b.json` cannot be read";
    assert!(absent.stdout.contains(place), "{absent:?}");
    assert_eq!(room.check(&["--write-baseline"], &["."]).code, 0);
    assert!(
        room.read("known/b.json")
            .contains("\"path\":\"../m/a.yaml\"")
    );
    assert_eq!(room.check(&[], &["."]).code, 0);
    let isolated = room.run(&["check", "--isolated", "--write-baseline", "."]);
    assert!(isolated.stderr.contains("--baseline FILE"), "{isolated:?}");
    write(
        &room,
        "egress-lint.yaml",
        "version: 1\nbaseline: ../b.json\n",
    );
    let outside = room.check(&["--format", "concise"], &["."]);
    assert!(
        outside
            .stdout
            .contains("does not lie below the folder of this file")
    );
}

#[test]
fn silenced_findings_need_no_place_in_it() {
    let silenced = entry("a", &["x"]).replace("x: 1", "x: 1 # egress-lint: ignore[unknown-field]");
    let room = adopted([("a.yaml", silenced.as_str())]);
    assert!(room.read("b.json").contains("\"findings\": []"));
    let listed = room.check(
        &[
            "--baseline",
            "b.json",
            "--show-suppressed",
            "--format",
            "json",
        ],
        &["."],
    );
    let by = &listed.json()["diagnostics"][0]["suppressed"]["by"];
    assert_eq!(by, "comment");
}

#[test]
fn accepted_findings_are_shown_on_demand() {
    let room = adopted([("a.yaml", entry("a", &["x"]).as_str())]);
    let listed = room.check(
        &[
            "--baseline",
            "b.json",
            "--show-suppressed",
            "--format",
            "json",
        ],
        &["."],
    );
    let by = &listed.json()["diagnostics"][0]["suppressed"]["by"];
    assert_eq!((listed.code, by.as_str()), (0, Some("baseline")));
}

#[test]
fn fixes_leave_alone_what_is_accepted() {
    let misspelt = |name| entry(name, &[]).replace("resolution", "resolutoin");
    let room = adopted([("a.yaml", misspelt("a").as_str())]);
    write(&room, "new.yaml", &misspelt("new"));
    let before = room.read("a.yaml");
    let answer = room.check(&["--baseline", "b.json", "--fix=unsafe"], &["."]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(room.read("a.yaml"), before);
    assert_eq!(room.read("new.yaml"), entry("new", &[]));
}

#[test]
fn what_makes_a_run_worthless_is_never_accepted() {
    let room = Room::new([("a.yaml", "# istio.io\na: [\n")]);
    let answer = room.check(&["--baseline", "b.json", "--write-baseline"], &["."]);
    assert_eq!(answer.code, 2);
    assert!(room.read("b.json").contains("\"findings\": []"));
}

#[test]
fn a_baseline_that_cannot_be_read_is_no_baseline() {
    let room = Room::new([("a.yaml", entry("a", &["x"]).as_str())]);
    let answer = check(&room);
    assert_eq!(answer.code, 2);
    assert!(
        answer.stderr.contains("`b.json` cannot be read"),
        "{answer:?}"
    );
    for (text, place) in [
        ("", "b.json:1:1"),
        (
            "{\"schema\": 1, \"findings\": [{\"file\": \"a\"}]}",
            "b.json:1:29",
        ),
        ("{\n<<<<<<< ours\n  \"schema\": 1,\n=======\n", "b.json:"),
    ] {
        write(&room, "b.json", text);
        for options in [&[][..], &["--write-baseline"]] {
            if text.is_empty() && !options.is_empty() {
                continue;
            }
            let all = [&["--baseline", "b.json", "--format", "concise"], options].concat();
            let answer = room.check(&all, &["."]);
            assert_eq!(answer.code, 2, "{text} {answer:?}");
            assert!(answer.stdout.contains(place), "{text} {answer:?}");
            assert!(answer.stdout.contains("a.yaml:8:3"), "{text} {answer:?}");
            assert_eq!(room.read("b.json"), text);
        }
    }
}

#[test]
fn a_file_that_cannot_be_written_is_told() {
    let room = Room::new([("a.yaml", entry("a", &["x"]).as_str())]);
    let answer = room.check(&["--baseline", "none/b.json", "--write-baseline"], &["."]);
    assert_eq!(answer.code, 2);
    let told = "error: `none/b.json` cannot be written: ";
    assert!(answer.stderr.contains(told), "{answer:?}");
}

#[test]
fn the_file_obeys_its_schema() {
    let room = adopted([("a.yaml", entry("a", &["x"]).as_str())]);
    let schema = room.run(&["schema", "baseline"]).json();
    let file = serde_json::from_str(&room.read("b.json")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    assert!(validator.is_valid(&file));
}
