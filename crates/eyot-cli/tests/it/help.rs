//! What the program says about itself.

use crate::program::Room;

#[test]
fn help_of_every_command_is_as_reviewed() {
    let room = Room::new();
    for command in
        ["", "completions", "demo", "detect", "inspect", "man", "map", "mil", "predict", "reproduce", "stream", "train"]
    {
        let name = if command.is_empty() { "eyot" } else { command };
        insta::assert_snapshot!(format!("help-{name}"), room.eyot(&format!("{command} --help")).text());
    }
}

#[test]
fn no_command_and_unknown_options_are_wrong_usage() {
    let room = Room::new();
    let usage = ["", "nonsense", "inspect", "inspect --nonsense m.eyot", "completions nonsense", "man nonsense"];
    insta::assert_snapshot!("wrong-usage", room.refusals(&usage));
}

#[test]
fn completions_exist_for_every_shell() {
    let room = Room::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(room.eyot(&format!("completions {shell}")).text().contains("inspect"));
    }
}

#[test]
fn manual_pages_exist_for_every_command() {
    let room = Room::new();
    assert!(room.eyot("man").text().contains("eyot\\-inspect(1)"));
    assert!(room.eyot("man inspect").text().contains("EXAMPLES"));
}
