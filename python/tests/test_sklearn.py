"""The estimators in scikit-learn: its checks, pipelines, searches."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import isinglass
from isinglass import BoltzmannClassifier, BoltzmannMachine, ConvergenceWarning, Imputer

ESTIMATORS = [BoltzmannMachine, BoltzmannClassifier, Imputer]


# The data of the checks have any numbers, so that cells above 0 become 1.
@pytest.mark.parametrize("hidden", [0, 2])
@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.filterwarnings("ignore")
def test_checks_of_scikit_learn(kind, hidden):
    results = check_estimator(kind(hidden, binarize=0.0), on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}


def causes(error: BaseException | None):
    while error is not None:
        yield str(error)
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize(
    "estimator", [BoltzmannMachine(), BoltzmannMachine(2), BoltzmannClassifier(), Imputer()], ids=repr
)
@pytest.mark.filterwarnings("ignore")
def test_without_a_threshold_the_checks_fail_by_their_data_alone(estimator):
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    assert sum(result["status"] == "passed" for result in results) >= 15
    for result in results:
        if result["status"] == "failed":
            assert any("expected -1 or +1, or 0 or 1" in text for text in causes(result["exception"])), result


@pytest.fixture
def frame(votes) -> pd.DataFrame:
    return pd.DataFrame(votes, columns=list("abcdef"))


def test_methods_do_not_mind_the_order_of_rows(frame):
    whole = frame.fillna(1)
    inputs = whole[list("abcde")]
    model = BoltzmannClassifier(2, l2=0.05, random_state=0).fit(inputs, whole["f"])
    density = BoltzmannMachine(2, l2=0.05, random_state=0).fit(inputs)
    order = np.random.default_rng(0).permutation(len(inputs))
    for ask in (model.predict, model.predict_proba, density.transform, density.score_samples):
        assert ask(inputs.iloc[order]).tolist() == ask(inputs)[order].tolist()
        single = np.concatenate([ask(inputs.iloc[[k]]) for k in range(10)])
        assert single.tolist() == ask(inputs)[:10].tolist()


def test_a_search_over_hidden_units_with_missing_cells(frame):
    model = BoltzmannMachine(visible_links="none", l2=0.02, random_state=0)
    search = GridSearchCV(model, {"hidden": [0, 1, 2]}, cv=4).fit(frame)
    # The rows were generated with one hidden variable.
    assert search.best_params_["hidden"] >= 1
    scores = search.cv_results_["mean_test_score"]
    assert scores[1] > scores[0] + 0.4
    assert search.best_estimator_.machine_.names[:6] == tuple("abcdef")


def test_cross_validation(frame):
    whole = frame.fillna(1)
    inputs, output = whole[list("abcde")], whole["f"]
    assert cross_val_score(BoltzmannMachine(l2=0.01), frame, cv=3).shape == (3,)
    model = BoltzmannClassifier(l2=0.01)
    assert is_classifier(model) and not is_classifier(BoltzmannMachine()) and not is_classifier(Imputer())
    # The log-likelihood of the outputs is above that of a guess; other scores have names.
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
    last = make_pipeline(Imputer(l2=0.01), BoltzmannClassifier(l2=0.01))
    scores = cross_val_score(last, frame[list("abcde")], frame["f"].fillna(1), scoring="accuracy")
    assert scores.mean() > 0.6
    line.set_output(transform="pandas")
    assert list(line[:2].fit_transform(frame).columns) == ["h1", "h2"]


def test_every_setting_is_a_parameter_to_search(frame):
    whole = frame.fillna(1)
    grid = {"optimizer": ["lbfgs", "momentum"], "l2": [0.01, 0.1], "tolerance": [1e-3]}
    search = GridSearchCV(BoltzmannMachine(), grid, cv=3).fit(frame)
    assert set(search.best_params_) == set(grid)
    grid = {
        "classifier__learner": ["contrastive-divergence"],
        "classifier__batch": [20, 50],
        "imputer__fill": ["state"],
    }
    line = Pipeline([("imputer", Imputer()), ("classifier", BoltzmannClassifier(iterations=3, random_state=0))])
    search = GridSearchCV(line, grid, cv=3, scoring="accuracy").fit(frame[list("abcde")], whole["f"])
    assert search.best_estimator_["classifier"].result_.learner == "contrastive-divergence"
    # None is the default of each learner and engine, so that a fit is that of the function.
    for kind in ESTIMATORS:
        parameters = kind().get_params()
        assert next(iter(inspect.signature(kind).parameters)) == "hidden" and len(parameters) > 40
        assert all(getattr(kind(**{name: value}), name) is value for name, value in parameters.items())
        keywords = {name: value for name, value in parameters.items() if name not in kind.__annotations__}
        for name in ("binarize", "random_state"):
            del keywords[name]
        isinglass.fit(whole, **keywords)


def test_clones_have_the_parameters_alone(frame):
    links = [(0, 1), (1, 2)]
    model = BoltzmannMachine(1, visible_links=links, optimizer="cg", random_state=3).fit(frame)
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
