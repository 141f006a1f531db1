/* Divides every row of a matrix by its largest magnitude, through the C
   interface: on a GPU if there is one, otherwise on the host. */

#include "examples/api/memory.h"
#include "tilec/c.h"
#include <math.h>

static const char *const source =
    "kernel scale_rows(X: f32[M, N], Y: out f32[M, N]) {\n"
    "  grid m in tile(M)\n"
    "  Y[m] = X[m] / max<N>(abs(X[m]))\n"
    "}\n";

enum { M = 100, N = 33 };

/* Ends the program if something went wrong. */
static void check(tilec_error *error) {
  if (!error)
    return;
  fprintf(stderr, "%s", tilec_error_message(error));
  tilec_error_destroy(error);
  exit(1);
}

int main(void) {
  static float x[M][N], y[M][N];
  const int64_t shape[] = {M, N};
  tilec_options options;
  tilec_module *module;
  tilec_kernel *kernel;
  tilec_arg args[2];
  void *x_device, *y_device;
  int wrong = 0;

  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  if (!open_gpu())
    options.target = "cpu"; /* NULL is the GPU that is there. */
  check(tilec_compile_string("scale_rows.tile", source, &options, &module));
  check(tilec_module_kernel(module, "scale_rows", NULL, 0, &kernel));
  tilec_module_destroy(module); /* The kernel keeps what it needs. */

  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      x[i][j] = (float)((i * 31 + j * 17) % 101 - 50);
  x_device = to_device(x, sizeof(x));
  y_device = to_device(y, sizeof(y));
  args[0] = tilec_tensor_arg(x_device, TILEC_F32, 2, shape, NULL);
  args[1] = tilec_tensor_arg(y_device, TILEC_F32, 2, shape, NULL);
  check(tilec_kernel_launch(kernel, NULL, args, 2));
  to_host(y, y_device, sizeof(y));

  for (int i = 0; i < M; ++i) {
    float largest = 0;
    for (int j = 0; j < N; ++j)
      largest = fmaxf(largest, fabsf(x[i][j]));
    for (int j = 0; j < N; ++j)
      wrong += !(fabsf(y[i][j] - x[i][j] / largest) < 1e-6f);
  }
  tilec_kernel_destroy(kernel);
  printf("scale_rows on the %s: %d of %d elements wrong\n",
         has_gpu ? "GPU" : "cpu", wrong, M * N);
  return wrong != 0;
}
