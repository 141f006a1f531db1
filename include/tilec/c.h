/*===- tilec/c.h - The C interface of tilec ---------------------*- C -*-===*\
 *
 * Compiles kernels written as operations on tiles while a program runs, and
 * launches them on NVIDIA GPUs or on the host:
 *
 *   tilec_module *module;
 *   tilec_kernel *kernel;
 *   tilec_error *error = tilec_compile_file("rows.tile", NULL, &module);
 *   if (!error)
 *     error = tilec_module_kernel(module, "scale_rows", NULL, 0, &kernel);
 *   ...
 *   int64_t shape[] = {4096, 1024};
 *   tilec_arg args[] = {tilec_tensor_arg(x, TILEC_F32, 2, shape, NULL),
 *                       tilec_tensor_arg(y, TILEC_F32, 2, shape, NULL)};
 *   error = tilec_kernel_launch(kernel, stream, args, 2);
 *   if (error) {
 *     fprintf(stderr, "%s", tilec_error_message(error));
 *     tilec_error_destroy(error);
 *   }
 *
 * Conventions:
 *
 *   - A function that can fail returns NULL, or an error that the caller owns.
 *     What it gives through its last parameter is set to NULL if it fails.
 *   - Objects are destroyed by the function of their name; NULL is fine there.
 *     What is made of an object keeps what it needs of it: a module may go
 *     before its kernels, a kernel before its prepared launches. Strings that a
 *     function returns live as long as the object it was asked of.
 *   - Every function may be called by any number of threads at the same time,
 *     on the same objects too; only destroying is up to one.
 *   - Structures that may grow begin with their size: set it to sizeof, and the
 *     rest to 0 where nothing else is wanted.
 *
 * docs/api.md is the reference.
 *
\*===----------------------------------------------------------------------===*/

#ifndef TILEC_C_H
#define TILEC_C_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define TILEC_API
#else
#define TILEC_API __attribute__((visibility("default")))
#endif

