"""How large should the noise of each feature be? Chosen on some houses, used for others."""
import numpy as np
from certreg import certify_rows, tune_scale

names = ["living area", "age", "distance to town", "garden"]
units = np.array([10, 10, 10, 0])  # plausible errors of the figures; 0: exact, never moved
rng = np.random.default_rng(1)


def price(x):  # (rows, 4) -> (rows,)
    area, age, distance, garden = x.T
    return 3.2 * area * np.exp(-0.05 * distance) - 1.5 * np.minimum(age, 40) + 25 * garden


def houses(count):
    low, high = [60, 0, 1, 0], [180, 60, 30, 2]
    return np.floor(rng.uniform(low, high, (count, 4)))


tuned = tune_scale(price, houses(150), 40, [0.25, 0.5, 1, 2], scale=units, seed=42)
print(f"sigma {tuned.sigma:g}, radii {tuned.gain:.2f} times as long")
for name, unit, scale in zip(names, units, tuned.scale):
    print(f"  {name:<18}{unit:>3} -> {scale:.1f}")

rows = certify_rows(price, houses(100), tuned.sigma, 40, scale=tuned.scale, seed=42)
print(f"mean radius of 100 other houses: {rows['radius'].mean():.3f}")
