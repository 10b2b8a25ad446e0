"""How far does a cart with a pole stray from its mark in a run of 4 s, if an adversary changes its
readings and knows all earlier ones? (theory 14.) CartPole has the functions of an environment of
Gymnasium, for many runs at once."""

import numpy as np
from certreg import (
    NO_PILOT, PLAN_COUNT_FAILURES, PLAN_EPISODE, CertregError, Estimator, Question, Service,
    Serving, episode_sense,
)  # fmt: skip

TICKS, LIMIT, EPISODES = 200, 0.8, 4000
UNIT = np.array([0.05, 0.1, 0.02, 0.1], np.float32)  # of a reading: m, m/s, rad, rad/s


class CartPole:  # 1 kg, with a pole of 0.1 kg and 1 m; other gusts of wind every half second
    def reset(self, runs, angle):
        self.tick, self.state = 0, np.tile([0, 0, angle, 0.0], (runs, 1))
        return self.state.copy(), {}

    def step(self, force):
        if self.tick % 25 == 0:
            self.wind = np.random.uniform(-1, 1, (2, len(force))) * [[3], [0.5]]
        x, v, angle, rate = self.state.T  # views
        sin, cos = np.sin(angle), np.cos(angle)
        along = (np.clip(force, -20, 20) + self.wind[0] + 0.05 * rate**2 * sin) / 1.1
        turn = (9.81 * sin - cos * along + self.wind[1] / 1.1) / (2 / 3 - cos**2 / 22)
        v += 0.02 * (along - turn * cos / 22)
        x += 0.02 * v
        rate += 0.02 * turn
        angle += 0.02 * rate
        self.tick += 1
        fell = (np.abs(angle) > 0.5) | (np.abs(x) > 2.4)
        return self.state.copy(), -np.abs(x), fell, self.tick == TICKS, {}


def farthest(runs, sense, angle=0.0):  # the loop, simulated or deployed; NaN: the pole fell
    world, most, over = CartPole(), np.zeros(runs), False
    reading, _ = world.reset(runs, angle)
    while not over:
        force = sense(world.tick, reading) @ [6.3, 8.4, 57.7, 15]  # with the program's noise
        reading, reward, fell, over, _ = world.step(force)
        most = np.where(fell, np.nan, np.maximum(most, -reward))  # stays NaN
    return most


def simulated(rows, sigma):  # the readings with the noise of a row for each run
    noise = rows.reshape(-1, TICKS, 4)
    return lambda tick, reading: episode_sense(reading, noise[:, tick], sigma, UNIT)


def deployed(service):  # noise about the received readings, from a secret seed of each run
    service.start()
    return lambda tick, reading: service.sense(reading[0]).value[None]


def certified(sigma, serving=None, angle=0.0, seed=None, run=lambda service: None):
    """The radius for the deployed loop, and what `run` returns of its service."""

    def model(rows):  # random, so that it is not checked
        return farthest(len(rows), simulated(rows, sigma), angle)

    flags = dict(flags=PLAN_EPISODE | PLAN_COUNT_FAILURES, pilot=NO_PILOT, check=False)
    scale = np.tile(UNIT, TICKS)
    question = Question(LIMIT, alpha=0.01, prediction=0.0, serving=serving)
    with Estimator(model, 4 * TICKS, EPISODES, scale=scale, seed=seed, **flags) as e:
        c = e.certify(np.zeros(4 * TICKS), sigma, EPISODES, question)
        try:
            with Service(e, question, c, ticks=TICKS) as service:
                return service.certificate().radius, run(service)
        except CertregError as error:
            if "no radius" not in str(error):
                raise
            return 0.0, None  # there is nothing to serve


if __name__ == "__main__":
    for text, serving in ("the median stays", None), ("19 of 20 runs stay", Serving(1, 0.05)):
        least = min(certified(1.6, serving, angle)[0] for angle in (0, 0.1, -0.1))
        print(f"{text} within {LIMIT} m for changes below {least:.2f}, from each of three starts")
    _, strays = certified(1.6, run=lambda service: farthest(1, deployed(service)))
    print(f"a deployed run strays {strays[0]:.2f} m")