/* Names are as usual in C. NOLINTBEGIN(readability-identifier-naming) */
#ifdef __cplusplus
extern "C" {
#endif

typedef struct tilec_error tilec_error;
typedef struct tilec_module tilec_module;
typedef struct tilec_kernel tilec_kernel;
typedef struct tilec_code tilec_code;
typedef struct tilec_prepared tilec_prepared;

/* A CUstream or cudaStream_t; NULL is the default stream of the current
   device. */
typedef void *tilec_stream;

/* "0.1.0". */
TILEC_API const char *tilec_version(void);

/*===----------------------------------------------------------------------===*\
 * Errors
\*===----------------------------------------------------------------------===*/

typedef enum tilec_error_kind {
  TILEC_ERROR_OTHER = 0,
  TILEC_ERROR_USAGE = 1,    /* This interface was called wrongly. */
  TILEC_ERROR_PROGRAM = 2,  /* The .tile program is wrong, or not there. */
  TILEC_ERROR_INTERNAL = 3, /* A bug of tilec. */
  /* The arguments of a launch. */
  TILEC_ERROR_ARGUMENT_COUNT = 10,
  TILEC_ERROR_ARGUMENT_TYPE = 11,  /* Element type, rank, tensor or scalar. */
  TILEC_ERROR_ARGUMENT_VALUE = 12, /* A scalar out of range; a bad view. */
  TILEC_ERROR_EXTENT = 13,         /* Dimensions disagree. */
  TILEC_ERROR_REQUIREMENT = 14,    /* A `requires` does not hold. */
  TILEC_ERROR_OVERLAP = 15,        /* A tensor that is written shares memory. */
  TILEC_ERROR_HOST_MEMORY = 16,    /* Host memory for a kernel on a GPU. */
  TILEC_ERROR_WRONG_DEVICE = 17,   /* A tensor, stream or code of another. */
  TILEC_ERROR_TOO_LARGE = 18, /* More blocks or memory than there can be. */
  /* Code that was compiled ahead of time is not for these arguments: their
     alignment, strides or extents. */
  TILEC_ERROR_SPECIALIZATION = 19,
  /* The machine. */
  TILEC_ERROR_NO_COMPILER = 30, /* NVRTC is not there. */
  TILEC_ERROR_NO_DRIVER = 31,
  TILEC_ERROR_NO_DEVICE = 32, /* A driver, but no GPU for this. */
  TILEC_ERROR_DRIVER_TOO_OLD = 33,
  TILEC_ERROR_OUT_OF_MEMORY = 34,
  TILEC_ERROR_COMPILE = 35, /* NVRTC refuses the code. */
  /* The run. */
  TILEC_ERROR_KERNEL_FAILED = 40, /* A kernel broke; the context is lost. */
  TILEC_ERROR_DRIVER = 41,        /* Anything else that the driver reports. */
  /* On the cpu target: an index out of range, a division by zero, a false
     assert. */
  TILEC_ERROR_REPORT = 42
} tilec_error_kind;

/* What a program may want to act upon: the kind of the first message. */
TILEC_API tilec_error_kind tilec_error_get_kind(const tilec_error *error);
/* All messages as text, each with file:line:column, the line of the source, a
   caret and a remedy. */
TILEC_API const char *tilec_error_message(const tilec_error *error);
/* The same as a JSON array of objects with severity, file, line, column,
   endLine, endColumn, message, notes, help and kind. */
TILEC_API const char *tilec_error_json(const tilec_error *error);
TILEC_API void tilec_error_destroy(tilec_error *error);

/*===----------------------------------------------------------------------===*\
 * Modules: the kernels of a file
\*===----------------------------------------------------------------------===*/

typedef struct tilec_define {
  const char *name;
  const char *value;
} tilec_define;

typedef struct tilec_number {
  const char *name;
  int64_t value;
} tilec_number;

typedef struct tilec_options {
  size_t size; /* sizeof(tilec_options). */
  /* "cpu", or "sm_80", "sm_86", "sm_89", "sm_90a". NULL: for each launch that
     of its GPU. */
  const char *target;
  /* Values of compile-time parameters: a number, a type, "true", "false", or
     the name of a function. They are for the kernels that have such
     parameters. */
  const tilec_define *defines;
  size_t num_defines;
  /* Entries that win over the schedule in the source: sizes of tiles. */
  const tilec_number *schedule;
  size_t num_schedule;
  /* Folders where imported files are looked for too. */
  const char *const *include_paths;
  size_t num_include_paths;
  /* Where compiled kernels are kept. NULL: TILEC_CACHE_DIR, or else tilec in
     the user's folder of caches. "": nowhere. */
  const char *cache_folder;
  /* Target cpu: do not report indices out of range and the like (they do no
     harm either way), and use so many threads; 0 is all cores. */
  int unchecked;
  unsigned threads;
  /* Receives warnings, such as that of a cache that cannot be written; called
     by one thread at a time. NULL: standard error. */
  void (*warn)(const char *text, void *user);
  void *user;
} tilec_options;

/* Reads and checks a file with all it imports. `options` may be NULL. */
TILEC_API tilec_error *tilec_compile_file(const char *path,
                                          const tilec_options *options,
                                          tilec_module **module);
/* The same for text; messages call it `name`. */
TILEC_API tilec_error *tilec_compile_string(const char *name, const char *text,
                                            const tilec_options *options,
                                            tilec_module **module);
TILEC_API void tilec_module_destroy(tilec_module *module);

/* The kernels of the main file, in source order. */
TILEC_API size_t tilec_module_num_kernels(const tilec_module *module);
TILEC_API const char *tilec_module_kernel_name(const tilec_module *module,
                                               size_t index);

/* A kernel, also of an imported file; with NULL or "" the only one of the main
   file. `defines` go before those of the module. */
TILEC_API tilec_error *tilec_module_kernel(const tilec_module *module,
                                           const char *name,
                                           const tilec_define *defines,
                                           size_t num_defines,
                                           tilec_kernel **kernel);
TILEC_API void tilec_kernel_destroy(tilec_kernel *kernel);

/*===----------------------------------------------------------------------===*\
 * Signatures
\*===----------------------------------------------------------------------===*/

typedef enum tilec_dtype {
  TILEC_F64 = 0,
  TILEC_F32 = 1,
  TILEC_TF32 = 2,
  TILEC_F16 = 3,
  TILEC_BF16 = 4,
  TILEC_F8E4M3 = 5,
  TILEC_F8E5M2 = 6,
  TILEC_I64 = 7,
  TILEC_I32 = 8,
  TILEC_I16 = 9,
  TILEC_I8 = 10,
  TILEC_U8 = 11,
  TILEC_BOOL = 12 /* One byte, 0 or 1. */
} tilec_dtype;

typedef enum tilec_access {
  TILEC_IN = 0,
  TILEC_OUT = 1,
  TILEC_INOUT = 2,
  TILEC_ADD = 3
} tilec_access;

typedef struct tilec_parameter {
  size_t size; /* sizeof(tilec_parameter). */
  const char *name;
  tilec_dtype dtype;
  tilec_access access;
  int is_tensor;
  int has_default; /* Scalars. */
  size_t rank;     /* Tensors. */
  /* For each dimension its name ("M"), or the digits of a constant extent; and
     that extent, or -1. */
  const char *const *axes;
  const int64_t *extents;
} tilec_parameter;

TILEC_API const char *tilec_kernel_name(const tilec_kernel *kernel);
TILEC_API size_t tilec_kernel_num_parameters(const tilec_kernel *kernel);
/* Sets what `parameter->size` has room for. Fails if there are not so many. */
TILEC_API tilec_error *tilec_kernel_parameter(const tilec_kernel *kernel,
                                              size_t index,
                                              tilec_parameter *parameter);

/*===----------------------------------------------------------------------===*\
 * Launches
\*===----------------------------------------------------------------------===*/

typedef struct tilec_tensor {
  void *data; /* Of index (0, 0, ...): on the GPU, or for cpu on the host. */
  tilec_dtype dtype;
  size_t rank;
  const int64_t *shape;
  const int64_t *strides; /* In elements; NULL is row-major. */
} tilec_tensor;

typedef enum tilec_arg_kind {
  TILEC_ARG_DEFAULT = 0, /* A scalar's default. */
  TILEC_ARG_TENSOR = 1,
  TILEC_ARG_INTEGER = 2, /* For bool 0 or 1. */
  TILEC_ARG_REAL = 3
} tilec_arg_kind;

typedef struct tilec_arg {
  tilec_arg_kind kind;
  union {
    tilec_tensor tensor;
    int64_t integer;
    double real;
  } value;
} tilec_arg;

static inline tilec_arg tilec_tensor_arg(void *data, tilec_dtype dtype,
                                         size_t rank, const int64_t *shape,
                                         const int64_t *strides) {
  tilec_arg arg;
  arg.kind = TILEC_ARG_TENSOR;
  arg.value.tensor.data = data;
  arg.value.tensor.dtype = dtype;
  arg.value.tensor.rank = rank;
  arg.value.tensor.shape = shape;
  arg.value.tensor.strides = strides;
  return arg;
}
static inline tilec_arg tilec_integer_arg(int64_t value) {
  tilec_arg arg;
  arg.kind = TILEC_ARG_INTEGER;
  arg.value.integer = value;
  return arg;
}
static inline tilec_arg tilec_real_arg(double value) {
  tilec_arg arg;
  arg.kind = TILEC_ARG_REAL;
  arg.value.real = value;
  return arg;
}
static inline tilec_arg tilec_default_arg(void) {
  tilec_arg arg;
  arg.kind = TILEC_ARG_DEFAULT;
  arg.value.integer = 0;
  return arg;
}

/* Compiles for these arguments, unless that has been done, and puts the kernel
   on a stream; one argument for each parameter. On the target cpu it has run
   when this returns, and the stream is NULL. */
TILEC_API tilec_error *tilec_kernel_launch(tilec_kernel *kernel,
                                           tilec_stream stream,
                                           const tilec_arg *args,
                                           size_t num_args);

/* Waits for the GPU of the stream, and tells what launches of the kernel have
   found there since the last call: asserts that did not hold are an error of
   kind TILEC_ERROR_REPORT, and printed values go to standard error. No other
   thread may launch the kernel meanwhile. On the target cpu every launch tells
   by itself, and this does nothing. */
TILEC_API tilec_error *tilec_kernel_collect_reports(tilec_kernel *kernel,
                                                    tilec_stream stream);

/* Does everything but the launch: compiles, checks, loads. The tensors, which
   must stay where they are, decide the device. */
TILEC_API tilec_error *tilec_kernel_prepare(tilec_kernel *kernel,
                                            const tilec_arg *args,
                                            size_t num_args,
                                            tilec_prepared **prepared);
/* Launches again. Allocates nothing, waits for nothing, and may be captured
   into a CUDA graph. NULL is the default stream of the device. */
TILEC_API tilec_error *tilec_prepared_run(const tilec_prepared *prepared,
                                          tilec_stream stream);
TILEC_API void tilec_prepared_destroy(tilec_prepared *prepared);

/*===----------------------------------------------------------------------===*\
 * Compiled code
\*===----------------------------------------------------------------------===*/

typedef enum tilec_origin {
  TILEC_COMPILED = 0,
  TILEC_FROM_DISK = 1,
  TILEC_FROM_MEMORY = 2 /* Of an earlier call on this kernel. */
} tilec_origin;

typedef struct tilec_code_info {
  size_t size;        /* sizeof(tilec_code_info). */
  const char *target; /* "sm_90a", "cpu". */
  /* What it was compiled for, one fact a line: "N = 64", "M % 16 == 0",
     "X: stride 1 in dimension 1, 16-byte aligned", "offsets in 31 bits". */
  const char *specialization;
  tilec_origin origin;
  double milliseconds; /* That getting it took in the call which gave it. */
  /* The following are of GPUs; 0 and NULL on the target cpu. */
  unsigned registers;    /* Of a thread. */
  unsigned shared_bytes; /* Of a block. */
  unsigned threads;      /* In a block. */
  const char *cuda;      /* The CUDA C++, a translation unit of its own. */
  const char *ptx;
  const void *cubin; /* Machine code, an ELF file. */
  size_t cubin_bytes;
  /* How to launch the cubin: parameters, grid, and what must hold; JSON. */
  const char *image;
} tilec_code_info;

/* The code that a launch with these arguments runs, compiled if need be. */
TILEC_API tilec_error *tilec_kernel_compile(tilec_kernel *kernel,
                                            const tilec_arg *args,
                                            size_t num_args, tilec_code **code);
/* Ahead of time, for a GPU that need not be there: for these extents of the
   whole axes, and row-major tensors whose rows begin at multiples of 16 bytes.
   The module must name its target. */
TILEC_API tilec_error *tilec_kernel_compile_for(tilec_kernel *kernel,
                                                const tilec_number *extents,
                                                size_t num_extents,
                                                tilec_code **code);
/* Launches this very code. Arguments that it is not for are an error of kind
   TILEC_ERROR_SPECIALIZATION. */
TILEC_API tilec_error *tilec_code_launch(const tilec_code *code,
                                         tilec_stream stream,
                                         const tilec_arg *args,
                                         size_t num_args);
/* Sets what `info->size` has room for. */
TILEC_API void tilec_code_get_info(const tilec_code *code,
                                   tilec_code_info *info);
TILEC_API void tilec_code_destroy(tilec_code *code);

#ifdef __cplusplus
} /* extern "C" */
#endif
/* NOLINTEND(readability-identifier-naming) */

#endif /* TILEC_C_H */
