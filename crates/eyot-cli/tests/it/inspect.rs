//! `eyot inspect` and the refusal of files that are not whole models.

use crate::data::Data;
use crate::program::Room;

#[test]
fn what_is_not_a_model_is_refused_with_one_sentence() {
    let room = Room::new();
    room.write("empty.eyot", "");
    room.write("text.eyot", "sepal,petal\n1,2\n3,4\n");
    let commands = ["inspect empty.eyot", "inspect text.eyot", "inspect absent.eyot", "inspect ."];
    insta::assert_snapshot!("not-a-model", room.refusals(&commands));
}

#[test]
fn a_model_is_shown_for_people_and_for_programs() {
    let room = Room::new();
    room.write("data.csv", Data::new(30).csv());
    room.eyot("map data.csv --ignore label --psi 4 -t 2 --seed 7 -f map.eyot --json").done();
    let text = room.eyot("inspect map.eyot").text();
    let checksum = text.lines().find_map(|line| line.split("sha256 ").nth(1)).unwrap();
    assert!(checksum.len() == 64 && checksum.bytes().all(|digit| digit.is_ascii_hexdigit()));
    insta::assert_snapshot!("model", text.replace(checksum, "CHECKSUM"));
    let object = room.eyot("inspect map.eyot --json").json();
    assert_eq!((&object["kind"], &object["format"]), (&"map".into(), &1.into()));
    assert_eq!((&object["parameters"]["psi"], &object["parameters"]["seed"]), (&4.into(), &7.into()));
    assert_eq!((&object["trained_on"]["rows"], &object["verified"]), (&30.into(), &true.into()));
    assert_eq!(object["checksum"], checksum);
    assert_eq!(room.eyot("inspect -q map.eyot").text(), "");
}
