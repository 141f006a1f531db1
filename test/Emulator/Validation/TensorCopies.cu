// Copies with tensor maps: every rank, every swizzle, beyond the bounds, back to
// global memory, and reductions. The innermost coordinate is a multiple of 16
// bytes always: the hardware takes another for an illegal instruction, and so a
// store with a negative coordinate in any dimension. Loads may have those.

#define LOAD(name, bytes, rank, coordinates, ...)                              \
  KERNEL name(const u32 *in, u32 *out, const __grid_constant__ Map map) {      \
    extern __shared__ __align__(1024) u8 stage[];                              \
    __shared__ __align__(8) u64 done;                                          \
    u32 i = threadIdx.x, barrier = sharedAddress(&done);                       \
    u32 words;                                                                 \
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(words));                     \
    words /= 4;                                                                \
    for (u32 at = i; at < words; at += blockDim.x)                             \
      ((u32 *)stage)[at] = 0x77777777;                                         \
    fenceAsync();                                                              \
    __syncthreads();                                                           \
    if (i == 0) {                                                              \
      barrierInit(barrier, 1);                                                 \
      fenceBarrierInit();                                                      \
      barrierExpect(barrier, bytes);                                           \
      asm volatile("cp.async.bulk.tensor." rank                                \
                   ".shared::cluster.global.mbarrier::complete_tx::bytes "     \
                   "[%0], [%1, " coordinates "], [%2];" ::"r"(                 \
                       sharedAddress(stage)),                                  \
                   "l"(&map), "r"(barrier), __VA_ARGS__                        \
                   : "memory");                                                \
    }                                                                          \
    __syncthreads();                                                           \
    barrierWait(barrier, 0);                                                   \
    for (u32 at = i; at < words; at += blockDim.x)                             \
      out[at] = ((u32 *)stage)[at];                                            \
  }
#define LOAD1(name, bytes, x) LOAD(name, bytes, "1d", "{%3}", "r"(x))
#define LOAD2(name, bytes, x, y) LOAD(name, bytes, "2d", "{%3, %4}", "r"(x), "r"(y))
#define LOAD3(name, bytes, x, y, z)                                            \
  LOAD(name, bytes, "3d", "{%3, %4, %5}", "r"(x), "r"(y), "r"(z))
#define LOAD4(name, bytes, x, y, z, w)                                         \
  LOAD(name, bytes, "4d", "{%3, %4, %5, %6}", "r"(x), "r"(y), "r"(z), "r"(w))
#define LOAD5(name, bytes, x, y, z, w, v)                                      \
  LOAD(name, bytes, "5d", "{%3, %4, %5, %6, %7}", "r"(x), "r"(y), "r"(z), "r"(w),\
       "r"(v))

// Words of shared memory from the input through a map to the output, which the
// kernel has filled before.
#define STORE(name, operation, coordinates, ...)                               \
  KERNEL name(const u32 *in, u32 *out, const __grid_constant__ Map map) {      \
    extern __shared__ __align__(1024) u8 stage[];                              \
    u32 i = threadIdx.x;                                                       \
    u32 words;                                                                 \
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(words));                     \
    words /= 4;                                                                \
    for (u32 at = i; at < words; at += blockDim.x)                             \
      ((u32 *)stage)[at] = in[at];                                             \
    for (u32 at = i; at < 512; at += blockDim.x)                               \
      out[at] = in[words + at];                                                \
    __threadfence();                                                           \
    fenceAsync();                                                              \
    __syncthreads();                                                           \
    if (i == 0) {                                                              \
      asm volatile(operation " [%0, " coordinates "], [%1];" ::"l"(&map),      \
                   "r"(sharedAddress(stage)), __VA_ARGS__                      \
                   : "memory");                                                \
      asm volatile("cp.async.bulk.commit_group;\n"                             \
                   "cp.async.bulk.wait_group 0;" ::                            \
                       : "memory");                                            \
    }                                                                          \
  }
#define COPY(rank)                                                             \
  "cp.async.bulk.tensor." rank ".global.shared::cta.bulk_group"
#define REDUCE(rank, op)                                                       \
  "cp.reduce.async.bulk.tensor." rank ".global.shared::cta." op ".bulk_group"


