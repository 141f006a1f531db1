// Both headers in C++11.

#include "copy.h"
#include "scale.h"

// Declared in HeaderTest.cpp. NOLINTNEXTLINE(misc-use-internal-linkage)
const char *launchInCpp(void *stream, scale_tensor x, float s, bool flag,
                        uint16_t h, int64_t count, scale_tensor y,
                        scale_tensor z) {
  return scale_launch(stream, x, s, flag, h, count, y, z);
}

// NOLINTNEXTLINE(misc-use-internal-linkage): as above.
const char *copyInCpp(copy_tensor x, copy_tensor y) {
  return copy_launch(nullptr, x, y);
}
