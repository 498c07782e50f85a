//! Numbers pinned for ever: the same data, parameters and seed must give these codes in every later version.
//! `cargo xtask bless` rewrites the file; a change in it is a breaking change and belongs into the changelog's Numbers.

use std::fmt::Write as _;
use std::path::Path;

use eyot::{
    BallRule, Component, Distance, IsolationMapParams, NONE, Partition, PointsBuf, Radii, RowKeys, Run, rng_of,
};

fn data() -> PointsBuf {
    let mut rng = rng_of(0, Component::Synthetic, 0);
    let values = (0..500 * 4).map(|_| if rng.below(4) == 0 { 0.0 } else { rng.normal() });
    PointsBuf::from_dense(values.collect(), 4).unwrap()
}

fn current() -> String {
    let mut text = String::new();
    let mut rng = rng_of(0, Component::Tree, 3);
    let _ = writeln!(text, "tree stream 3: {:x} {:x} {}", rng.next_u64(), rng.next_u64(), rng.below(1000));
    let _ = writeln!(text, "open01 and normal: {} {}", rng.open01(), rng.normal());
    let keys = RowKeys::new(7, 2);
    let _ = writeln!(text, "row keys: {:x} {:x} {:x}", keys.key(0), keys.key(1), keys.key(u64::MAX));
    let base = IsolationMapParams::default().psi(32).t(12).seed(1);
    let sphere = base.clone().partition(Partition::Sphere);
    let maps = [
        ("voronoi", base.clone()),
        ("voronoi text", base.clone().distance(Distance::Text)),
        ("tree", base.clone().partition(Partition::Tree)),
        ("tree of height 4", base.partition(Partition::Tree).max_height(Some(4))),
        ("sphere", sphere.clone()),
        ("sphere cover plain", sphere.rule(BallRule::Cover).radii(Radii::Plain)),
    ];
    let points = data();
    for (name, params) in maps {
        let map = params.check().unwrap().fit(points.as_points(), Run::single()).unwrap();
        let codes = map.encode(points.as_points(), Run::single()).unwrap();
        let _ = writeln!(text, "{name}: {} ones", codes.nonzeros());
        for row in (0..500).step_by(50) {
            let cells: Vec<String> =
                codes.row(row).cells().map(|cell| if cell == NONE { "-".into() } else { cell.to_string() }).collect();
            let _ = writeln!(text, "  {}", cells.join(" "));
        }
    }
    text
}

#[test]
fn codes_are_those_of_the_golden_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/codes.txt");
    if std::env::var_os("EYOT_BLESS").is_some() {
        std::fs::write(&path, current()).unwrap();
    }
    assert_eq!(current(), std::fs::read_to_string(&path).unwrap());
}