//! load1 in=bits:100 out=64 block=64 shared=256 map=in,u32,100,0,64,1,0
LOAD1(load1, 256, 12)

//! load1Bytes in=bits:75 out=64 block=64 shared=256 map=in,u8,300,0,256,1,0
LOAD1(load1Bytes, 256, 80)

//! load1Below in=bits:48 out=32 block=64 shared=128 map=in,u16,96,0,64,1,0
LOAD1(load1Below, 128, -8)

//! load1Above in=bits:80 out=64 block=64 shared=256 map=in,u64,40,0,32,1,0
LOAD1(load1Above, 256, 20)

//! load2 in=bits:720 out=128 block=64 shared=512 map=in,u16,64x20,144,32x8,1x1,0
LOAD2(load2, 512, 8, 3)

//! swizzle32U16 in=bits:288 out=128 block=64 shared=512 map=in,u16,24x24,48,16x16,1x1,32
LOAD2(swizzle32U16, 512, 8, 2)

//! swizzle64U16 in=bits:480 out=256 block=64 shared=1024 map=in,u16,40x24,80,32x16,1x1,64
LOAD2(swizzle64U16, 1024, 8, 2)

//! swizzle128U16 in=bits:864 out=512 block=64 shared=2048 map=in,u16,72x24,144,64x16,1x1,128
LOAD2(swizzle128U16, 2048, 8, 2)

//! swizzle128U8 in=bits:864 out=512 block=64 shared=2048 map=in,u8,144x24,144,128x16,1x1,128
LOAD2(swizzle128U8, 2048, 16, 2)

//! swizzle128F32 in=bits:960 out=512 block=64 shared=2048 map=in,f32,40x24,160,32x16,1x1,128
LOAD2(swizzle128F32, 2048, 4, 2)

//! swizzle64U8Narrow in=bits:384 out=256 block=64 shared=1024 map=in,u8,64x24,64,48x16,1x1,64
LOAD2(swizzle64U8Narrow, 768, 16, 2)

//! swizzle32U32 in=bits:384 out=128 block=64 shared=512 map=in,u32,16x24,64,8x16,1x1,32
LOAD2(swizzle32U32, 512, 4, 2)

//! swizzle128U64 in=bits:1152 out=512 block=64 shared=2048 map=in,u64,24x24,192,16x16,1x1,128
LOAD2(swizzle128U64, 2048, 2, 2)

//! swizzle128U16Narrow in=bits:576 out=512 block=64 shared=2048 map=in,u16,48x24,96,40x16,1x1,128
LOAD2(swizzle128U16Narrow, 1280, 8, 2)

//! load2Corner in=bits:560 out=128 block=64 shared=512 map=in,u16,50x20,112,32x8,1x1,64
LOAD2(load2Corner, 512, -8, -3)

//! load2Up in=bits:560 out=128 block=64 shared=512 map=in,u16,50x20,112,32x8,1x1,64
LOAD2(load2Up, 512, 8, -3)

//! load2Left in=bits:560 out=128 block=64 shared=512 map=in,u16,50x20,112,32x8,1x1,64
LOAD2(load2Left, 512, -8, 3)

//! load2Far in=f32:288 out=128 block=64 shared=512 map=in,f32,30x9,128,16x8,1x1,64
LOAD2(load2Far, 512, 20, 5)

//! load2Nan in=f16:240 out=128 block=64 shared=512 map=in,f16,40x12,80,32x8,1x1,0,nan
LOAD2(load2Nan, 512, 16, 8)

//! load2NanF32 in=f32:240 out=128 block=64 shared=512 map=in,f32,20x12,80,16x8,1x1,0,nan
LOAD2(load2NanF32, 512, -4, -1)

//! load2NanBF16 in=bf16:240 out=128 block=64 shared=512 map=in,bf16,40x12,80,32x8,1x1,0,nan
LOAD2(load2NanBF16, 512, 32, 8)

//! load2NanF64 in=f64:240 out=128 block=64 shared=512 map=in,f64,10x12,80,8x8,1x1,0,nan
LOAD2(load2NanF64, 512, 4, 6)

