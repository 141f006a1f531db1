"""Writes .npy files, most of them not fit for a f32[N] argument."""

import os

import numpy as np

five = np.arange(5, dtype="f4")
np.save("five.npy", five)
np.save("seven.npy", np.arange(7, dtype="f4"))
np.save("f64.npy", np.zeros(5))
np.save("matrix.npy", np.zeros((2, 3), "f4"))
np.save("object.npy", np.array([{}], dtype=object), allow_pickle=True)

with open("five.npy", "rb") as file:
    whole = file.read()
for name, content in [
    ("short_data.npy", whole[:-3]),
    ("short_header.npy", whole[:50]),
    ("junk.npy", b"junk\n"),
    ("nothing.npy", b""),
]:
    with open(name, "wb") as file:
        file.write(content)
os.mkdir("folder.npy")
