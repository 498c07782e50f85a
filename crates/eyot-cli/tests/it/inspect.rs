//! `eyot inspect` and the refusal of files that are not whole models.

use crate::program::Room;

#[test]
fn what_is_not_a_model_is_refused_with_one_sentence() {
    let room = Room::new();
    room.write("empty.eyot", "");
    room.write("text.eyot", "sepal,petal\n1,2\n3,4\n");
    let commands = ["inspect empty.eyot", "inspect text.eyot", "inspect absent.eyot", "inspect ."];
    insta::assert_snapshot!("not-a-model", room.refusals(&commands));
}
