"""A SmoothedRegressor inside the tools of other packages, with DataFrames and with arrays."""

import numpy as np

from kit import package, parametrize

package("sklearn")
pandas = package("pandas")
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from certreg.regressor import SmoothedRegressor

random = np.random.default_rng(2)
NUMBERS = pandas.DataFrame(random.normal(size=(400, 3)), columns=["a", "b", "c"])
TABLE = NUMBERS.assign(kind=np.where(random.random(400) < 0.5, "u", "v"))
Y = pandas.Series(NUMBERS @ [1, 0.5, 0] + 2.0 * (TABLE["kind"] == "u"))
Y += 0.2 * random.normal(size=400)
ENCODER = ColumnTransformer([("kind", OneHotEncoder(handle_unknown="ignore"), ["kind"])],
                            remainder="passthrough")
PIPELINE = make_pipeline(ENCODER, RandomForestRegressor(30, random_state=0))


def smoothed(**more):
    regressor = {"sigma": 0.1, "samples": 11, "calibration": 0, **more}
    return SmoothedRegressor(PIPELINE, **regressor)


def parts():
    return train_test_split(TABLE, Y, test_size=0.5, random_state=0)


@parametrize("kind", "split", "cross")
def test_mapie(kind):
    regression = package("mapie.regression")
    x, new, y, truth = parts()
    if kind == "split":
        given = regression.SplitConformalRegressor(smoothed().fit(x[:100], y[:100]), prefit=True)
        given.conformalize(x[100:], y[100:])
    else:
        given = regression.CrossConformalRegressor(smoothed(), cv=3)
        given.fit_conformalize(x, y)
    _, ends = given.predict_interval(new)
    inside = (ends[:, 0, 0] <= truth) & (truth <= ends[:, 1, 0])
    assert 0.88 < inside.mean()


def test_crepes():
    crepes = package("crepes")
    x, new, y, truth = parts()
    wrapped = crepes.WrapRegressor(smoothed())
    wrapped.fit(x[:100], y[:100])
    wrapped.calibrate(x[100:], y[100:])
    ends = wrapped.predict_int(new, confidence=0.9)
    assert 0.83 < ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean()
