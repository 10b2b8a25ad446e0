"""Known answers for tests/unit_grid_rounding.c, by mpmath at 60 digits: the cells of the grid
that noise falls into, from the words of Philox alone, and normals of words of 96 bits.

Run: python3 make_cells.py million > cells.inc      (two minutes)
     python3 make_cells.py special > special_cells.inc
A word has 32 bits of a block, and 64 more of the two blocks that continue it. What it stands for is
an interval; the script ends if one does not lie in a single cell. Of a million cells there are the
sums of rows (FNV of 64 bits, a word of 32 bits at a time).
"""

import math
import re
import sys

import numpy as np
from mpmath import cos_sin, floor, log, mp, mpf, pi, sqrt

mp.dps = 60

LOW = 0xFFFFFFFF
ALL = 0xFFFFFFFFFFFFFFFF
LEVEL_BITS = 42
LAST_LEVEL = 2**20 - 1
EACH = 50000  # features of a row, at least
TAIL_SEED, TAIL_BLOCKS, TAILS = 7, 2**26, 24
MANY = 64 * 25
FNV = 0xCBF29CE484222325


def philox(seed, stream, block):
    """Four words of 32 bits; of Python's numbers, or of an array of blocks."""
    a, b, c, d = block & LOW, block >> 32, stream & LOW, stream >> 32
    for i in range(10):
        low, high = 0xD2511F53 * a, 0xCD9E8D57 * c
        key = (seed + i * 0x9E3779B9) & LOW, ((seed >> 32) + i * 0xBB67AE85) & LOW
        a, b, c, d = (high >> 32) ^ b ^ key[0], high & LOW, (low >> 32) ^ d ^ key[1], low & LOW
    return a, b, c, d


def wide_words(seed, stream, block):
    """Those of a block, with 96 bits each."""
    parts = [philox(seed, stream, block | more) for more in (0, 1 << 63, 1 << 62)]
    return [a << 64 | b << 32 | c for a, b, c in zip(*parts)]


def normals(x, y):
    """(r sin, r cos) at the middle of the intervals, and how far off any others there can be."""
    u, angle = mpf(2 * x + 1) / 2**97, mpf(2 * y + 1) / 2**97
    r = sqrt(-2 * log(u))
    cosine, sine = cos_sin(2 * pi * angle)
    return r * sine, r * cosine, (1 / (u * r) + 2 * pi * r) / 2**96


def to_float(x):
    return float(np.float32(x))


def cell_of(e, error, z, s):
    """The whole number nearest to (z + s e)/h."""
    h = mpf(2) ** (math.frexp(abs(s))[1] - 9)
    y = (mpf(z) + mpf(s) * e) / h
    n = floor(y + mpf(1) / 2)
    assert abs(y - n) + 512 * error < mpf(1) / 2
    return int(n), y


def fnv(h, n):
    """A number more, of 64 bits at most."""
    for word in (n & LOW, n >> 32 & LOW):
        h = ((h ^ word) * 0x100000001B3) & ALL
    return h


# ---- a million, of all kinds


def mixed(a):
    a = (a + 0x9E3779B97F4A7C15) & ALL
    a = ((a ^ a >> 30) * 0xBF58476D1CE4E5B9) & ALL
    a = ((a ^ a >> 27) * 0x94D049BB133111EB) & ALL
    return a ^ a >> 31


def feature(row, j):
    """(z, s); unit_grid_rounding.c has the same."""
    a = mixed(row << 32 | j)
    b = mixed(a)
    kind = b >> 24 & 7
    power = -126 + (a >> 32) % 230 if j % 4 == 0 and kind != 2 else -10  # of h
    s = math.ldexp(2**23 + (a & 0x7FFFFF), power - 15) * (-1 if a >> 23 & 1 else 1)
    sign = -1 if b >> 23 & 1 else 1
    if kind < 2:
        z = -0.0 if kind else 0.0
    elif kind == 2:
        z = (b & 255) / 255
    elif kind == 3:
        z = sign * math.ldexp(2**24 - 2**13 - b % 1000, power)
    else:
        z = sign * math.ldexp(2**23 + (b & 0x7FFFFF), power - 1 - (b >> 32) % 64)
    return to_float(z), s


