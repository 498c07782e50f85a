//! A fit is one pass over a stream, in any chunks and on any shards.

use eyot::{
    Component, IsolationMap, IsolationMapParams, ModelWriter, Partition, Persist, PointsBuf, Run, Sampler, extent,
    rng_of,
};

fn bytes(map: &IsolationMap) -> Vec<u8> {
    let mut out = ModelWriter::new("map");
    map.save(&mut out, "map");
    out.finish().unwrap()
}

#[test]
fn one_two_and_seven_shards_give_the_bytes_of_the_plain_fit() {
    let mut rng = rng_of(5, Component::Synthetic, 0);
    let data = PointsBuf::from_dense((0..4321 * 3).map(|_| rng.normal()).collect(), 3).unwrap();
    for partition in [Partition::Voronoi, Partition::Tree, Partition::Sphere] {
        let params = IsolationMapParams::default().partition(partition).psi(32).t(20).check().unwrap();
        let whole = bytes(&params.fit(data.as_points(), Run::threads(2)).unwrap());
        for shards in [1, 2, 7] {
            let mut parts: Vec<Sampler> = (0..shards).map(|_| params.sampler()).collect();
            for (chunk, first) in (0..4321).step_by(100).enumerate() {
                let rows = 100.min(4321 - first);
                parts[chunk % shards].offer(first, rows, Run::single()).unwrap();
            }
            let mut merged = parts.pop().unwrap();
            for part in &parts {
                merged.merge(part).unwrap();
            }
            merged.compact();
            let rows = merged.rows();
            let kept = data.select(&rows.iter().map(|&row| row as usize).collect::<Vec<_>>());
            let map =
                params.fit_sample(&merged.finish(), &rows, kept, extent(data.as_points()), Run::single()).unwrap();
            assert_eq!(bytes(&map), whole, "{partition:?} from {shards} shards");
        }
    }
}
