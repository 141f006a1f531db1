"""A thin layer over libtilec.so for Python, by ctypes; it needs no other package.

    import tilec
    tilec.load("build/release/lib/libtilec.so")
    module = tilec.Module("std/norms.tile")
    kernel = module.kernel("rmsnorm", T="bf16")
    kernel.launch(x, w, tilec.DEFAULT, y)            # tensors of PyTorch, numbers
    again = kernel.prepare(x, w, tilec.DEFAULT, y)
    again.run()

What can fail raises tilec.Error, whose text is that of tilec: place, source line,
remedy. Launches go to the default stream unless `stream` names another. The
functions of include/tilec/c.h are below under their own names.
"""

import ctypes
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t
from ctypes import c_uint, c_void_p

DTYPES = {
    name: number
    for number, name in enumerate(
        "f64 f32 tf32 f16 bf16 f8e4m3 f8e5m2 i64 i32 i16 i8 u8 bool".split()
    )
}
# How PyTorch calls them.
TORCH_DTYPES = {
    "torch.float64": "f64",
    "torch.float32": "f32",
    "torch.float16": "f16",
    "torch.bfloat16": "bf16",
    "torch.float8_e4m3fn": "f8e4m3",
    "torch.float8_e5m2": "f8e5m2",
    "torch.int64": "i64",
    "torch.int32": "i32",
    "torch.int16": "i16",
    "torch.int8": "i8",
    "torch.uint8": "u8",
    "torch.bool": "bool",
}


# The structures of c.h, field for field.


class _Define(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class _Number(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_int64)]


_Warn = ctypes.CFUNCTYPE(None, c_char_p, c_void_p)


class _Options(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("target", c_char_p),
        ("defines", POINTER(_Define)),
        ("num_defines", c_size_t),
        ("schedule", POINTER(_Number)),
        ("num_schedule", c_size_t),
        ("include_paths", POINTER(c_char_p)),
        ("num_include_paths", c_size_t),
        ("cache_folder", c_char_p),
        ("unchecked", c_int),
        ("threads", c_uint),
        ("warn", _Warn),
        ("user", c_void_p),
    ]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("dtype", c_int),
        ("rank", c_size_t),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
    ]


class _Value(ctypes.Union):
    _fields_ = [("tensor", _Tensor), ("integer", c_int64), ("real", c_double)]


class _Arg(ctypes.Structure):
    _fields_ = [("kind", c_int), ("value", _Value)]


class _CodeInfo(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("target", c_char_p),
        ("specialization", c_char_p),
        ("origin", c_int),
        ("milliseconds", c_double),
        ("registers", c_uint),
        ("shared_bytes", c_uint),
        ("threads", c_uint),
        ("cuda", c_char_p),
        ("ptx", c_char_p),
        ("cubin", c_void_p),
        ("cubin_bytes", c_size_t),
        ("image", c_char_p),
    ]


_library = None

# Functions that return an error, with their arguments.
_FALLIBLE = {
    "tilec_compile_file": [c_char_p, POINTER(_Options), POINTER(c_void_p)],
    "tilec_module_kernel": [
        c_void_p,
        c_char_p,
        POINTER(_Define),
        c_size_t,
        POINTER(c_void_p),
    ],
    "tilec_kernel_launch": [c_void_p, c_void_p, POINTER(_Arg), c_size_t],
    "tilec_kernel_prepare": [c_void_p, POINTER(_Arg), c_size_t, POINTER(c_void_p)],
    "tilec_kernel_compile": [c_void_p, POINTER(_Arg), c_size_t, POINTER(c_void_p)],
    "tilec_prepared_run": [c_void_p, c_void_p],
}


def load(path):
    """Opens libtilec.so, once in a process and before anything else."""
    global _library
    library = ctypes.CDLL(path)
    for name, arguments in _FALLIBLE.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, c_void_p
    for what in ("error", "module", "kernel", "prepared", "code"):
        function = getattr(library, f"tilec_{what}_destroy")
        function.argtypes, function.restype = [c_void_p], None
    library.tilec_error_message.argtypes = [c_void_p]
    library.tilec_error_message.restype = c_char_p
    library.tilec_error_get_kind.argtypes = [c_void_p]
    library.tilec_error_get_kind.restype = c_int
    library.tilec_code_get_info.argtypes = [c_void_p, POINTER(_CodeInfo)]
    library.tilec_code_get_info.restype = None
    library.tilec_version.argtypes = []
    library.tilec_version.restype = c_char_p
    _library = library


def version():
    return _library.tilec_version().decode()


class Error(Exception):
    """A message of tilec; `kind` is a number of tilec_error_kind."""

    def __init__(self, handle):
        super().__init__(_library.tilec_error_message(handle).decode())
        self.kind = _library.tilec_error_get_kind(handle)
        _library.tilec_error_destroy(handle)


