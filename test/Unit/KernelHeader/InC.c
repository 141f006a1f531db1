/* The header in C99. */

#include "scale.h"

const char *launchInC(void *stream, const scale_tensor *x, float s, int flag,
                        uint16_t h, int64_t count, const scale_tensor *y,
                        const scale_tensor *z);
const char *launchInC(void *stream, const scale_tensor *x, float s, int flag,
                        uint16_t h, int64_t count, const scale_tensor *y,
                        const scale_tensor *z) {
  return scale_launch(stream, *x, s, (uint8_t)flag, h, count, *y, *z);
}
