//! What commands fit on raw rows before they learn anything: the encoder, and the samples of an isolation map, both in
//! one pass over data of any size.
//!
//! Which rows a map is grown from depends on their numbers alone, but how their columns are scaled is known only at
//! the end. So sampled rows are kept raw, and only as long as they are in some sample.

use anyhow::Context;
use eyot::{
    Checked, EncodeCounts, Encoder, EncoderFit, IsolationMap, IsolationMapParams, PointsBuf, Run, Sampler, Table,
};

use crate::args::DataArgs;
use crate::input::Input;
use crate::job::{Job, Phase};

/// Fits the encoder in one pass; `also` sees every batch.
pub(crate) fn fit_encoder(
    input: &mut Input,
    data: &DataArgs,
    job: &Job,
    mut also: impl FnMut(&Table) -> anyhow::Result<()>,
) -> anyhow::Result<Encoder> {
    let name = input.name().to_owned();
    let mut fit: Option<EncoderFit> = None;
    input.pass(job, "read", |table| {
        let fit = match &mut fit {
            Some(fit) => fit,
            None => fit.insert(EncoderFit::new(data.encoder_params(&name, table)?)),
        };
        job.timed(Phase::Fit, || fit.observe(table)).with_context(|| name.clone())?;
        also(table)
    })?;
    let encoder = job.timed(Phase::Fit, || fit.ok_or(eyot::Error::Empty)?.finish()).with_context(|| name.clone())?;
    encoder.notes().iter().for_each(|note| job.note(note.to_string()));
    job.detail(|| format!("{name}: {} columns encoded from {} rows", encoder.n_columns(), encoder.n_rows()));
    Ok(encoder)
}

/// Fits the encoder and the map in one pass.
pub(crate) fn fit_map(
    input: &mut Input,
    data: &DataArgs,
    params: &Checked<IsolationMapParams>,
    job: &Job,
) -> anyhow::Result<(Encoder, IsolationMap)> {
    let mut sample = RawSample::new(params);
    let encoder = fit_encoder(input, data, job, |table| {
        job.timed(Phase::Fit, || sample.offer(table, job.step()))?;
        Ok(())
    })?;
    let map = job.timed(Phase::Fit, || {
        let Sample { samples, rows, points } = sample.finish(&encoder)?;
        params.fit_sample(&samples, &rows, points, encoder.extent(), job.run())
    });
    let map = map.with_context(|| input.name().to_owned())?;
    if map.psi() < map.asked_psi() {
        job.note(format!("psi is {}, the number of rows, because there are no more", map.psi()));
    }
    if encoder.extent() == 0.0 {
        job.note("all rows are the same, so all are in the same cells");
    }
    Ok((encoder, map))
}

/// Encodes every row in one pass and hands out the points of each batch.
pub(crate) fn encode(
    input: &mut Input,
    data: &DataArgs,
    encoder: &Encoder,
    job: &Job,
    stage: &'static str,
    mut visit: impl FnMut(&Table, PointsBuf) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let name = input.name().to_owned();
    let mut counts = EncodeCounts::default();
    input.pass(job, stage, |table| {
        data.check_roles(&name, table)?;
        let points =
            job.timed(Phase::Map, || encoder.encode_counting(&data.without_roles(table, encoder), &mut counts));
        visit(table, points.with_context(|| name.clone())?)
    })?;
    counts.notes().iter().for_each(|note| job.note(note.to_string()));
    Ok(())
}

/// Raw rows of the samples of an isolation map.
struct RawSample {
    sampler: Sampler,
    /// Row numbers, ascending over all parts, and the rows themselves.
    parts: Vec<(Vec<u64>, Table)>,
    kept: usize,
    /// Rows to keep before those that have fallen out of all samples are dropped.
    limit: usize,
}

/// The samples of all partitionings.
struct Sample {
    /// Per partitioning the numbers of its rows.
    samples: Vec<Vec<u64>>,
    /// All sampled rows, ascending.
    rows: Vec<u64>,
    /// Those rows, encoded.
    points: PointsBuf,
}

impl RawSample {
    fn new(params: &Checked<IsolationMapParams>) -> Self {
        Self { sampler: params.sampler(), parts: Vec::new(), kept: 0, limit: 0 }
    }

    /// Offers the next rows.
    fn offer(&mut self, table: &Table, run: Run<'_>) -> eyot::Result<()> {
        let first = table.first_row as u64;
        self.sampler.offer(first, table.n_rows as u64, run)?;
        let rows = self.sampler.rows();
        let new = rows[rows.partition_point(|&row| row < first)..].to_vec();
        let within: Vec<usize> = new.iter().map(|&row| (row - first) as usize).collect();
        self.kept += new.len();
        self.parts.push((new, table.select(&within)));
        if self.kept > self.limit {
            self.drop_all_but(&rows);
            self.limit = 2 * self.kept;
        }
        Ok(())
    }

    /// Drops rows that are not among `rows`, which ascend.
    fn drop_all_but(&mut self, rows: &[u64]) {
        for (numbers, table) in &mut self.parts {
            let stay: Vec<usize> = (0..numbers.len()).filter(|&at| rows.binary_search(&numbers[at]).is_ok()).collect();
            if stay.len() < numbers.len() {
                *table = table.select(&stay);
                *numbers = stay.iter().map(|&at| numbers[at]).collect();
            }
        }
        self.parts.retain(|(numbers, _)| !numbers.is_empty());
        self.kept = self.parts.iter().map(|(numbers, _)| numbers.len()).sum();
    }

    /// The samples, encoded, once all rows have been offered.
    fn finish(mut self, encoder: &Encoder) -> eyot::Result<Sample> {
        self.sampler.compact();
        let rows = self.sampler.rows();
        self.drop_all_but(&rows);
        let mut points: Option<PointsBuf> = None;
        for (_, table) in &self.parts {
            let part = encoder.encode(table)?;
            let points = points.get_or_insert_with(|| PointsBuf::like(&part.as_points()));
            part.as_points().rows().for_each(|row| points.push(row));
        }
        Ok(Sample { samples: self.sampler.finish(), rows, points: points.ok_or(eyot::Error::Empty)? })
    }
}