WIDTHS = (1, 2, 3, 4, 5, 7, 8, 13, 16, 31, 64, 100, 255, 257, 784, 1000, 1025, 3072, 4097, 5000)


def rows():
    """(seed, stream, level, first, inputs, count)"""
    for i, inputs in enumerate(WIDTHS):
        seed, stream = (0, ALL, 1 + i, mixed(i))[i % 4], (i, mixed(i + 100), 0, ALL)[i // 2 % 4]
        level, count = (0, LAST_LEVEL, mixed(i) >> 44)[i % 3], -(-EACH // inputs)
        most = 2**LEVEL_BITS // ((inputs + 3) // 4) - count
        yield seed, stream, level, (0, most, mixed(i + 200) % most)[i // 3 % 3], inputs, count


def cells_of(number, row):
    seed, stream, level, first, inputs, count = row
    features = [feature(number, j) for j in range(inputs)]
    each = (inputs + 3) // 4
    for i in range(first, first + count):
        for quad in range(each):
            words = wide_words(seed, stream, (level << LEVEL_BITS) + i * each + quad)
            four = [normals(*words[k : k + 2]) for k in (0, 2)]
            for j in range(4 * quad, min(4 * quad + 4, inputs)):
                of = four[j % 4 // 2]
                yield cell_of(of[j % 2], of[2], *features[j])[0]


def sum_of(number, row):
    h = FNV
    for n in cells_of(number, row):
        h = fnv(h, n)
    return h


# ---- tails, and what lies next to the middle between two points
FLOAT_FIRST, FLOAT_END = 0x40000, 0xFFFF0000  # words of which float has normals (grid_rounding.h)


def rare_words():
    """The (x, block, pair) of TAIL_BLOCKS blocks whose x is among the least or the greatest; and of
    those whose x is among the first or the last that float decides on."""
    found = []
    step = 2**20
    for first in range(0, TAIL_BLOCKS, step):
        words = philox(TAIL_SEED, 0, np.arange(first, first + step, dtype=np.uint64))
        for pair in (0, 2):
            x = words[pair].astype(np.int64)
            rare = (x < 2**10) | (x >= 2**32 - 2**10)
            for begin in (FLOAT_FIRST, FLOAT_END - 2**9):
                rare |= (x >= begin) & (x < begin + 2**9)
            found += [(int(x[at]), first + int(at), pair) for at in np.flatnonzero(rare)]
    found.sort()
    edges = [(x, block, pair) for x, block, pair in found if FLOAT_FIRST <= x < FLOAT_END]
    return found[:TAILS] + found[-TAILS:], edges


def near_half(e):
    """(z, s) with y so close to a half that double cannot tell on which side of it."""
    scaled = int(floor(e * 2**120))
    best = (2**135, None)
    for m in range(2**23, 2**23 + 40000):  # s/h = m/2^15
        y = m * scaled
        beyond = ((y + 2**134) & (2**135 - 1)) - 2**134  # from the nearest whole number
        offset = (2**134 if beyond >= 0 else -(2**134)) - beyond
        z = to_float(math.ldexp(offset, -135))
        off = abs(beyond + int(z * 2.0**135) - (2**134 if beyond >= 0 else -(2**134)))
        best = min(best, (off, (z, m * 2.0**-15)))
    return best[1]


def special():
    """(block, number, z, s, n)"""
    tails, edges = rare_words()
    for i, (_, block, pair) in enumerate(tails):
        words = wide_words(TAIL_SEED, 0, block)
        found = normals(*words[pair : pair + 2])
        for k in range(2):
            z, s = feature(999, 4 * i + 2 * k + 1)
            yield block, pair + k, z, s, cell_of(found[k], found[2], z, s)[0]
    chosen = [(block, pair) for _, block, pair in tails[::6] + edges]
    for block, pair in chosen + [(block, block % 4 // 2 * 2) for block in range(1, 17)]:
        words = wide_words(TAIL_SEED, 0, block)
        found = normals(*words[pair : pair + 2])
        for k in range(2):
            z, s = near_half(found[k])
            n, y = cell_of(found[k], found[2], z, s)
            assert abs(abs(y - n) - mpf(1) / 2) < 1e-11
            yield block, pair + k, z, s, n


# ---- normals of chosen words


def ends():
    """Words at the ends of the interval, and at the parts and the root of it where recipes change;
    and others."""
    radii = [0, 1, 2**32, 2**64 - 1, 2**64, 2**95 - 1, 2**95, 2**96 - 1, 2**96 - 2, 2**96 - 2**32]
    radii += [2**96 - 2**64, 0xB504F333 << 64, (0xB504F334 << 64) - 1, 2**96 // 3]
    turns = [0] + [k * 2**93 - below for k in range(1, 8) for below in (0, 1)] + [2**96 - 1]
    return [(x, y) for i, x in enumerate(radii) for y in turns[i % 4 :: 4]] + [
        (mixed(i) << 32 | i, mixed(i + 500) << 32 | i) for i in range(10)
    ]


def many():
    """Of MANY pairs of words, 64 at a time: which of their normals (r cos of every second) are, in
    units of 2^-93 of their power of two, closer than 1/4 to a whole number; the sum of those."""
    for first in range(0, MANY, 64):
        mask, h = 0, FNV
        for i in range(first, first + 64):
            x, y = (mixed(4 * i + k) << 32 | mixed(4 * i + k + 1) & LOW for k in (0, 2))
            e = normals(x, y)[i % 2]
            scale = mpf(2) ** (94 - math.frexp(float(e))[1])
            low = (e - mpf(float(e))) * scale
            if abs(low - floor(low + mpf(1) / 2)) < mpf(1) / 4:
                mask |= 1 << i - first
                high = int(mpf(float(e)) * scale) >> 41
                h = fnv(fnv(h, high), int(floor(low + mpf(1) / 2)))
        yield mask, h


def short(x):
    return re.sub(r"\.?0*p", "p", x.hex())


def pieces(word):
    return ", ".join(f"0x{word >> shift & LOW:x}" for shift in (64, 32, 0))


def doubles(e):
    high = float(e)
    return f"{high.hex()}, {float(e - mpf(high)).hex()}"


def print_wide(texts, most):
    for i in range(0, len(texts), most):
        print("    " + " ".join(texts[i : i + most]))


def print_million():
    print("static const struct row {\n    uint64_t seed, stream, level, first;")
    print("    size_t inputs, count;\n    uint64_t sum; /* of the cells */\n} rows[] = {")
    for number, row in enumerate(rows()):
        print("    {%#xu, %#xu, %#x, %#x, %d, %d, %#xu}," % (*row, sum_of(number, row)))
    print("};\nstatic const struct precise {\n    uint32_t x[3], y[3];")
    print("    cr_dd sine, cosine; /* times the radius */\n} precises[] = {")
    for x, y in ends():
        sine, cosine, _ = normals(x, y)
        print(f"    {{{{{pieces(x)}}}, {{{pieces(y)}}},")
        print(f"     {{{doubles(sine)}}}, {{{doubles(cosine)}}}}},")
    print("};\nstatic const struct many {\n    uint64_t which, sum;\n} many[] = {")
    print_wide([f"{{{mask:#x}u, {h:#x}u}}," for mask, h in many()], 2)
    print("};")


def print_special():
    print(f"enum {{ SPECIAL_SEED = {TAIL_SEED} }};")
    print("static const struct special_pair {\n    uint64_t block;")
    print("    unsigned number; /* of the first */\n    float z[2], s[2];\n    int32_t n[2];")
    print("} special_pairs[] = {")
    cells = list(special())
    for one, two in zip(cells[::2], cells[1::2]):
        z, s = (f"{{{short(one[k])}f, {short(two[k])}f}}" for k in (2, 3))
        print(f"    {{{one[0]:#x}, {one[1]}, {z}, {s}, {{{one[4]}, {two[4]}}}}},")
    print("};")


if __name__ == "__main__":
    print("/* Made by make_cells.py (mpmath, 60 digits); see there. */")
    print_million() if sys.argv[1] == "million" else print_special()
