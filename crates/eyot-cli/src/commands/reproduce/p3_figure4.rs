//! Paper 3, Figure 4: K_I sees points at the fringe of clusters and small clusters of anomalies, the one-class SVM does not.

use eyot::{Component, Detector as _, Idk, IsolationMapParams, OneClassSvm, Partition, PointsBuf, Rng, rng_of};
use eyot_io::plot::LineChart;

use super::lab::Lab;
use super::results::Ours;
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "p3-figure4",
    title: "similarity of K_I and of the one-class SVM on three clusters and a small one (Figure 4)",
    measure: Measure::shown("mean similarity, the largest being 1", 3),
    run,
};

/// Mean and width of the clusters, 500 points each, and of the 20 anomalies.
const CLUSTERS: [(f64, f64); 3] = [(0.0, 0.25), (4.0, 0.5), (9.0, 1.0)];
const ANOMALIES: (f64, f64) = (16.0, 0.1);
const PSI: usize = 16;
const T: usize = 1000;
/// Bandwidth of the SVM on columns scaled to 0…1.
const SIGMA: f64 = 0.0625;
/// Places at which the curves are drawn.
const PLACES: usize = 300;

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let names = [
        "cluster 1, fringe",
        "cluster 2, fringe",
        "cluster 3, fringe",
        "middles of the clusters",
        "clustered anomalies",
    ];
    let mut measured = None;
    let mut means = [[0.0; 5]; 2];
    let mut chart = LineChart::new("Similarity on a line with three clusters and one of anomalies")
        .x("x, scaled to 0…1")
        .y("similarity");
    for (method, name) in ["K_I", "one-class SVM"].into_iter().enumerate() {
        for (group, row) in names.into_iter().enumerate() {
            let ours = lab.cell(row, name, None, |lab| {
                if measured.is_none() {
                    measured = Some(lab.seeds(10, 2).map(|seed| measure(lab, seed)).collect::<anyhow::Result<Vec<_>>>()?);
                }
                let runs = measured.as_deref().unwrap_or_default();
                let ours = Ours::of(runs.iter().map(|run| run.groups[method][group]).collect());
                // The last cell of a method has its curve.
                Ok(if group == 4 { ours.drawn(runs[0].curves[method].iter().copied()) } else { ours })
            })?;
            means[method][group] = ours.mean();
            if group == 4 {
                chart = chart.series(name, &ours.curve);
            }
        }
    }
    lab.figure("p3-figure4", chart.level(0.25, "0.25").level(0.75, "0.75").size(640.0, 320.0).figure());
    let [ours, svm] = means;
    lab.claim_on_stand_in(
        "K_I finds the points around all three clusters, whatever their width (similarity below 0.75), and gives the clustered \
         anomalies less than 0.25",
        ours[..3].iter().all(|&fringe| fringe < 0.75) && ours[4] < 0.25,
        format!("fringes have {:.2}, {:.2} and {:.2}, the anomalies {:.2}", ours[0], ours[1], ours[2], ours[4]),
    );
    lab.claim_on_stand_in(
        "the one-class SVM does not find all points around clusters, for they are nearly as similar as the middles",
        svm[..3].iter().any(|&fringe| fringe > 0.75),
        format!("fringes have {:.2}, {:.2} and {:.2}, middles {:.2}", svm[0], svm[1], svm[2], svm[3]),
    );
    lab.claim_on_stand_in(
        "the one-class SVM gives the clustered anomalies higher similarities than many points at the fringe of clusters",
        svm[..3].iter().any(|&fringe| fringe < svm[4]),
        format!("the anomalies have {:.2} in the mean, on data and with a bandwidth of our own", svm[4]),
    );
    lab.note(format!(
        "Generated: 500 points each from Gaussians at 0, 4 and 9 of width 0.25, 0.5 and 1, and 20 anomalies at 16 of width \
         0.1; the paper does not print its numbers. A fringe is the outer fiftieth of a cluster to either side, a middle its \
         inner tenth. K_I: psi = {PSI}, t = {T}; SVM: nu = 0.5, bandwidth {SIGMA}; both scaled so that the largest similarity of the data is 1 \
         (and the smallest 0 for the SVM)."
    ));
    Ok(())
}

/// One run: of both methods the mean similarity of every group, and the curve.
struct Measured {
    groups: [Vec<f64>; 2],
    curves: [Vec<[f64; 2]>; 2],
}

fn measure(lab: &Lab<'_>, seed: u64) -> anyhow::Result<Measured> {
    let mut rng = rng_of(seed, Component::Synthetic, 12);
    let around = |rng: &mut Rng, (mean, width): (f64, f64)| mean + width * rng.normal();
    let mut values: Vec<f64> = CLUSTERS.iter().flat_map(|&cluster| vec![cluster; 500]).map(|cluster| around(&mut rng, cluster)).collect();
    values.extend((0..20).map(|_| around(&mut rng, ANOMALIES)));
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
    for x in &mut values {
        *x = (*x - low) / (high - low);
    }
    let data = PointsBuf::from_dense(values.clone(), 1)?;
    let places: Vec<f64> = (0..PLACES).map(|i| i as f64 / (PLACES - 1) as f64).collect();
    let line = PointsBuf::from_dense(places.clone(), 1)?;

    let map = IsolationMapParams::default().partition(Partition::Sphere).psi(PSI).t(T).seed(seed).check()?;
    let idk = Idk::fit(&map, data.as_points(), lab.run())?;
    let svm = OneClassSvm::fit(Some(SIGMA), 0.5, seed, data.as_points(), lab.run())?;
    let mut scores = [idk.score(data.as_points(), lab.run())?, svm.score(data.as_points(), lab.run())?];
    let mut drawn = [idk.score(line.as_points(), lab.run())?, svm.score(line.as_points(), lab.run())?];
    for (method, (scores, drawn)) in scores.iter_mut().zip(&mut drawn).enumerate() {
        let most = scores.iter().map(|score| -score).fold(f64::NEG_INFINITY, f64::max);
        let least = if method == 0 { 0.0 } else { scores.iter().map(|score| -score).fold(f64::INFINITY, f64::min) };
        scores.iter_mut().chain(drawn).for_each(|score| *score = (-*score - least) / (most - least));
    }
    let curves = drawn.map(|drawn| places.iter().zip(drawn).map(|(&x, y)| [x, y]).collect());
    Ok(Measured { groups: scores.map(|similarity| groups(&values, &similarity)), curves })
}

/// Mean similarity of the fringe of each cluster, of the middles, and of the anomalies.
fn groups(values: &[f64], similarity: &[f64]) -> Vec<f64> {
    let mean = |rows: &[usize]| rows.iter().map(|&row| similarity[row]).sum::<f64>() / rows.len() as f64;
    let (mut groups, mut middles) = (Vec::new(), Vec::new());
    for cluster in 0..CLUSTERS.len() {
        let mut rows: Vec<usize> = (500 * cluster..500 * (cluster + 1)).collect();
        rows.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        groups.push(mean(&[&rows[..10], &rows[490..]].concat()));
        middles.extend_from_slice(&rows[225..275]);
    }
    groups.push(mean(&middles));
    groups.push(mean(&(1500..values.len()).collect::<Vec<_>>()));
    groups
}
