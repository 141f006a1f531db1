// Attention backward for Hopper (sm_90a): dQ, dK, dV of  O = softmax(Q K^T scale + mask) V.
//
//   Q, O, dO, dQ: bf16 [B, H, S, D]    K, V, dK, dV: bf16 [B, G, T, D], H a multiple of G    LSE: f32 [B, H, S]
//
// Three kernels:
//   preprocess   -rowsum(dO * O), -LSE log2 e (both padded to whole query blocks), dQ accumulator = 0
//   backward     per block of 128 keys, loops over the query blocks of all the query heads that share the keys
//   postprocess  dQ accumulator (f32, in the order of accumulator fragments) -> dQ
//
// Main kernel, roles: in the first warpgroup, warp 0 claims tiles and copies Q, dO and the row vectors (TMA), warp 3 copies K and V;
// warps 1 and 2 send out what the consumers leave in their staging buffers: parts of dQ, added to the accumulator by bulk reductions
// in L2, then dV and dK. Each of two consumer warpgroups owns 64 keys.
//
// Scores and their derivatives are computed transposed, so that P^T and dS^T are A operands as they stand. A consumer's step, at
// query block m (S^T and dP^T are complete when it begins; dQ lags by one block, so that no consumer waits for the other's dS):
//
//     mask, P^T = exp2((S^T - LSE) scale);               issue dV += P^T dO            (EARLY_DV: else with dK)
//     dS^T = P^T (dP^T - D), also to shared memory;      issue dQ(m - 1) = dS K, dK += dS^T Q
//     wait for dV and dQ, stage dQ;                      issue S^T(m + 1) = K Q^T
//     wait for dK, release Q(m) and dO(m);               issue dP^T(m + 1) = V dO^T
//     wait for both
//
//
#include "prelude.cuh"

// ---------------------------------------------------------------------------------------------------------------------
// Schedule: what a compiler decides
// ---------------------------------------------------------------------------------------------------------------------
#ifndef HEAD_DIM // 64 or 128
#define HEAD_DIM 128
#endif
#ifndef TILE_M // queries of a block: 64 or 128
#define TILE_M 64
#endif
#ifndef EARLY_DV // issue dV before dS is computed (no registers for it at HEAD_DIM 64)
#define EARLY_DV (HEAD_DIM == 128)
#endif
#ifndef PING_PONG // consumers issue their products in turn
#define PING_PONG 1
#endif
#ifndef SCHEDULE // 0: one tile per CTA, 1: persistent with a static order, 2: persistent with a dynamic order
#define SCHEDULE 1
#endif
#ifndef COUNTED_LOOP // with the dynamic order, consumers leave a counted loop by `exit`; assembled, but never run
#define COUNTED_LOOP 0
#endif
#ifndef START_AT_ROWS // accumulators of S^T and dP^T start at -LSE / scale and -D instead of 0
#define START_AT_ROWS 0
#endif
#ifndef PREFETCH // K and V of the next tile into L2
#define PREFETCH 1
#endif
#ifndef ISSUE_TOGETHER // S^T and dP^T: 0 in turn, 1 at once, 2 at once and after dK is complete
#define ISSUE_TOGETHER 0
#endif
#ifndef REVERSE // heads in the opposite order of preprocess and postprocess, which meets what L2 still holds
#define REVERSE 1
#endif
#ifndef STAGES // of the Q ring and of the dO ring
#define STAGES 2
#endif

// ---------------------------------------------------------------------------------------------------------------------
// Problem: what the user writes
// ---------------------------------------------------------------------------------------------------------------------
#ifndef CAUSAL // query i sees keys up to i + T - S
#define CAUSAL 0
#endif
#ifndef PROFILE // record the cycles of each CTA
#define PROFILE 0
#endif

constexpr int kHeadDim = HEAD_DIM;
constexpr int kTileM = TILE_M;
constexpr int kConsumers = 2;
constexpr int kTileN = 64 * kConsumers;
constexpr int kStages = STAGES;
constexpr int kDsStages = 3;
constexpr int kTileSlots = 2;
constexpr int kThreads = 128 * (kConsumers + 1);
constexpr int kProducerRegisters = 24;
constexpr int kConsumerRegisters = 240;
constexpr int kWarpsPerGroup = 4;

// dQ(m) is TILE_M x HEAD_DIM; the consumers split its rows when there are 128, else its columns. Each has a 64 x 64 part.
constexpr bool kSplitRows = kTileM == 128;
static_assert(kSplitRows ? kHeadDim == 64 : kTileM == 64 && kHeadDim == 128, "parts of dQ are 64 x 64");

