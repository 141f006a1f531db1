// The header in C++11.

#include "scale.h"

// Declared in HeaderTest.cpp. NOLINTNEXTLINE(misc-use-internal-linkage)
const char *launchInCpp(void *stream, scale_tensor x, float s, bool flag,
                        uint16_t h, int64_t count, scale_tensor y,
                        scale_tensor z) {
  return scale_launch(stream, x, s, flag, h, count, y, z);
}
