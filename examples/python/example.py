"""How wrong may the figures for a house be before its estimated price moves by 40 (thousand)?"""
import numpy as np
from certreg import Estimator, Question

names = ["living area", "age", "distance to town", "garden"]
house = np.array([120, 12, 6, 1])
scale = np.array([8, 5, 2, 0])  # noise of each feature in units of sigma; 0: exact, never moved


def price(x):  # (rows, 4) -> (rows,)
    area, age, distance, garden = x.T
    return 3.2 * area * np.exp(-0.05 * distance) - 1.5 * np.minimum(age, 40) + 25 * garden


# The seed is given so that the output stays the same; without it a secret one is drawn.
with Estimator(price, inputs=4, max_samples=10_000, scale=scale, seed=42) as estimator:
    c = estimator.certify(house, 0.5, 10_000, Question(tolerance=40))
print(f"{c.prediction:.1f} plus or minus {c.tolerance:g} while ||error / scale|| < {c.radius:.3f}")
for name, s in zip(names, scale):
    print(f"  {name} alone: about {c.radius * s:.1f}")
