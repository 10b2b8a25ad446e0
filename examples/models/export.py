"""Write networks of networks.py as ONNX files: input x [N, 784], output y, opset 13."""

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

REVERSED = {"starts": [-1], "ends": [-(2**63)], "steps": [-1]}


class Graph:
    """Nodes and constants of an ONNX graph, in order."""

    def __init__(self):
        self.nodes, self.constants = [], {}

    def constant(self, name, values):
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.asarray(values), name)
        return name

    def node(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def image(self):
        return self.node("Reshape", ["x", self.constant("shape", [-1, 1, 28, 28])], "image")

    def save(self, name, columns, path):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 784])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", columns])
        graph = helper.make_graph(self.nodes, name, [x], [y], list(self.constants.values()))
        opset = [helper.make_opsetid("", 13)]
        proto = helper.make_model(
            graph, opset_imports=opset, ir_version=8, producer_name="libcertreg"
        )
        onnx.checker.check_model(proto)
        onnx.save(proto, path)


def array(tensor):
    return tensor.detach().numpy().astype(np.float32)


def folded(weight, norm):
    """Weights and biases of a convolution together with the batch normalisation after it."""
    factor = norm.weight / (norm.running_var + norm.eps).sqrt()
    return array(weight * factor.view(-1, 1, 1, 1)), array(norm.bias - norm.running_mean * factor)


def export_chain(model, name, path, scale=1.0, bounds=None):
    """A straight chain of Reshape, Conv, Relu, Flatten and Gemm.

    The output is multiplied by scale. With bounds, a Clip node follows.
    """
    graph, layers = Graph(), list(model)
    last, at, columns = graph.image(), 0, None
    for place, layer in enumerate(layers):
        if isinstance(layer, nn.Conv2d):
            weight, bias = folded(layer.weight, layers[place + 1])
            inputs = [last, graph.constant(f"w{at}", weight), graph.constant(f"b{at}", bias)]
            size = {"kernel_shape": layer.kernel_size, "strides": layer.stride}
            last = graph.node("Conv", inputs, f"a{at}", **size, pads=layer.padding * 2)
        elif isinstance(layer, nn.Linear):
            factor = np.float32(scale if layer is layers[-1] else 1.0)
            weight, bias = factor * array(layer.weight), factor * array(layer.bias)
            inputs = [last, graph.constant(f"w{at}", weight), graph.constant(f"b{at}", bias)]
            output = "y" if layer is layers[-1] and bounds is None else f"a{at}"
            last, columns = graph.node("Gemm", inputs, output, transB=1), len(bias)
        elif isinstance(layer, nn.Flatten):
            last = graph.node("Flatten", [last], "flat", axis=1)
        elif isinstance(layer, nn.ReLU):
            last, at = graph.node("Relu", [last], f"r{at}"), at + 1
    if bounds is not None:
        ends = [graph.constant(n, np.float32(v)) for n, v in zip(("lo", "hi"), bounds)]
        graph.node("Clip", [last, *ends], "y")
    graph.save(name, columns, path)


def load_chain(model, path, scale=1.0):
    """Take the weights from a file of export_chain. Normalisations do nothing at first, and the
    model is left in the mode in which they keep their statistics."""
    parts = {c.name: numpy_helper.to_array(c).copy() for c in onnx.load(path).graph.initializer}
    layers = [layer for layer in model if isinstance(layer, (nn.Conv2d, nn.Linear))]
    norms = [layer for layer in model if isinstance(layer, nn.BatchNorm2d)]
    for at, layer in enumerate(layers):
        factor = 1.0 / scale if layer is layers[-1] else 1.0
        layer.weight.data = factor * torch.from_numpy(parts[f"w{at}"])
        bias = layer.bias if isinstance(layer, nn.Linear) else norms[at].bias
        bias.data = factor * torch.from_numpy(parts[f"b{at}"])
    for norm in norms:
        norm.running_var.fill_(1.0 - norm.eps)
    model.eval()


def slice_of(graph, inputs, output, axis, starts, ends, steps=(1,)):
    """A Slice node along one axis."""
    parts = {"axes": [axis], "steps": list(steps)}
    parts = {"starts": starts, "ends": ends, **parts}
    named = [graph.constant(f"{k}{'_'.join(map(str, v))}", list(v)) for k, v in parts.items()]
    return graph.node("Slice", [inputs, *named], output)


def turned(graph, last, name, step):
    """The weights of the next orientation, as GroupConvolution.filters makes them."""
    last = graph.node("Transpose", [last], f"{name}t", perm=[0, 1, 3, 2])
    last = slice_of(graph, last, f"{name}q" if step else name, 2, **REVERSED)
    if not step:
        return last
    parts = [
        slice_of(graph, last, f"{name}l", 1, [3 * step], [4 * step]),
        slice_of(graph, last, f"{name}f", 1, [0], [3 * step]),
    ]
    return graph.node("Concat", parts, name, axis=1)


def export_equivariant(model, name, path):
    """Stores the weights of one orientation; nodes of constants make the others.

    ONNX Runtime evaluates these nodes once, when it opens the file.
    """
    graph = Graph()
    last = graph.image()
    for at, layer in enumerate(list(model)[:-1]):
        weight, bias = folded(layer.weight, layer.norm)
        weights = [graph.constant(f"w{at}_0", weight)]
        for turns in range(1, 4):
            weights.append(turned(graph, weights[-1], f"w{at}_{turns}", layer.step))
        all_weights = graph.node("Concat", weights, f"w{at}", axis=0)
        all_biases = graph.node("Concat", [graph.constant(f"b{at}_0", bias)] * 4, f"b{at}", axis=0)
        size = {"strides": [layer.stride] * 2, "pads": [layer.padding] * 4}
        size["kernel_shape"] = list(weight.shape[2:])
        last = graph.node("Conv", [last, all_weights, all_biases], f"a{at}", **size)
        if isinstance(layer.rectify, nn.LeakyReLU):
            slope = {"alpha": layer.rectify.negative_slope}
            last = graph.node("LeakyRelu", [last], f"r{at}", **slope)
        else:
            last = graph.node("Relu", [last], f"r{at}")
    flat = graph.node("Flatten", [last], "flat", axis=1)
    head = graph.constant("head", np.ascontiguousarray(array(model[-1].matrix()).T))
    graph.node("MatMul", [flat, head], "y")
    graph.save(name, 2, path)