def _check(error):
    if error:
        raise Error(error)


class _Owner:
    """Destroys what it holds when it goes."""

    what = None

    def __init__(self):
        self.handle = c_void_p()

    def __del__(self):
        if self.handle and _library:  # Which goes early when Python ends.
            getattr(_library, f"tilec_{self.what}_destroy")(self.handle)


class Tensor:
    """Memory that has no other description; without strides it is row-major."""

    def __init__(self, address, dtype, shape, strides=None):
        self.address, self.dtype = address, dtype
        self.shape, self.strides = tuple(shape), strides


DEFAULT = object()
"""Stands for a scalar's default."""


class Arguments:
    """Arguments as C takes them. Keeps what they point to."""

    def __init__(self, *values):
        self.keep = list(values)
        self.count = len(values)
        self.array = (_Arg * len(values))()
        for arg, value in zip(self.array, values):
            self._set(arg, value)

    def _set(self, arg, value):
        if value is DEFAULT:
            arg.kind = 0
        elif isinstance(value, int):  # bool too.
            arg.kind, arg.value.integer = 2, int(value)
        elif isinstance(value, float):
            arg.kind, arg.value.real = 3, value
        elif isinstance(value, Tensor):
            self._set_tensor(
                arg, value.address, value.dtype, value.shape, value.strides
            )
        elif hasattr(value, "data_ptr"):
            dtype = TORCH_DTYPES.get(str(value.dtype))
            if dtype is None:
                raise TypeError(f"tilec has no element type for {value.dtype}")
            self._set_tensor(
                arg, value.data_ptr(), dtype, tuple(value.shape), value.stride()
            )
        else:
            raise TypeError(f"expected a tensor or a number, got {type(value)}")

    def _set_tensor(self, arg, address, dtype, shape, strides):
        def numbers(values):
            array = (c_int64 * max(len(values), 1))(*values)
            self.keep.append(array)
            return ctypes.cast(array, POINTER(c_int64))

        arg.kind = 1
        tensor = arg.value.tensor
        tensor.data, tensor.dtype, tensor.rank = address, DTYPES[dtype], len(shape)
        tensor.shape = numbers(shape)
        if strides is not None:
            tensor.strides = numbers(strides)


def _arguments(values):
    if len(values) == 1 and isinstance(values[0], Arguments):
        return values[0]
    return Arguments(*values)


def _defines(values):
    array = (_Define * max(len(values), 1))()
    for define, (name, value) in zip(array, values.items()):
        define.name, define.value = name.encode(), str(value).encode()
    return array


class Module(_Owner):
    """The kernels of a file."""

    what = "module"

    def __init__(self, path, target=None, schedule=None, cache_folder=None):
        super().__init__()
        options = _Options(size=ctypes.sizeof(_Options))
        if target is not None:
            options.target = target.encode()
        if cache_folder is not None:
            options.cache_folder = cache_folder.encode()
        entries = (_Number * max(len(schedule or {}), 1))()
        for entry, (name, value) in zip(entries, (schedule or {}).items()):
            entry.name, entry.value = name.encode(), value
        options.schedule = ctypes.cast(entries, POINTER(_Number))
        options.num_schedule = len(schedule or {})
        _check(
            _library.tilec_compile_file(
                path.encode(), byref(options), byref(self.handle)
            )
        )

    def kernel(self, name=None, **defines):
        kernel = Kernel()
        _check(
            _library.tilec_module_kernel(
                self.handle,
                name.encode() if name else None,
                _defines(defines),
                len(defines),
                byref(kernel.handle),
            )
        )
        return kernel


class Kernel(_Owner):
    """A kernel; its functions take one argument for each parameter, or one
    Arguments."""

    what = "kernel"

    def launch(self, *values, stream=None):
        args = _arguments(values)
        _check(
            _library.tilec_kernel_launch(self.handle, stream, args.array, args.count)
        )

    def prepare(self, *values):
        args = _arguments(values)
        prepared = Prepared()
        prepared.arguments = args  # Whose tensors must stay.
        _check(
            _library.tilec_kernel_prepare(
                self.handle, args.array, args.count, byref(prepared.handle)
            )
        )
        return prepared

    def compile(self, *values):
        args = _arguments(values)
        code = Code()
        _check(
            _library.tilec_kernel_compile(
                self.handle, args.array, args.count, byref(code.handle)
            )
        )
        return code


class Prepared(_Owner):
    """A launch with fixed arguments."""

    what = "prepared"

    def run(self, stream=None):
        _check(_library.tilec_prepared_run(self.handle, stream))


class Code(_Owner):
    """Machine code; `info` has the fields of tilec_code_info."""

    what = "code"

    @property
    def info(self):
        info = _CodeInfo(size=ctypes.sizeof(_CodeInfo))
        _library.tilec_code_get_info(self.handle, byref(info))
        return info
