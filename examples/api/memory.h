/*===- memory.h - Arrays where a kernel can use them ------------*- C -*-===*\
 *
 * The examples run on a GPU if there is one and on the host otherwise, and need
 * no CUDA toolkit to be built. So the few functions of NVIDIA's driver that
they
 * call are looked up at run time. A program that has the toolkit would include
 * <cuda.h> or <cuda_runtime.h> and allocate with cuMemAlloc or cudaMalloc.
 *
\*===----------------------------------------------------------------------===*/

#ifndef TILEC_EXAMPLES_MEMORY_H
#define TILEC_EXAMPLES_MEMORY_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int has_gpu; /* Set by open_gpu. */
static int (*cu_mem_alloc)(unsigned long long *pointer, size_t bytes);
static int (*cu_copy_to)(unsigned long long to, const void *from, size_t bytes);
static int (*cu_copy_from)(void *to, unsigned long long from, size_t bytes);

/* A function of a library as a function pointer: C has no cast for it. */
static int look_up(void *library, const char *name, void *function) {
  void *address = dlsym(library, name);
  memcpy(function, &address, sizeof(address));
  return address != NULL;
}

/* Makes the first GPU current in this thread. 0 if there is none. */
static int open_gpu(void) {
  int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int),
      (*set_current)(void *);
  int device;
  void *context;
  const char *name = getenv("TILEC_CUDA_DRIVER");
  void *driver = dlopen(name && *name ? name : "libcuda.so.1", RTLD_NOW);
  has_gpu = driver && look_up(driver, "cuInit", &init) &&
            look_up(driver, "cuDeviceGet", &get) &&
            look_up(driver, "cuDevicePrimaryCtxRetain", &retain) &&
            look_up(driver, "cuCtxSetCurrent", &set_current) &&
            look_up(driver, "cuMemAlloc_v2", &cu_mem_alloc) &&
            look_up(driver, "cuMemcpyHtoD_v2", &cu_copy_to) &&
            look_up(driver, "cuMemcpyDtoH_v2", &cu_copy_from) && init(0) == 0 &&
            get(&device, 0) == 0 && retain(&context, device) == 0 &&
            set_current(context) == 0;
  return has_gpu;
}

/* Memory for a kernel, with a copy of what is on the host. */
static void *to_device(void *host, size_t bytes) {
  unsigned long long pointer = 0;
  if (!has_gpu)
    return host;
  if (cu_mem_alloc(&pointer, bytes) != 0 ||
      cu_copy_to(pointer, host, bytes) != 0) {
    fprintf(stderr, "no memory on the GPU\n");
    exit(1);
  }
  return (void *)(uintptr_t)pointer;
}

/* Waits for the kernels before it, and copies back. */
static void to_host(void *host, void *device, size_t bytes) {
  if (has_gpu && cu_copy_from(host, (uintptr_t)device, bytes) != 0) {
    fprintf(stderr, "a kernel failed\n");
    exit(1);
  }
}

#endif /* TILEC_EXAMPLES_MEMORY_H */