//! load2Outside in=bits:128 out=128 block=64 shared=512 map=in,u32,16x8,64,16x8,1x1,0
LOAD2(load2Outside, 512, 16, 0)

//! load2Step in=bits:1024 out=256 block=64 shared=1024 map=in,u32,64x16,256,32x16,1x2,0
LOAD2(load2Step, 1024, 4, 2)

//! load2Step3 in=bits:1024 out=192 block=64 shared=768 map=in,u32,64x16,256,32x16,1x3,0
LOAD2(load2Step3, 768, 4, 1)

//! load2Base in=bits:448 out=64 block=64 shared=256 map=in,u16,32x16,96,16x8,1x1,0,+256
LOAD2(load2Base, 256, 8, 3)

//! load3 in=bits:480 out=96 block=64 shared=384 map=in,u16,32x6x5,64x384,16x3x4,1x1x1,32
LOAD3(load3, 384, 8, 2, 1)

//! load3Outside in=f32:160 out=96 block=64 shared=384 map=in,f32,8x5x4,32x160,8x4x3,1x1x1,32
LOAD3(load3Outside, 384, -4, 3, -1)

//! load4 in=bits:384 out=72 block=64 shared=288 map=in,u8,32x4x3x4,32x128x384,16x3x2x3,1x1x1x1,0
LOAD4(load4, 288, 16, 1, 1, 2)

//! load4Swizzle in=bits:864 out=256 block=64 shared=1024 map=in,u16,64x3x3x3,128x384x1152,64x2x2x2,1x1x1x1,128
LOAD4(load4Swizzle, 1024, 0, 1, 2, 1)

//! load5 in=bits:288 out=64 block=64 shared=256 map=in,u16,16x3x2x3x2,32x96x192x576,8x2x2x2x2,1x1x1x1x1,0
LOAD5(load5, 256, 8, 1, 0, 1, 1)

//! load5Outside in=bits:288 out=128 block=64 shared=512 map=in,u32,8x2x3x2x3,32x64x192x384,8x2x2x2x2,1x1x1x1x1,32
LOAD5(load5Outside, 512, -4, -1, 2, 0, 2)

//! store1 in=bits:576 out=512 block=64 shared=256 map=out,u32,400,0,64,1,0
STORE(store1, COPY("1d"), "{%2}", "r"(100))

//! store1Clipped in=bits:544 out=512 block=64 shared=128 map=out,u16,200,0,64,1,0
STORE(store1Clipped, COPY("1d"), "{%2}", "r"(168))

//! store2 in=bits:576 out=512 block=64 shared=256 map=out,u16,32x20,64,16x8,1x1,32
STORE(store2, COPY("2d"), "{%2, %3}", "r"(8), "r"(5))

//! store2Clipped in=f32:640 out=512 block=64 shared=512 map=out,f32,16x20,64,16x8,1x1,64
STORE(store2Clipped, COPY("2d"), "{%2, %3}", "r"(8), "r"(15))

//! store2Bytes in=bits:640 out=512 block=64 shared=512 map=out,u8,64x20,64,64x8,1x1,64
STORE(store2Bytes, COPY("2d"), "{%2, %3}", "r"(16), "r"(15))

//! store2Swizzle128 in=bits:768 out=512 block=64 shared=1024 map=out,u16,64x12,128,64x8,1x1,128
STORE(store2Swizzle128, COPY("2d"), "{%2, %3}", "r"(0), "r"(2))

//! store2Step in=bits:544 out=512 block=64 shared=128 map=out,u32,16x20,64,8x8,1x2,0
STORE(store2Step, COPY("2d"), "{%2, %3}", "r"(4), "r"(3))

//! store3 in=bits:584 out=512 block=64 shared=288 map=out,u32,8x5x6,32x160,8x3x3,1x1x1,32
STORE(store3, COPY("3d"), "{%2, %3, %4}", "r"(4), "r"(1), "r"(4))

//! store4 in=bits:560 out=512 block=64 shared=192 map=out,u8,32x3x3x4,32x96x288,16x2x2x3,1x1x1x1,0
STORE(store4, COPY("4d"), "{%2, %3, %4, %5}", "r"(16), "r"(1), "r"(2), "r"(1))

