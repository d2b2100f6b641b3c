"""The estimators among those of scikit-learn: its own checks, pipelines, searches."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from isinglass import BoltzmannMachine, ConvergenceWarning, Imputer

# The checks bring numbers of all sizes, so cells above 0 are taken as 1. What is not passed then, and why.
NEEDS_OUTPUTS = (
    "after a fit with y, score_samples is that of the outputs given the inputs, and is not to be had without y"
)
LEAVES_OUT = "fit_transform learns from X alone, so that y of a pipeline may be anything; fit with y does not"
EXCEPTIONS = {
    "check_methods_sample_order_invariance": NEEDS_OUTPUTS,
    "check_methods_subset_invariance": NEEDS_OUTPUTS,
}
EXCEPTIONS_WITH_HIDDEN = {
    **EXCEPTIONS,
    "check_transformer_data_not_an_array": LEAVES_OUT,
    "check_transformer_general": LEAVES_OUT,
}


@pytest.mark.parametrize(
    ("estimator", "exceptions"),
    [
        (BoltzmannMachine(binarize=0.0), EXCEPTIONS),
        (BoltzmannMachine(2, binarize=0.0), EXCEPTIONS_WITH_HIDDEN),
        (Imputer(binarize=0.0), {}),
        (Imputer(1, binarize=0.0), {}),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore")
def test_checks_of_scikit_learn(estimator, exceptions):
    results = check_estimator(estimator, expected_failed_checks=exceptions, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "xfail"}
    # An exception that is none any more is to be struck off.
    assert failed == set(exceptions)


def causes(error: BaseException | None):
    while error is not None:
        yield str(error)
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("estimator", [BoltzmannMachine(), BoltzmannMachine(2), Imputer()], ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_without_a_threshold_the_checks_fail_by_their_data_alone(estimator):
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    assert sum(result["status"] == "passed" for result in results) >= 15
    for result in results:
        if result["status"] == "failed" and result["check_name"] not in EXCEPTIONS_WITH_HIDDEN:
            assert any("expected -1 or +1, or 0 or 1" in text for text in causes(result["exception"])), result


@pytest.fixture
def frame(votes) -> pd.DataFrame:
    return pd.DataFrame(votes, columns=list("abcdef"))


def test_methods_do_not_mind_the_order_of_rows(frame):
    whole = frame.fillna(1)
    model = BoltzmannMachine(2, l2=0.05, random_state=0).fit(whole[list("abcde")], whole["f"])
    inputs = whole[list("abcde")]
    order = np.random.default_rng(0).permutation(len(inputs))
    for ask in (model.predict, model.predict_proba, model.transform):
        assert ask(inputs.iloc[order]).tolist() == ask(inputs)[order].tolist()
        single = np.concatenate([ask(inputs.iloc[[k]]) for k in range(10)])
        assert single.tolist() == ask(inputs)[:10].tolist()


def test_a_search_over_hidden_units_with_missing_cells(frame):
    model = BoltzmannMachine(visible_links="none", l2=0.02, random_state=0)
    search = GridSearchCV(model, {"hidden": [0, 1, 2]}, cv=4).fit(frame)
    # One hidden cause made the rows.
    assert search.best_params_["hidden"] >= 1
    scores = search.cv_results_["mean_test_score"]
    assert scores[1] > scores[0] + 0.4
    assert search.best_estimator_.machine_.names[:6] == tuple("abcdef")


def test_cross_validation(frame):
    whole = frame.fillna(1)
    inputs, output = whole[list("abcde")], whole["f"]
    model = BoltzmannMachine(l2=0.01)
    assert is_classifier(model)
    assert cross_val_score(model, frame, cv=3).shape == (3,)
    # Log-likelihoods of the outputs are below 0 and above those of a guess; other scores go by their names.
    assert (cross_val_score(model, inputs, output) > -np.log(2)).all()
    for scoring in ("accuracy", "roc_auc", "balanced_accuracy"):
        assert cross_val_score(model, inputs, output, scoring=scoring).mean() > 0.6
    loss = cross_val_score(model, inputs, output, scoring="neg_log_loss")
    assert loss == pytest.approx(cross_val_score(model, inputs, output), abs=1e-9)
    assert cross_val_predict(model, inputs, output, method="predict_proba").shape == (200, 2)


def test_pipelines(frame):
    labels = np.random.default_rng(0).integers(0, 3, len(frame))
    line = make_pipeline(Imputer(l2=0.01), BoltzmannMachine(2, l2=0.05, random_state=0), LogisticRegression())
    line.fit(frame, labels)
    assert line.predict(frame).shape == (200,) and line[:2].transform(frame).shape == (200, 2)
    assert line[:2].get_feature_names_out().tolist() == ["h1", "h2"]
    last = make_pipeline(Imputer(l2=0.01), BoltzmannMachine(l2=0.01))
    scores = cross_val_score(last, frame[list("abcde")], frame["f"].fillna(1), scoring="accuracy")
    assert scores.mean() > 0.6
    line.set_output(transform="pandas")
    assert list(line[:2].fit_transform(frame).columns) == ["h1", "h2"]


def test_clones_have_the_parameters_alone(frame):
    links = [(0, 1), (1, 2)]
    model = BoltzmannMachine(1, visible_links=links, options={"optimizer": "cg"}, random_state=3).fit(frame)
    twin = clone(model)
    assert twin.get_params() == model.get_params() and not hasattr(twin, "machine_")
    assert twin.fit(frame).machine_ == model.machine_
    assert model.set_params(hidden=2).get_params()["hidden"] == 2


def test_a_fit_that_did_not_converge_warns(frame):
    with pytest.warns(ConvergenceWarning, match="not converged"):
        BoltzmannMachine(iterations=1).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BoltzmannMachine(l2=0.01).fit(frame)
