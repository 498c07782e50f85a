//! Laws that hold for any data.

use eyot::{Features, IsolationMapParams, NONE, Partition, PointsBuf, Run};
use proptest::prelude::*;

/// Small integers: exact sums, many ties, many duplicates.
fn lattice() -> impl Strategy<Value = (PointsBuf, usize, usize)> {
    (2usize..40, 1usize..6, 1usize..12).prop_flat_map(|(n, d, psi)| {
        prop::collection::vec(-3i8..=3, n * d).prop_map(move |values| {
            let values = values.into_iter().map(f64::from).collect();
            (PointsBuf::from_dense(values, d).unwrap(), d, psi.max(2))
        })
    })
}

fn partitions() -> impl Strategy<Value = Partition> {
    prop_oneof![Just(Partition::Voronoi), Just(Partition::Tree), Just(Partition::Sphere)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_kernel_is_symmetric_bounded_and_the_product_of_features((points, _, psi) in lattice(), partition in partitions()) {
        let params = IsolationMapParams::default().partition(partition).psi(psi).t(9).check().unwrap();
        let map = params.fit(points.as_points(), Run::single()).unwrap();
        let codes = map.encode(points.as_points(), Run::single()).unwrap();
        for x in codes.rows() {
            prop_assert!(x.cells().all(|cell| (cell as usize) < map.psi() || (cell == NONE && partition.has_gaps())));
            let own = x.similarity(x);
            prop_assert!(own <= 1.0 && (partition.has_gaps() || own == 1.0));
            for y in codes.rows() {
                let k = x.similarity(y);
                prop_assert!((0.0..=1.0).contains(&k) && k == y.similarity(x));
                let mut expanded = vec![0.0; codes.n_features()];
                for feature in y.features() {
                    expanded[feature] = 1.0;
                }
                prop_assert_eq!(x.dot(&expanded) / 9.0, k);
            }
        }
    }

    #[test]
    fn scaling_by_a_power_of_two_changes_no_code((points, d, psi) in lattice(), partition in partitions(), power in -20i32..20) {
        let scale = 2f64.powi(power);
        let scaled: Vec<f64> = points.as_points().rows().flat_map(|row| (0..d).map(move |k| row.get(k) * scale)).collect();
        let scaled = PointsBuf::from_dense(scaled, d).unwrap();
        let params = IsolationMapParams::default().partition(partition).psi(psi).t(9).check().unwrap();
        let encode = |points: &PointsBuf| {
            let map = params.fit(points.as_points(), Run::single()).unwrap();
            map.encode(points.as_points(), Run::single()).unwrap()
        };
        prop_assert_eq!(encode(&points), encode(&scaled));
    }

    #[test]
    fn reversing_the_columns_changes_no_distance_based_code((points, d, psi) in lattice(), sphere in any::<bool>()) {
        let reversed: Vec<f64> = points.as_points().rows().flat_map(|row| (0..d).rev().map(move |k| row.get(k))).collect();
        let reversed = PointsBuf::from_dense(reversed, d).unwrap();
        let partition = if sphere { Partition::Sphere } else { Partition::Voronoi };
        let params = IsolationMapParams::default().partition(partition).psi(psi).t(9).check().unwrap();
        let encode = |points: &PointsBuf| {
            let map = params.fit(points.as_points(), Run::single()).unwrap();
            map.encode(points.as_points(), Run::single()).unwrap()
        };
        prop_assert_eq!(encode(&points), encode(&reversed));
    }
}
