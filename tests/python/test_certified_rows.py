"""What Rows say about themselves, their curves, and their files."""

import numpy as np
import pytest

from kit import CERTIFY, PRODUCT, X, certreg, parametrize, read, rows_of, said
from certreg import Question

CEILING = r"{} of {} radii are at the ceiling {:.5g} of sigma {:g} and {} samples"


def flat(x):
    return np.tanh(x[:, 0])


def test_rows_are_certificates_one_by_one():
    rows = rows_of(x=X[:4])
    assert list(rows) == [rows.certificate(i) for i in range(4)]
    assert rows.prediction.tolist() == [c.prediction for c in rows]
    several = rows_of(x=X[:4], sigma=[0.25, 0.5], questions=[0.5, 1])
    assert several.prediction.shape == (4, 2, 2)
    with pytest.raises(ValueError, match="each row has 4 certificates: use certificate"):
        list(several)


# ---- remarks
@parametrize(
    "more",
    {},
    {"questions": Question(5, method="anytime"), "kind": "angle", "lo": -180, "hi": 180},
    {"questions": Question(0.5, serving=certreg.Serving(101, 0.01)), "lo": -1, "hi": 0.5},
    {"questions": Question(0.5, output=1), "outputs": 2, "f": lambda x: np.c_[x[:, 0], flat(x)]},
    {"questions": 50, "kind": "angle_pair", "lo": -180, "hi": 180, "f": lambda x: 9 + x[:, :2]},
)
def test_the_ceiling_is_the_radius_of_a_flat_model(more):
    more = {"f": lambda x: 0.1 * flat(x), "sigma": [0.005, 0.01], **more}
    rows = rows_of(x=X[:5], **more)
    radius = rows["radius"][0, 1, 0]
    assert (rows["radius"][:, 1, 0] == radius).all() and 0 < radius < 0.1
    assert str(rows).splitlines()[-1].startswith(CEILING.format(5, 5, radius, 0.01, 300))


def test_the_ceiling_is_named_only_if_half_of_the_rows_reach_it():
    assert "ceiling" not in str(rows_of(lambda x: 2 * x[:, 0]))
    steep = lambda x: np.where(x[:, 0] > 0, 9 * x[:, 0], 0)  # noqa: E731
    x = np.c_[[-9.0, -9, 9, 9, 9]].astype(np.float32)
    rows = rows_of(steep, x, questions=[0.5, 99])
    assert len(rows.remarks()) == 1  # not for the tolerance .5
    assert "(tolerance 99): a larger sigma may give longer radii" in rows.remarks()[0]
    assert rows[1:3].remarks()[0].startswith("1 of 2 radii are at the ceiling")
    for question in (Question(99, target=0.1), Question(99, prediction=0)):
        assert rows_of(steep, x, questions=question).remarks() == []  # below 10 sigma
    assert rows_of(flat, X[:3], radius=0.01).remarks() == rows_of(flat, X[:3])[:0].remarks() == []


def test_failed_rows_have_their_first_reason():
    bad = X[:6].copy()
    bad[[3, 5]] = 1e7
    rows = rows_of(x=bad, sigma=[0.25, 0.5])
    (text,) = rows.remarks()
    assert text == f"2 of 6 rows failed, the first in row 3: {rows.errors[3, 0]}"
    assert rows[4:].remarks() == [text.replace("2 of 6", "1 of 2").replace("row 3", "row 5")]
    assert text.replace("'", "&#x27;") in rows._repr_html_()


# ---- the command
@pytest.fixture
def command(models):
    np.savetxt("x.csv", X[:6], delimiter=",", header="area,age,rooms", comments="")
    np.savetxt("scale.csv", [[1, 1, 0]], delimiter=",", header="area,age,rooms", comments="")
    return ("certify", PRODUCT[0], "x.csv", *CERTIFY[3:], "--scale", "scale.csv")


def test_the_command_names_exact_columns_and_the_ceiling(command):
    noise = "noise on area, age; none on rooms: changes of these are not certified"
    out = said(*command, "--tolerance", "50", "-o", "r.csv")[0].splitlines()
    assert out[-2] == noise
    assert out[-1].startswith("6 of 6 radii are at the ceiling 0.52903 of sigma 0.25")
    assert {row["exact"] for row in read("r.csv")} == {"rooms"}
    said(*command, "-o", "r.json")
    assert read("r.json")["remarks"] == [noise]
    assert {row["exact"] for row in read("r.json")["rows"]} == {"rooms"}


def test_a_demand_decides_the_exit_status(command):
    radii = sorted(float(row["radius"]) for row in read_after(*command))
    third = radii[2]  # four of six are at least as long
    for demand, status in (
        *((f"{4 / 6}@{third!r}", 0), (f".6@{third}", 0), ("1", 0), ("1@0", 0)),
        *((f".67@{third}", 6), ("1@9", 6)),
    ):
        out, err = said(*command, "--require", demand, status=status)
        assert ("--require is not met" in err) == (status == 6)
        assert "mean radius" in out
    err = said(*command, "--tolerance", ".5,1e-9", "--require", ".5", status=6)[1]
    assert "0 of the rows have a radius of at least 0 at sigma 0.25 and tolerance 1e-09" in err
    for wrong in ("0", "1.1", ".9@", ".9@-1", ".9@nan", "@1", "x"):
        assert "it must be a share above 0" in said(*command, "--require", wrong, status=2)[1]


def read_after(*command):
    said(*command, "-o", "r.csv")
    return read("r.csv")