//! store5 in=bits:576 out=512 block=64 shared=256 map=out,u16,16x2x3x2x3,32x64x192x384,8x2x2x2x2,1x1x1x1x1,0
STORE(store5, COPY("5d"), "{%2, %3, %4, %5, %6}", "r"(8), "r"(1), "r"(1), "r"(0), "r"(1))

//! reduceAddF32 in=f32:640 out=512 block=64 shared=512 map=out,f32,16x20,64,16x8,1x1,64
STORE(reduceAddF32, REDUCE("2d", "add"), "{%2, %3}", "r"(4), "r"(15))

//! reduceAddF16 in=f16:576 out=512 block=64 shared=256 map=out,f16,32x20,64,16x8,1x1,0
STORE(reduceAddF16, REDUCE("2d", "add"), "{%2, %3}", "r"(8), "r"(5))

//! reduceAddBF16 in=bf16:576 out=512 block=64 shared=256 map=out,bf16,32x20,64,16x8,1x1,0
STORE(reduceAddBF16, REDUCE("2d", "add"), "{%2, %3}", "r"(8), "r"(5))

//! reduceAddU32 in=bits:640 out=512 block=64 shared=512 map=out,u32,16x20,64,16x8,1x1,0
STORE(reduceAddU32, REDUCE("2d", "add"), "{%2, %3}", "r"(0), "r"(3))

//! reduceAddU64 in=bits:640 out=512 block=64 shared=512 map=out,u64,8x20,64,8x8,1x1,0
STORE(reduceAddU64, REDUCE("2d", "add"), "{%2, %3}", "r"(0), "r"(3))

//! reduceMinS32 in=bits:640 out=512 block=64 shared=512 map=out,s32,16x20,64,16x8,1x1,0
STORE(reduceMinS32, REDUCE("2d", "min"), "{%2, %3}", "r"(0), "r"(3))

//! reduceMaxU32 in=bits:640 out=512 block=64 shared=512 map=out,u32,16x20,64,16x8,1x1,0
STORE(reduceMaxU32, REDUCE("2d", "max"), "{%2, %3}", "r"(0), "r"(3))

//! reduceMinF16 in=f16:576 out=512 block=64 shared=256 map=out,f16,32x20,64,16x8,1x1,0
STORE(reduceMinF16, REDUCE("2d", "min"), "{%2, %3}", "r"(8), "r"(5))

//! reduceMaxBF16 in=bf16:576 out=512 block=64 shared=256 map=out,bf16,32x20,64,16x8,1x1,0
STORE(reduceMaxBF16, REDUCE("2d", "max"), "{%2, %3}", "r"(8), "r"(5))

//! reduceMaxS64 in=bits:640 out=512 block=64 shared=512 map=out,s64,8x20,64,8x8,1x1,0
STORE(reduceMaxS64, REDUCE("2d", "max"), "{%2, %3}", "r"(0), "r"(3))

//! reduceInc in=bits:640 out=512 block=64 shared=512 map=out,u32,16x20,64,16x8,1x1,0
STORE(reduceInc, REDUCE("2d", "inc"), "{%2, %3}", "r"(0), "r"(3))

//! reduceDec in=bits:640 out=512 block=64 shared=512 map=out,u32,16x20,64,16x8,1x1,0
STORE(reduceDec, REDUCE("2d", "dec"), "{%2, %3}", "r"(0), "r"(3))

//! reduceAnd in=bits:640 out=512 block=64 shared=512 map=out,u32,16x20,64,16x8,1x1,0
STORE(reduceAnd, REDUCE("2d", "and"), "{%2, %3}", "r"(0), "r"(3))

//! reduceOr in=bits:640 out=512 block=64 shared=512 map=out,u64,8x20,64,8x8,1x1,0
STORE(reduceOr, REDUCE("2d", "or"), "{%2, %3}", "r"(0), "r"(3))

//! reduceXor in=bits:640 out=512 block=64 shared=512 map=out,u32,16x20,64,16x8,1x1,0
STORE(reduceXor, REDUCE("2d", "xor"), "{%2, %3}", "r"(0), "r"(3))