// Shared memory, in bytes. Every tile is a row of boxes of 64 columns (128 bytes) in the 128-byte swizzle.
constexpr int kBoxColumns = 64;
constexpr int kBoxes = kHeadDim / kBoxColumns;
constexpr int kQBox = kTileM * 128; // also of dO and dS
constexpr int kKvBox = kTileN * 128;
constexpr int kQBytes = kBoxes * kQBox;
constexpr int kKvBytes = kBoxes * kKvBox;
constexpr int kDsBytes = kConsumers * kQBox; // [query][key], one box per consumer
constexpr int kDqPartFloats = 64 * 64;
constexpr int kDqPartBytes = 4 * kDqPartFloats;
constexpr int kRowBytes = 4 * kTileM;
constexpr int kKOffset = 0;
constexpr int kVOffset = kKOffset + kKvBytes;
constexpr int kQOffset = kVOffset + kKvBytes;
constexpr int kGOffset = kQOffset + kStages * kQBytes; // dO
constexpr int kDsOffset = kGOffset + kStages * kQBytes;
constexpr int kDqOffset = kDsOffset + kDsStages * kDsBytes;
constexpr int kLseOffset = kDqOffset + kConsumers * kDqPartBytes;
constexpr int kDeltaOffset = kLseOffset + kStages * kRowBytes;
constexpr int kBarrierOffset = kDeltaOffset + kStages * kRowBytes;
constexpr int kBarriers = 4 * kStages + 4 + 2 * kDsStages + 2 * kConsumers + 2 * kTileSlots;
constexpr int kTileSlotOffset = kBarrierOffset + 8 * kBarriers;
constexpr int kSharedBytes = kTileSlotOffset + 4 * kTileSlots;
static_assert(kSharedBytes <= 232448, "shared memory of one CTA");

constexpr int kTurnBarrier = 1; // + consumer

// wgmma operands; a step is 16 of the contracted dimension.
constexpr u64 kKMajor = wgmma_layout_128b(16, 8 * 128);
constexpr u64 kQMnMajor = wgmma_layout_128b(kQBox, 8 * 128);
constexpr u64 kKvMnMajor = wgmma_layout_128b(kKvBox, 8 * 128);
CONSTANT u64 q_step(int k) { return u64((k / 4) * kQBox + (k % 4) * 32) >> 4; } // along a row of Q, dO or dS
CONSTANT u64 kv_step(int k) { return u64((k / 4) * kKvBox + (k % 4) * 32) >> 4; }
CONSTANT u64 row_step(int k) { return u64(k * 16 * 128) >> 4; } // down the rows

// Accumulator element i of a thread: row half (i >> 1) & 1, and this column plus 2 * (lane % 4).
CONSTANT int column_of(int i) { return 8 * (i >> 2) + (i & 1); }
CONSTANT int half_of(int i) { return (i >> 1) & 1; }

struct Strides { // in elements
  long long batch, head, row;
};

struct Params {
  const float *lse;      // [B, H, S]
  float *negative_lse;   // [B, H, blocks_m * TILE_M], in units of the exponent (of S with START_AT_ROWS); -inf beyond S and
                         // where nothing is visible
  float *negative_delta; // the same shape; 0 beyond S
  float *dq;             // [B, H, blocks_m][2 parts][8][128 threads][4]
  const bf16 *o, *g;     // O, dO
  bf16 *dq_out;
  int *scheduler;        // two zeroed words, left zeroed
  u64 *profile;
  Strides o_strides, g_strides, dq_strides;
  int queries, keys;       // S, T
  int heads, kv_heads;     // H, G
  int group, blocks_m;     // H / G; query blocks of a head
  int blocks_n, pairs;     // key blocks of a head; B * G
  int section, tiles;      // pairs whose key blocks are interleaved, so that their Q, dO and dQ stay in L2; tiles in all
  float exp_scale, scale;  // scale log2 e; scale
};

// ---------------------------------------------------------------------------------------------------------------------
// Preprocess: one CTA of 256 threads per query block
// ---------------------------------------------------------------------------------------------------------------------

DEVICE float dot_bf16x2(u32 x, u32 y, float sum) {
  sum = __fmaf_rn(__uint_as_float(x << 16), __uint_as_float(y << 16), sum);
  return __fmaf_rn(__uint_as_float(x & 0xffff0000u), __uint_as_float(y & 0xffff0000u), sum);
}

