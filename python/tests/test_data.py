"""Kinds of data: the same values give the same model, whatever holds them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy import sparse

import eyot


def test_all_holders_of_the_same_numbers_give_the_same_model(numbers):
    names = ["a", "b", "c"]
    fit = lambda X: eyot.IDKDetector(max_samples=8, random_state=0).fit(X)
    expected = fit(numbers).to_bytes()
    for same in (np.asfortranarray(numbers), numbers[::-1][::-1], numbers.tolist(), np.array(numbers, dtype=object)):
        assert fit(same).to_bytes() == expected
    frame = pd.DataFrame(numbers, columns=names)
    named = fit(frame).to_bytes()
    table = pa.table({name: numbers[:, i] for i, name in enumerate(names)})
    for same in (pl.DataFrame(numbers, schema=names), table, table.to_batches()[0]):
        detector = fit(same)
        assert detector.to_bytes() == named and list(detector.feature_names_in_) == names
        assert np.array_equal(detector.score_samples(same), detector.score_samples(frame))


def test_integers_and_single_precision(numbers):
    whole = (10 * numbers).astype(np.int32)
    fit = lambda X: eyot.IsolationKernel(max_samples=8, random_state=0).fit(X)
    assert fit(whole).to_bytes() == fit(whole.astype(float)).to_bytes()
    single = numbers.astype(np.float32)
    assert np.array_equal(fit(single).encode(single), fit(single.astype(float)).encode(single.astype(float)))


def test_sparse_and_dense_rows_of_the_same_values_have_the_same_scores():
    X = sparse.random(300, 20, density=0.2, random_state=0, format="csr")
    dense = eyot.IDKDetector(max_samples=16, random_state=0).fit(X.toarray())
    thin = eyot.IDKDetector(max_samples=16, random_state=0).fit(X)
    for other in (X, X.tocoo(), X.tocsc(), X.toarray()):
        assert np.array_equal(thin.score_samples(other), dense.score_samples(X.toarray()))
    shuffled = X.copy()
    shuffled.indices = shuffled.indices[::-1].copy()
    shuffled.data = shuffled.data[::-1].copy()
    shuffled.indptr = X.nnz - X.indptr[::-1]
    shuffled.has_sorted_indices = False
    assert eyot.IDKDetector(max_samples=16, random_state=0).fit(shuffled).decision_scores_.shape == (300,)
    assert thin.explain(X[:3]).shape == (3, 20)


def test_a_million_sparse_columns_are_comfortable():
    rng = np.random.default_rng(0)
    rows, columns = np.repeat(np.arange(200), 50), rng.integers(0, 1_000_000, 200 * 50)
    X = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(200, 1_000_000))
    labels = np.arange(200) % 2
    X = X + sparse.csr_matrix((5.0 * labels, (np.arange(200), np.full(200, 7))), shape=X.shape)
    assert eyot.IKOnlineClassifier(partition="tree", max_samples=16).fit(X, labels).predict(X).shape == (200,)
    assert eyot.IDKDetector(max_samples=16).fit(X.tocsr()).score_samples(X.tocsr()[:5]).shape == (5,)


def test_text_columns_of_any_frame(orders):
    fit = lambda X: eyot.IDKDetector(random_state=0).fit(X)
    expected = fit(orders)
    assert list(expected.feature_names_in_) == ["amount", "items", "country", "express"]
    same = [orders.astype({"country": "category"}), pl.from_pandas(orders), pa.Table.from_pandas(orders)]
    for frame in same:
        assert fit(frame).to_bytes() == expected.to_bytes()
        assert np.array_equal(expected.score_samples(frame), expected.score_samples(orders))
    assert expected.explain(orders.iloc[[0]]).loc[0].idxmax() == "amount"
    unseen = orders.iloc[[5]].assign(country="XX")
    with pytest.warns(UserWarning, match="1 cell with text that is not in the training data"):
        expected.score_samples(unseen)


def test_instants_are_the_same_in_every_unit_and_holder(orders, tmp_path, program):
    days = pd.date_range("2026-01-01", periods=len(orders), freq="7h")
    frames = {unit: orders.assign(when=days.as_unit(unit)) for unit in ("s", "ms", "us", "ns")}
    detector = eyot.IDKDetector(random_state=0).fit(frames["us"])
    for frame in frames.values():
        for same in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
            assert np.array_equal(detector.score_samples(same), -detector.decision_scores_)
    detector.save(tmp_path / "m.eyot")
    pa.parquet.write_table(pa.Table.from_pandas(frames["ns"]), tmp_path / "ns.parquet")
    lines = program("predict", tmp_path / "m.eyot", tmp_path / "ns.parquet", "-q").splitlines()[1:]
    assert [float(line.split(",")[1]) for line in lines] == detector.decision_scores_.tolist()


def test_missing_values_are_filled_in_if_asked_for(orders):
    holes = orders.astype({"country": object})
    holes.loc[3, "amount"] = np.nan
    holes.loc[4, "country"] = None
    with pytest.raises(ValueError, match="row 4, column `amount`: the value is missing"):
        eyot.IDKDetector().fit(holes)
    with pytest.warns(UserWarning, match="2 missing values filled in"):
        detector = eyot.IDKDetector(missing="impute", random_state=0).fit(holes)
    filled = holes.fillna({"amount": orders["amount"].drop(3).median(), "country": orders["country"].drop(4).mode()[0]})
    assert np.array_equal(detector.score_samples(filled), -detector.decision_scores_)


def test_identifiers_are_left_out_with_a_note(orders):
    with pytest.warns(UserWarning, match="left out `order_id`"):
        detector = eyot.IDKDetector(random_state=0).fit(orders.assign(order_id=np.arange(1000, 1300)))
    assert detector.explain(orders.assign(order_id=7))["order_id"].eq(0).all()


def test_labels_of_any_kind():
    X = np.r_[np.random.default_rng(0).normal(size=(40, 2)), np.random.default_rng(1).normal(size=(40, 2)) + 5]
    for labels in (["no", "yes"], [False, True], [-1, 1], [2.0, 3.0], ["9", "10"], ["10", "9"]):
        y = np.repeat(np.array(labels), 40)
        for model in (eyot.IKClassifier(max_samples=8), eyot.IKOnlineClassifier(max_samples=8)):
            model.fit(X, y)
            assert (model.predict(X) == y).mean() > 0.95 and list(model.classes_) == sorted(labels)
            assert np.array_equal(model.classes_[(model.decision_function(X) > 0).astype(int)], model.predict(X))


def test_bags_of_every_form():
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(rng.integers(2, 6), 3)) + 3 * (i % 2) for i in range(20)]
    y = np.arange(20) % 2
    rows, sizes = np.vstack(bags), [len(bag) for bag in bags]
    ids, offsets = np.repeat(np.arange(20) + 100, sizes), np.r_[0, np.cumsum(sizes)]
    make = lambda: eyot.ISKClassifier(max_samples=16, epsilon=1.0, C=10.0, scale="minmax", random_state=0)
    expected = make().fit(bags, y).decision_function(bags)
    assert np.array_equal(make().fit(rows, y, bags=ids).decision_function(rows, bags=ids), expected)
    assert np.array_equal(make().fit(rows, y, offsets=offsets).decision_function(rows, offsets=offsets), expected)
    frames = [pd.DataFrame(bag, columns=["a", "b", "c"]) for bag in bags]
    assert np.array_equal(make().fit(frames, y).decision_function(frames), expected)
    thin = [sparse.csr_matrix(bag) for bag in bags]
    assert make().fit(thin, y).predict(thin).shape == (20,)
    model = make().fit(bags, y)
    assert model.instance_scores(bags).shape == (len(rows),)
    groups = eyot.GroupDetector(random_state=0).fit(bags)
    assert np.array_equal(groups.decision_scores_, -groups.score_samples(rows, bags=ids))
    assert np.array_equal(groups.fit_predict(bags), groups.predict(rows, offsets=offsets))


def test_bags_of_ids_keep_the_order_of_appearance():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2))
    ids = np.array(["z", "a", "m"] * 20)
    order = np.argsort([["z", "a", "m"].index(i) for i in ids], kind="stable")
    detector = eyot.GroupDetector(max_samples=4, random_state=0).fit(rows, bags=ids)
    expected = -detector.score_samples(rows[order], offsets=[0, 20, 40, 60])
    assert np.allclose(detector.decision_scores_, expected)
