// ldmatrix, stmatrix, movmatrix.

//! load in=bits:2048 out=896 block=64
KERNEL load(const u32 *in, u32 *out) {
  __shared__ __align__(128) u32 tile[1024];
  THREAD;
  for (u32 at = i; at < 1024; at += 64)
    tile[at] = in[at];
  __syncthreads();
  // Rows of 16 bytes in an order of no regularity.
  u32 row = (in[1024 + i] % 251);
  u32 address = sharedAddress(tile) + 16 * row;
  u32 r[4];
#define LOAD1(trans)                                                           \
  asm volatile("ldmatrix.sync.aligned.m8n8.x1" trans                           \
               ".shared.b16 {%0}, [%1];"                                       \
               : "=r"(r[0])                                                    \
               : "r"(address));                                                \
  PUT(r[0])
#define LOAD2(trans)                                                           \
  asm volatile("ldmatrix.sync.aligned.m8n8.x2" trans                           \
               ".shared.b16 {%0, %1}, [%2];"                                   \
               : "=r"(r[0]), "=r"(r[1])                                        \
               : "r"(address));                                                \
  PUT(r[0]);                                                                   \
  PUT(r[1])
#define LOAD4(trans)                                                           \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4" trans                           \
               ".shared.b16 {%0, %1, %2, %3}, [%4];"                           \
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                \
               : "r"(address));                                                \
  PUT(r[0]);                                                                   \
  PUT(r[1]);                                                                   \
  PUT(r[2]);                                                                   \
  PUT(r[3])
  LOAD1("");
  LOAD1(".trans");
  LOAD2("");
  LOAD2(".trans");
  LOAD4("");
  LOAD4(".trans");
}

//! store in=bits:512 out=2048 block=32 grid=2
KERNEL store(const u32 *in, u32 *out) {
  __shared__ __align__(128) u32 tile[1024];
  u32 i = threadIdx.x;
  for (u32 at = i; at < 1024; at += 32)
    tile[at] = 0;
  __syncthreads();
  const u32 *from = in + blockIdx.x * 256;
  u32 r[4];
  for (u32 at = 0; at < 4; ++at)
    r[at] = from[32 * at + i];
  u32 base = sharedAddress(tile);
  // Every row of a store has a place of its own: i * 5 modulo 32 is one to one.
  u32 address = base + 16 * (i * 5 % 32);
  if (blockIdx.x == 0) {
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(
                     address),
                 "r"(r[0])
                 : "memory");
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(
            address + 512),
        "r"(r[0]), "r"(r[1])
        : "memory");
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, "
                 "%4};" ::"r"(address + 1024),
                 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
  } else {
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(
            address),
        "r"(r[0])
        : "memory");
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(
            address + 512),
        "r"(r[0]), "r"(r[1])
        : "memory");
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, "
        "%4};" ::"r"(address + 1024),
        "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
        : "memory");
  }
  __syncthreads();
  for (u32 at = i; at < 1024; at += 32)
    out[blockIdx.x * 1024 + at] = tile[at];
}

//! move in=bits:64 out=64 block=64
KERNEL move(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  OP1("movmatrix.sync.aligned.m8n8.trans.b16");
}