extern "C" __global__ void __launch_bounds__(256) preprocess(const __grid_constant__ Params params) {
  constexpr int kLanes = kHeadDim / 8; // of a row
  constexpr int kRows = 256 / kLanes;  // at a time
  constexpr int kPasses = kTileM / kRows;
  const int block = blockIdx.x, pair = blockIdx.y;
  const int batch = pair / params.heads, head = pair - batch * params.heads;
  const int column = threadIdx.x % kLanes * 8;

  uint4 x[kPasses], y[kPasses];
#pragma unroll
  for (int i = 0; i < kPasses; ++i) {
    const int row = block * kTileM + i * kRows + threadIdx.x / kLanes;
    x[i] = y[i] = make_uint4(0, 0, 0, 0);
    if (row < params.queries) {
      const Strides &o = params.o_strides, &g = params.g_strides;
      x[i] = *reinterpret_cast<const uint4 *>(params.o + batch * o.batch + head * o.head + row * o.row + column);
      y[i] = *reinterpret_cast<const uint4 *>(params.g + batch * g.batch + head * g.head + row * g.row + column);
    }
  }
  float4 *dq = reinterpret_cast<float4 *>(params.dq + ((long long)pair * params.blocks_m + block) * (kTileM * kHeadDim));
#pragma unroll
  for (int i = 0; i < kTileM * kHeadDim / 1024; ++i)
    dq[i * 256 + threadIdx.x] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int i = 0; i < kPasses; ++i) {
    float sum = dot_bf16x2(x[i].x, y[i].x, 0.0f);
    sum = dot_bf16x2(x[i].y, y[i].y, sum);
    sum = dot_bf16x2(x[i].z, y[i].z, sum);
    sum = dot_bf16x2(x[i].w, y[i].w, sum);
#pragma unroll
    for (int lane = 1; lane < kLanes; lane *= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, lane);
    const int row = block * kTileM + i * kRows + threadIdx.x / kLanes;
    if (column == 0) {
      const long long index = (long long)pair * params.blocks_m * kTileM + row;
      float lse = row < params.queries ? params.lse[(long long)pair * params.queries + row] : -infinity();
      params.negative_delta[index] = -sum;
      params.negative_lse[index] = lse == -infinity() ? -infinity() : -lse * (START_AT_ROWS ? reciprocal_approx(params.scale) : kLog2E);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Postprocess: one CTA of 256 threads per query block
// ---------------------------------------------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(256) postprocess(const __grid_constant__ Params params) {
  constexpr int kPitch = kHeadDim + 8;
  __shared__ __align__(16) bf16 tile[kTileM * kPitch];
  const int block = blockIdx.x, pair = blockIdx.y;
  const int batch = pair / params.heads, head = pair - batch * params.heads;
  const int part = threadIdx.x / 128, thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
  const float4 *dq = reinterpret_cast<const float4 *>(params.dq + ((long long)pair * params.blocks_m + block) * (kTileM * kHeadDim));
  float4 x[8];
#pragma unroll
  for (int j = 0; j < 8; ++j)
    x[j] = __ldcs(dq + (part * 8 + j) * 128 + thread);
  const int row = 16 * warp + lane / 4 + (kSplitRows ? 64 * part : 0);
  const int column = 2 * (lane % 4) + (kSplitRows ? 0 : 64 * part);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    *reinterpret_cast<u32 *>(tile + row * kPitch + column + 8 * j) = pack_bf16x2(x[j].x * params.scale, x[j].y * params.scale);
    *reinterpret_cast<u32 *>(tile + (row + 8) * kPitch + column + 8 * j) = pack_bf16x2(x[j].z * params.scale, x[j].w * params.scale);
  }
  __syncthreads();
  constexpr int kLanes = kHeadDim / 8, kRows = 256 / kLanes;
#pragma unroll
  for (int i = 0; i < kTileM / kRows; ++i) {
    const int r = i * kRows + threadIdx.x / kLanes, c = threadIdx.x % kLanes * 8, q = block * kTileM + r;
    const Strides &s = params.dq_strides;
    if (q < params.queries)
      *reinterpret_cast<uint4 *>(params.dq_out + batch * s.batch + head * s.head + q * s.row + c) =
          *reinterpret_cast<const uint4 *>(tile + r * kPitch + c);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Tiles
// ---------------------------------------------------------------------------------------------------------------------

struct Tile {
  int key;             // first key
  int kv_head, batch;
  int begin, count;    // query blocks visited: begin .. begin + count - 1, of each query head of the group
  int full;            // from this query block on, nothing is masked
  DEVICE int block(int i) const { return begin + i; }
};

DEVICE Tile tile_at(int index, const Params &params) {
  Tile tile;
  const int section_tiles = params.section * params.blocks_n;
  const int section = index / section_tiles;
  const int first_pair = section * params.section;
  const int pairs = min(params.section, params.pairs - first_pair);
  const int within = index - section * section_tiles;
  const int block = within / pairs; // causal: longest first
  int pair = first_pair + (within - block * pairs);
  if (REVERSE)
    pair = params.pairs - 1 - pair;
  tile.key = block * kTileN;
  tile.batch = pair / params.kv_heads;
  tile.kv_head = pair - tile.batch * params.kv_heads;
  const int first_query = tile.key - (params.keys - params.queries); // that sees the first key, when causal
  tile.begin = CAUSAL ? max(0, first_query) / kTileM : 0;
  tile.count = params.blocks_m - tile.begin;
  tile.full = CAUSAL ? (max(0, first_query + kTileN - 1) + kTileM - 1) / kTileM : 0;
  if (tile.key + kTileN > params.keys)
    tile.full = params.blocks_m;
  return tile;
}

// ---------------------------------------------------------------------------------------------------------------------
// Shared-memory addresses and rings
// ---------------------------------------------------------------------------------------------------------------------

struct Shared {
  u32 base;
  DEVICE u32 k() const { return base + kKOffset; }
  DEVICE u32 v() const { return base + kVOffset; }
  DEVICE u32 q(int stage) const { return base + kQOffset + stage * kQBytes; }
  DEVICE u32 g(int stage) const { return base + kGOffset + stage * kQBytes; }
  DEVICE u32 ds(int stage) const { return base + kDsOffset + stage * kDsBytes; }
  DEVICE u32 dq(int consumer) const { return base + kDqOffset + consumer * kDqPartBytes; }
  DEVICE u32 lse(int stage) const { return base + kLseOffset + stage * kRowBytes; }
  DEVICE u32 delta(int stage) const { return base + kDeltaOffset + stage * kRowBytes; }
  DEVICE u32 barrier(int index) const { return base + kBarrierOffset + 8 * index; }
  DEVICE u32 q_full(int stage) const { return barrier(stage); }
  DEVICE u32 q_empty(int stage) const { return barrier(kStages + stage); }
  DEVICE u32 g_full(int stage) const { return barrier(2 * kStages + stage); }
  DEVICE u32 g_empty(int stage) const { return barrier(3 * kStages + stage); }
  DEVICE u32 k_full() const { return barrier(4 * kStages); }
  DEVICE u32 v_full() const { return barrier(4 * kStages + 1); }
  DEVICE u32 k_empty() const { return barrier(4 * kStages + 2); }
  DEVICE u32 v_empty() const { return barrier(4 * kStages + 3); }
  DEVICE u32 ds_full(int stage) const { return barrier(4 * kStages + 4 + stage); }
  DEVICE u32 ds_empty(int stage) const { return barrier(4 * kStages + 4 + kDsStages + stage); }
  DEVICE u32 dq_full(int consumer) const { return barrier(4 * kStages + 4 + 2 * kDsStages + consumer); }
  DEVICE u32 dq_empty(int consumer) const { return barrier(4 * kStages + 4 + 2 * kDsStages + kConsumers + consumer); }
  DEVICE u32 tile_full(int slot) const { return barrier(4 * kStages + 4 + 2 * kDsStages + 2 * kConsumers + slot); }
  DEVICE u32 tile_empty(int slot) const { return tile_full(slot) + 8 * kTileSlots; }
  DEVICE u32 tile_slot(int slot) const { return base + kTileSlotOffset + 4 * slot; }
};

// Position in a ring of buffers: the buffer, and the parity of its current use.
template <int kCount> struct Ring {
  int stage = 0;
  u32 phase = 0;
  DEVICE void advance() {
    if (++stage == kCount) {
      stage = 0;
      phase ^= 1;
    }
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Producer and writers: one thread each
// ---------------------------------------------------------------------------------------------------------------------

DEVICE void load(u32 shared, const TensorMap *map, u32 barrier, int row, int head, int batch, int box_bytes) {
#pragma unroll
  for (int box = 0; box < kBoxes; ++box)
    tma_load_4d(shared + box * box_bytes, map, barrier, box * kBoxColumns, row, head, batch);
}

// Claims tiles and loads Q, dO and the row vectors.
DEVICE void produce(const Shared &shared, const TensorMap *q_map, const TensorMap *g_map, const Params &params) {
  Ring<kStages> ring;
  Ring<kTileSlots> slot;
  int index = blockIdx.x;
  while (true) {
    if (SCHEDULE == 2) {
      mbarrier_wait(shared.tile_empty(slot.stage), slot.phase ^ 1);
      shared_store(shared.tile_slot(slot.stage), index < params.tiles ? index : -1); // the arrival releases it
      mbarrier_arrive(shared.tile_full(slot.stage));
      slot.advance();
    }
    if (index >= params.tiles)
      break;
    const Tile tile = tile_at(index, params);
    int head = tile.kv_head * params.group, m = tile.begin;
    for (int left = params.group * tile.count; left > 0; --left) {
      const long long row = (long long)((tile.batch * params.heads + head) * params.blocks_m + m) * kTileM;
      mbarrier_wait(shared.q_empty(ring.stage), ring.phase ^ 1);
      mbarrier_arrive_expect(shared.q_full(ring.stage), kQBytes + kRowBytes);
      load(shared.q(ring.stage), q_map, shared.q_full(ring.stage), m * kTileM, head, tile.batch, kQBox);
      bulk_load(shared.lse(ring.stage), params.negative_lse + row, shared.q_full(ring.stage), kRowBytes);
      mbarrier_wait(shared.g_empty(ring.stage), ring.phase ^ 1);
      mbarrier_arrive_expect(shared.g_full(ring.stage), kQBytes + kRowBytes);
      load(shared.g(ring.stage), g_map, shared.g_full(ring.stage), m * kTileM, head, tile.batch, kQBox);
      bulk_load(shared.delta(ring.stage), params.negative_delta + row, shared.g_full(ring.stage), kRowBytes);
      ring.advance();
      if (++m == params.blocks_m) {
        m = tile.begin;
        ++head;
      }
    }
    index = SCHEDULE == 2 ? gridDim.x + atomicAdd(params.scheduler, 1) : index + gridDim.x; // claimed as late as possible
  }
  if (SCHEDULE == 2)
    __threadfence(); // the claim above comes before the count
  if (SCHEDULE == 2 && atomicAdd(params.scheduler + 1, 1) == int(gridDim.x) - 1) { // the last CTA resets the counters
    __threadfence();
    params.scheduler[0] = 0;
    atomicExch(params.scheduler + 1, 0);
  }
}

// The tiles of this CTA, for the roles that do not claim them: one thread, or a converged warp (then lane 0 arrives).
struct Tiles {
  const Shared &shared;
  const Params &params;
  bool arrives;
  int index = blockIdx.x;
  bool started = false;
  Ring<kTileSlots> slot;

  DEVICE bool next() {
    if (SCHEDULE == 2) {
      mbarrier_wait(shared.tile_full(slot.stage), slot.phase);
      index = shared_load(shared.tile_slot(slot.stage));
      __syncwarp(); // one lane hands the slot back for all
      if (arrives)
        mbarrier_arrive(shared.tile_empty(slot.stage));
      slot.advance();
      return index >= 0;
    }
    if (started)
      index = SCHEDULE == 1 ? index + gridDim.x : params.tiles;
    started = true;
    return index < params.tiles;
  }
};

// Loads K and V, as soon as the consumers are done with those of the tile before; V first, since it is free earlier.
DEVICE void produce_kv(const Shared &shared, const TensorMap *k_map, const TensorMap *v_map, const Params &params) {
  u32 phase = 0;
  for (Tiles tiles{shared, params, true}; tiles.next(); phase ^= 1) {
    const Tile tile = tile_at(tiles.index, params);
    if (PREFETCH && tiles.index != blockIdx.x) {
#pragma unroll
      for (int box = 0; box < kBoxes; ++box) {
        tma_prefetch_4d(k_map, box * kBoxColumns, tile.key, tile.kv_head, tile.batch);
        tma_prefetch_4d(v_map, box * kBoxColumns, tile.key, tile.kv_head, tile.batch);
      }
    }
    mbarrier_wait(shared.v_empty(), phase ^ 1);
    mbarrier_arrive_expect(shared.v_full(), kKvBytes);
    load(shared.v(), v_map, shared.v_full(), tile.key, tile.kv_head, tile.batch, kKvBox);
    mbarrier_wait(shared.k_empty(), phase ^ 1);
    mbarrier_arrive_expect(shared.k_full(), kKvBytes);
    load(shared.k(), k_map, shared.k_full(), tile.key, tile.kv_head, tile.batch, kKvBox);
  }
}

// Sends out what a consumer stages: its part of dQ of every step, then its rows of dV, then those of dK.
DEVICE void write(const Shared &shared, int consumer, const TensorMap *dk_map, const TensorMap *dv_map, const Params &params) {
  u32 phase = 0;
  const u32 buffer = shared.dq(consumer);
  auto sent = [&]() {
    tma_store_commit();
    tma_store_wait_read<0>();
    mbarrier_arrive(shared.dq_empty(consumer));
    phase ^= 1;
  };
  for (Tiles tiles{shared, params, true}; tiles.next();) {
    const Tile tile = tile_at(tiles.index, params);
    for (int member = 0; member < params.group; ++member) {
      const int block = (tile.batch * params.heads + tile.kv_head * params.group + member) * params.blocks_m + tile.begin;
      float *out = params.dq + (long long)(block * kConsumers + consumer) * kDqPartFloats;
      for (int i = 0; i < tile.count; ++i) {
        mbarrier_wait(shared.dq_full(consumer), phase);
        bulk_reduce_add_f32(out, buffer, kDqPartBytes);
        sent();
        out += kConsumers * kDqPartFloats;
      }
    }
    const int key = tile.key + 64 * consumer;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      mbarrier_wait(shared.dq_full(consumer), phase);
#pragma unroll
      for (int box = 0; box < kBoxes; ++box)
        tma_store_4d(i == 0 ? dv_map : dk_map, buffer + box * 64 * 128, box * kBoxColumns, key, tile.kv_head, tile.batch);
      sent();
    }
  }
  tma_store_wait<0>();
}

// ---------------------------------------------------------------------------------------------------------------------
// Consumer: one warpgroup
// ---------------------------------------------------------------------------------------------------------------------

struct Consumer {
  Shared shared;
  const Params &params;
  int consumer, warp, lane;

  Tile tile;
  Ring<kStages> q;       // of Q and dO, at the current step
  Ring<kDsStages> d, e;  // of dS; of dQ, which lags
  u32 dq_phase, kv_phase;

  float s[kTileM / 2];  // S^T, then P^T
  float dp[kTileM / 2]; // dP^T
  u32 p[kTileM / 4];    // P^T and dS^T, as A fragments
  u32 ds[kTileM / 4];
  float dq[32];
  float dk[kHeadDim / 2], dv[kHeadDim / 2];

  // ---- products, asynchronous ----

  // Every accumulator of a query starts at that query's value.
  DEVICE void start(float (&x)[kTileM / 2], u32 rows) {
#if START_AT_ROWS
#pragma unroll
    for (int i = 0; i < kTileM / 2; i += 4) {
      shared_load_f32x2(x[i], x[i + 1], rows + 8 * (lane % 4) + 8 * i);
      x[i + 2] = x[i];
      x[i + 3] = x[i + 1];
    }
    pin(x); // the copies are made here, not between products
#endif
  }

  // S^T = K Q^T
  DEVICE void issue_scores(int stage) {
    wgmma_fence();
    const u64 a = wgmma_descriptor(kKMajor, shared.k() + consumer * 64 * 128), b = wgmma_descriptor(kKMajor, shared.q(stage));
#pragma unroll
    for (int i = 0; i < kHeadDim / 16; ++i)
      wgmma_ss<0>(s, a + kv_step(i), b + q_step(i), START_AT_ROWS || i != 0);
    wgmma_commit();
  }

  // dP^T = V dO^T
  DEVICE void issue_dp(int stage) {
    wgmma_fence();
    const u64 a = wgmma_descriptor(kKMajor, shared.v() + consumer * 64 * 128), b = wgmma_descriptor(kKMajor, shared.g(stage));
#pragma unroll
    for (int i = 0; i < kHeadDim / 16; ++i)
      wgmma_ss<0>(dp, a + kv_step(i), b + q_step(i), START_AT_ROWS || i != 0);
    wgmma_commit();
  }

  // dV += P^T dO
  DEVICE void issue_dv() {
    const u64 b = wgmma_descriptor(kQMnMajor, shared.g(q.stage));
#pragma unroll
    for (int i = 0; i < kTileM / 16; ++i)
      wgmma_rs<1>(dv, p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3], b + row_step(i), 1);
    wgmma_commit();
  }

  // dK += dS^T Q
  DEVICE void issue_dk() {
    const u64 b = wgmma_descriptor(kQMnMajor, shared.q(q.stage));
#pragma unroll
    for (int i = 0; i < kTileM / 16; ++i)
      wgmma_rs<1>(dk, ds[4 * i], ds[4 * i + 1], ds[4 * i + 2], ds[4 * i + 3], b + row_step(i), 1);
    wgmma_commit();
  }

  // This consumer's part of dQ = dS K
  DEVICE void issue_dq(int stage) {
    const u64 a = wgmma_descriptor(kKMajor, shared.ds(stage) + (kSplitRows ? consumer * 64 * 128 : 0));
    const u64 b = wgmma_descriptor(kKvMnMajor, shared.k() + (kSplitRows ? 0 : consumer * kKvBox));
#pragma unroll
    for (int i = 0; i < kTileN / 16; ++i)
      wgmma_ss<1>(dq, a + q_step(i), b + row_step(i), i != 0);
    wgmma_commit();
  }

  DEVICE void arrive(u32 barrier) { // once per warp
    __syncwarp();
    if (lane == 0)
      mbarrier_arrive(barrier);
  }

  // ---- elements ----

  DEVICE void apply_mask(int m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int key = tile.key + 64 * consumer + 16 * warp + lane / 4 + 8 * half;
      const int first_query = key >= params.keys ? 1 << 30 : CAUSAL ? key - (params.keys - params.queries) : -(1 << 30);
      const int first = first_query - m * kTileM - 2 * (lane % 4);
#pragma unroll
      for (int i = 0; i < kTileM / 2; ++i)
        if (half_of(i) == half)
          s[i] = column_of(i) >= first ? s[i] : -infinity();
    }
  }

  // P^T = exp2((S^T - LSE) scale), P in place of S. A score function would be applied here, before the mask, and its derivative kept
  // for `derivative` (then S must start at 0, and LSE is subtracted after the function).
  DEVICE void probability(int i, u32 rows) { // of elements i .. i + 3
#if START_AT_ROWS
    float x[2] = {0.0f, 0.0f};
#else
    float x[2];
    shared_load_f32x2(x[0], x[1], rows + 8 * i);
#endif
#pragma unroll
    for (int j = i; j < i + 4; ++j)
      s[j] = exp2_approx(START_AT_ROWS ? s[j] * params.exp_scale : __fmaf_rn(s[j], params.exp_scale, x[j % 2]));
    p[i / 2] = pack_bf16x2(s[i], s[i + 1]);
    p[i / 2 + 1] = pack_bf16x2(s[i + 2], s[i + 3]);
  }

  // dS^T = P^T (dP^T - D), times the derivative of the score function if there is one; also to shared memory as dS.
  DEVICE void derivative(int i, u32 rows, u32 out) {
#if START_AT_ROWS
    float x[2] = {0.0f, 0.0f};
#else
    float x[2];
    shared_load_f32x2(x[0], x[1], rows + 8 * i);
#endif
    float e[4];
#pragma unroll
    for (int j = 0; j < 4; ++j)
      e[j] = s[i + j] * (START_AT_ROWS ? dp[i + j] : dp[i + j] + x[j % 2]);
    ds[i / 2] = pack_bf16x2(e[0], e[1]);
    ds[i / 2 + 1] = pack_bf16x2(e[2], e[3]);
    if (i % 8 == 4)
      stmatrix_x4_trans(out + (i / 8) * 16 * 128, ds[i / 2 - 2], ds[i / 2 - 1], ds[i / 2], ds[i / 2 + 1]);
  }

  DEVICE void elements() {
    const u32 lse = shared.lse(q.stage) + 8 * (lane % 4), delta = shared.delta(q.stage) + 8 * (lane % 4);
    // Lane i of a transposing store addresses query i % 8 of matrix i / 8; matrices: keys +0, +8 of queries +0, then of queries +8.
    const u32 row = 8 * (lane / 16) + lane % 8;
    const u32 out = shared.ds(d.stage) + consumer * kQBox + row * 128 + (((2 * warp + lane / 8 % 2) ^ (row & 7)) * 16);
    if (EARLY_DV) {
#pragma unroll
      for (int i = 0; i < kTileM / 2; i += 4)
        probability(i, lse);
      wgmma_fence();
      issue_dv();
      mbarrier_wait(shared.ds_empty(d.stage), d.phase ^ 1);
#pragma unroll
      for (int i = 0; i < kTileM / 2; i += 4)
        derivative(i, delta, out);
    } else { // slice by slice, so that S and dP give up their registers as it goes
      mbarrier_wait(shared.ds_empty(d.stage), d.phase ^ 1);
#pragma unroll
      for (int i = 0; i < kTileM / 2; i += 4) {
        probability(i, lse);
        derivative(i, delta, out);
      }
      pin(p);
    }
    pin(ds);
    fence_proxy_async();
    arrive(shared.ds_full(d.stage));
    d.advance();
  }

  // The staging buffer: take it when the writer has sent its contents, then hand it over.
  DEVICE void take_buffer() {
    mbarrier_wait(shared.dq_empty(consumer), dq_phase ^ 1);
    dq_phase ^= 1;
  }
  DEVICE void hand_over_buffer() {
    fence_proxy_async();
    arrive(shared.dq_full(consumer));
  }

  DEVICE void stage_dq() {
    take_buffer();
#pragma unroll
    for (int j = 0; j < 8; ++j)
      shared_store_f32x4(shared.dq(consumer) + (j * 128 + 32 * warp + lane) * 16, dq[4 * j], dq[4 * j + 1], dq[4 * j + 2], dq[4 * j + 3]);
    hand_over_buffer();
  }

  DEVICE void stage_output(float (&x)[kHeadDim / 2], float factor) {
    take_buffer();
    // Lane i of an x4 store addresses row i % 16, 16-byte chunk i / 16 of a 16x16 block.
    const u32 row = 16 * warp + lane % 16;
#pragma unroll
    for (int block = 0; block < kHeadDim / 16; ++block) {
      const int i = 8 * block;
      const u32 chunk = (2 * (block % 4) + lane / 16) ^ (row & 7);
      stmatrix_x4(shared.dq(consumer) + (block / 4) * 64 * 128 + row * 128 + chunk * 16, pack_bf16x2(x[i] * factor, x[i + 1] * factor),
                  pack_bf16x2(x[i + 2] * factor, x[i + 3] * factor), pack_bf16x2(x[i + 4] * factor, x[i + 5] * factor),
                  pack_bf16x2(x[i + 6] * factor, x[i + 7] * factor));
    }
    hand_over_buffer();
  }

  // ---- pipeline ----

  DEVICE void take_turn() {
    if (PING_PONG)
      named_barrier_sync(kTurnBarrier + consumer, 256);
  }
  DEVICE void pass_turn() {
    if (PING_PONG)
      named_barrier_arrive(kTurnBarrier + (consumer + 1 == kConsumers ? 0 : consumer + 1), 256);
  }

  DEVICE void release_q() {
    arrive(shared.q_empty(q.stage));
    arrive(shared.g_empty(q.stage));
  }
  DEVICE void start_scores(int stage) { start(s, shared.lse(stage)); }
  DEVICE void start_dp(int stage) { start(dp, shared.delta(stage)); }

  DEVICE void start_dq() {
    mbarrier_wait(shared.ds_full(e.stage), e.phase);
    wgmma_fence();
    issue_dq(e.stage);
  }
  template <int kPending> DEVICE void finish_dq() {
    wgmma_wait<kPending>();
    pin(dq);
    arrive(shared.ds_empty(e.stage));
    e.advance();
    stage_dq();
  }

  // One query block; dQ of the one before.
  template <bool kFirst, bool kLast> DEVICE void step(int m) {
    if (kLast)
      arrive(shared.v_empty());
    if (m < tile.full)
      apply_mask(m);
    elements();
    take_turn();
    if (!EARLY_DV) {
      wgmma_fence();
      issue_dv();
    }
    if (!kFirst)
      start_dq();
    wgmma_fence();
    issue_dk();
    if (!kFirst)
      finish_dq<1>();
    Ring<kStages> next = q;
    next.advance();
    if (!kLast) {
      mbarrier_wait(shared.q_full(next.stage), next.phase);
#if ISSUE_TOGETHER == 0
      start_scores(next.stage);
      issue_scores(next.stage);
      wgmma_wait<1>(); // dV and dK are complete
      release_q();
      mbarrier_wait(shared.g_full(next.stage), next.phase);
      start_dp(next.stage);
      issue_dp(next.stage);
#else
      mbarrier_wait(shared.g_full(next.stage), next.phase);
#if ISSUE_TOGETHER == 2
      wgmma_wait<0>();
      release_q();
#endif
      start_scores(next.stage);
      start_dp(next.stage);
      issue_scores(next.stage);
      issue_dp(next.stage);
#if ISSUE_TOGETHER == 1
      wgmma_wait<2>(); // dV and dK are complete
      release_q();
#endif
#endif
      q = next;
      pass_turn();
      wgmma_wait<0>();
      pin(s);
      pin(dp);
    } else {
      wgmma_wait<0>();
      release_q();
      q = next;
      pass_turn();
    }
  }

  DEVICE void run_tile() {
#pragma unroll
    for (int i = 0; i < kHeadDim / 2; ++i)
      dk[i] = dv[i] = 0.0f;
    mbarrier_wait(shared.k_full(), kv_phase);
    mbarrier_wait(shared.q_full(q.stage), q.phase);
    mbarrier_wait(shared.v_full(), kv_phase);
    mbarrier_wait(shared.g_full(q.stage), q.phase);
    start_scores(q.stage);
    start_dp(q.stage);
    issue_scores(q.stage);
    issue_dp(q.stage);
    wgmma_wait<0>();
    pin(s);
    pin(dp);
    kv_phase ^= 1;

    int i = 0;
    auto block = [&]() { // of the current step; the heads of the group follow each other
      const int m = tile.block(i);
      if (++i == tile.count)
        i = 0;
      return m;
    };
    int left = params.group * tile.count - 1;
    if (left == 0) {
      step<true, true>(block());
    } else {
      step<true, false>(block());
      for (--left; left > 0; --left)
        step<false, false>(block());
      step<false, true>(block());
    }
    start_dq();
    finish_dq<0>();
    arrive(shared.k_empty());
    pin(dk);
    pin(dv);
    stage_output(dv, 1.0f);
    stage_output(dk, params.scale);
  }

  DEVICE void run() {
    dq_phase = kv_phase = 0;
    if (PING_PONG && consumer == kConsumers - 1)
      named_barrier_arrive(kTurnBarrier, 256); // the first turn
#if SCHEDULE == 2 && COUNTED_LOOP && !PROFILE
    Tiles tiles{shared, params, lane == 0};
    for (int n = 0; n <= params.tiles; ++n) {
      tiles.next();
      exit_if_negative(uniform(tiles.index));
      tile = tile_at(uniform(tiles.index), params);
      run_tile();
    }
#else
    for (Tiles tiles{shared, params, lane == 0}; tiles.next();) {
      tile = tile_at(SCHEDULE == 2 ? uniform(tiles.index) : tiles.index, params);
      run_tile();
    }
#endif
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Main kernel
// ---------------------------------------------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    backward(const __grid_constant__ TensorMap q_map, const __grid_constant__ TensorMap k_map,
             const __grid_constant__ TensorMap v_map, const __grid_constant__ TensorMap g_map,
             const __grid_constant__ TensorMap dk_map, const __grid_constant__ TensorMap dv_map,
             const __grid_constant__ Params params) {
  extern __shared__ __align__(1024) u8 memory[];
  const Shared shared{shared_address(memory)};
  const int warpgroup = uniform(threadIdx.x / 128);
  const int warp = uniform(threadIdx.x / 32 % 4);
  const int lane = threadIdx.x % 32;

  if (threadIdx.x == 0) {
    const int all = kConsumers * kWarpsPerGroup;
    for (int stage = 0; stage < kStages; ++stage) {
      mbarrier_init(shared.q_full(stage), 1);
      mbarrier_init(shared.g_full(stage), 1);
      mbarrier_init(shared.q_empty(stage), all);
      mbarrier_init(shared.g_empty(stage), all);
    }
    mbarrier_init(shared.k_full(), 1);
    mbarrier_init(shared.v_full(), 1);
    mbarrier_init(shared.k_empty(), all);
    mbarrier_init(shared.v_empty(), all);
    for (int slot = 0; slot < kTileSlots; ++slot) {
      mbarrier_init(shared.tile_full(slot), 1);
      mbarrier_init(shared.tile_empty(slot), all + kConsumers + 1);
    }
    for (int stage = 0; stage < kDsStages; ++stage) {
      mbarrier_init(shared.ds_full(stage), all);
      mbarrier_init(shared.ds_empty(stage), all);
    }
    for (int consumer = 0; consumer < kConsumers; ++consumer) {
      mbarrier_init(shared.dq_full(consumer), kWarpsPerGroup);
      mbarrier_init(shared.dq_empty(consumer), 1);
    }
    fence_barrier_init();
    tensor_map_prefetch(&q_map);
    tensor_map_prefetch(&k_map);
    tensor_map_prefetch(&v_map);
    tensor_map_prefetch(&g_map);
    tensor_map_prefetch(&dk_map);
    tensor_map_prefetch(&dv_map);
  }
  __syncthreads();

  if (warpgroup == 0) {
    register_budget_down<kProducerRegisters>();
    if (warp == 0 && elect_one())
      produce(shared, &q_map, &g_map, params);
    if (warp == 3 && elect_one())
      produce_kv(shared, &k_map, &v_map, params);
    if (warp >= 1 && warp <= kConsumers && elect_one())
      write(shared, warp - 1, &dk_map, &dv_map, params);
  } else {
    register_budget_up<kConsumerRegisters>();
#if PROFILE
    const u64 start = clock64();
#endif
    Consumer consumer{shared, params, warpgroup - 1, warp, lane};
    consumer.run();
#if PROFILE
    if (threadIdx.x == 128)
      params.profile[blockIdx.x] = clock64() - start;
#endif
  }
}
