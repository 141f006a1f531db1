"""Uses bench/tilec.py on the target cpu: binding.py BENCH LIBRARY STD."""

import ctypes
import sys

sys.path.insert(0, sys.argv[1])
import tilec  # noqa: E402


def array(values):
    return (ctypes.c_float * len(values))(*values)


def tensor(values, shape, strides=None):
    return tilec.Tensor(ctypes.addressof(values), "f32", shape, strides)


tilec.load(sys.argv[2])
print("version", tilec.version())
module = tilec.Module(sys.argv[3] + "/norms.tile", target="cpu", schedule={"m": 1})
kernel = module.kernel("rmsnorm", T="f32")
x, w, y = array([3, 4, 30, 40]), array([1, 2]), array([0] * 4)
arguments = [tensor(x, (2, 2)), tensor(w, (2,)), 0.0, tensor(y, (2, 2))]
kernel.launch(*arguments)
print("launched", *(f"{value:.4f}" for value in y))

# The same rows in columns.
x = array([6, 60, 8, 80])
arguments[0] = tensor(x, (2, 2), (1, 2))
prepared = kernel.prepare(*arguments)
x[0] = 8
prepared.run()
print("prepared", *(f"{value:.4f}" for value in y))
print("code", kernel.compile(*arguments).info.target.decode())
for broken in ([1], [tilec.DEFAULT] * 4):
    try:
        kernel.launch(*broken)
    except tilec.Error as error:
        print("error", error.kind, str(error).splitlines()[0])
