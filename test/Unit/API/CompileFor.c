/* Compiles the kernel of a file for N: says where the code came from, or prints
   the message and exits with the error's kind.

     CompileFor FILE CACHE-FOLDER N [TARGET]    without one that of the GPU */

#include "tilec/c.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(tilec_error *error) {
  if (!error)
    return;
  fputs(tilec_error_message(error), stdout);
  exit((int)tilec_error_get_kind(error));
}

int main(int argc, char **argv) {
  static const char *const origins[] = {"compiled", "from disk", "from memory"};
  tilec_options options;
  tilec_module *module;
  tilec_kernel *kernel;
  tilec_code *code;
  tilec_code_info info;
  tilec_number extent;

  if (argc < 4)
    return 2;
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  options.target = argv[4]; /* NULL behind the last argument. */
  options.cache_folder = argv[2];
  check(tilec_compile_file(argv[1], &options, &module));
  check(tilec_module_kernel(module, NULL, NULL, 0, &kernel));
  extent.name = "N";
  extent.value = atoll(argv[3]);
  check(tilec_kernel_compile_for(kernel, &extent, 1, &code));
  info.size = sizeof(info);
  tilec_code_get_info(code, &info);
  puts(origins[info.origin]);
  tilec_code_destroy(code);
  tilec_kernel_destroy(kernel);
  tilec_module_destroy(module);
  return 0;
}
