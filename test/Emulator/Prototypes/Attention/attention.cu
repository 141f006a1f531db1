// Attention forward for Hopper (sm_90a):  O = softmax(score(Q K^T) + mask) V,  LSE = log sum exp.
//
//   Q, O: bf16 [B, H, S, D]    K, V: bf16 [B, G, T, D], H a multiple of G    LSE: f32 [B, H, S]
//
// Roles: one producer warp copies tiles into shared memory (TMA); each consumer warpgroup owns 64 query rows. Key blocks are
// visited from the right, so that blocks cut by the end of the sequence or by the causal diagonal come first.
//
// Pipeline of a consumer, at key block n (P belongs to block n + 1):
//
//     issue S = Q K(n)^T, issue O += P V(n + 1)            both asynchronous, in this order
//     wait for S;  score function, mask, row maximum       under O += P V
//     wait for O;  rescale O if a maximum grew much, P = exp2(S - maximum)
//
// Meanwhile the other consumers keep the tensor cores busy.
#include "prelude.cuh"

// ---------------------------------------------------------------------------------------------------------------------
// Schedule: what a compiler decides
// ---------------------------------------------------------------------------------------------------------------------
#ifndef HEAD_DIM // 64, 128 or 256
#define HEAD_DIM 128
#endif
#ifndef TILE_N // keys of a block, a multiple of 16
#define TILE_N 128
#endif
#ifndef CONSUMERS // warpgroups of 64 queries: 2 or 3
#define CONSUMERS 2
#endif
#ifndef OUT_BOXES // 64-column boxes of output staging per consumer
#define OUT_BOXES 1
#endif
#ifndef SCHEDULE // 0: one tile per CTA, 1: persistent with a static order, 2: persistent with a dynamic order
#define SCHEDULE 2
#endif
#ifndef PING_PONG // consumers issue their products in turn
#define PING_PONG 0
#endif
#ifndef Q_IN_REGISTERS
#define Q_IN_REGISTERS 0
#endif
#ifndef LAZY_RESCALE // rescale only when a row maximum grew by more than this many powers of two; 0: whenever it grew
#define LAZY_RESCALE 8
#endif
#ifndef INTEGER_MAX // three-input integer maximum, when the row maxima are not negative
#define INTEGER_MAX 1
#endif
#ifndef EXP_POLYNOMIAL // of each 16 exponentials, how many avoid the special-function unit
#define EXP_POLYNOMIAL 0
#endif

// ---------------------------------------------------------------------------------------------------------------------
// Problem: what the user writes
// ---------------------------------------------------------------------------------------------------------------------
#ifndef CAUSAL // query i sees keys up to i + T - S
#define CAUSAL 0
#endif
#ifndef WINDOW // and, with CAUSAL, no further back than params.window keys
#define WINDOW 0
#endif
#define SCORE_NONE 0
#define SCORE_SOFTCAP 1       // cap * tanh(s / cap), hardware tanh
#define SCORE_SOFTCAP_EXACT 2 // the same through exp2 and reciprocal
#define SCORE_ALIBI 3         // s + slope[h] * (kv - q)
#ifndef SCORE
#define SCORE SCORE_NONE
#endif
#ifndef PROFILE // record cycles and nanoseconds of each CTA
#define PROFILE 0
#endif

constexpr int kHeadDim = HEAD_DIM;
constexpr int kTileN = TILE_N;
constexpr int kConsumers = CONSUMERS;
constexpr int kTileM = 64 * kConsumers;
constexpr int kStages = 2; // of the K ring and of the V ring
constexpr bool kPersistent = SCHEDULE != 0;

constexpr int kThreads = 128 * (kConsumers + 1);
constexpr int kProducerRegisters = kConsumers == 3 ? 32 : 24;
constexpr int kConsumerRegisters = kConsumers == 3 ? 160 : 240;

// Shared memory, in bytes. Every tile is a row of boxes of 64 columns (128 bytes) in the 128-byte swizzle.
constexpr int kBoxColumns = 64;
constexpr int kBoxes = kHeadDim / kBoxColumns;
constexpr int kQBox = 64 * 128; // also of O
constexpr int kKvBox = kTileN * 128;
constexpr int kQBytes = kBoxes * kQBox; // of one consumer
constexpr int kKvBytes = kBoxes * kKvBox;
constexpr int kOutBytes = OUT_BOXES * kQBox; // of one consumer
constexpr int kQOffset = 0;
constexpr int kKOffset = kQOffset + kConsumers * kQBytes;
constexpr int kVOffset = kKOffset + kStages * kKvBytes;
constexpr int kOutOffset = kVOffset + kStages * kKvBytes;
constexpr int kBarrierOffset = kOutOffset + kConsumers * kOutBytes;
constexpr int kBarriers = 4 * kStages + 2 * kConsumers;
constexpr int kTileSlotOffset = kBarrierOffset + 8 * kBarriers;
constexpr int kSharedBytes = kTileSlotOffset + 4 * kConsumers;
static_assert(kSharedBytes <= 232448, "shared memory of one CTA");
static_assert(kBoxes % OUT_BOXES == 0, "output leaves in equal pieces");

constexpr int kWarpsPerGroup = 4;
constexpr int kTurnBarrier = 1;                        // + consumer
constexpr int kOutBarrier = kTurnBarrier + kConsumers; // + consumer

// wgmma operands: K-major Q and K, MN-major V; a step is 16 of the contracted dimension.
constexpr u64 kKMajor = wgmma_layout_128b(16, 8 * 128);
constexpr u64 kMnMajor = wgmma_layout_128b(kKvBox, 8 * 128);
CONSTANT u64 q_step(int k) { return u64((k / 4) * kQBox + (k % 4) * 32) >> 4; }
CONSTANT u64 k_step(int k) { return u64((k / 4) * kKvBox + (k % 4) * 32) >> 4; }
CONSTANT u64 v_step(int k) { return u64(k * 16 * 128) >> 4; }

// Accumulator element i of a thread: row half (i >> 1) & 1, and this column plus 2 * (lane % 4).
CONSTANT int column_of(int i) { return 8 * (i >> 2) + (i & 1); }
CONSTANT int half_of(int i) { return (i >> 1) & 1; }

struct Params {
  float *lse;
  int *scheduler; // two zeroed words, left zeroed
  const float *slopes;
  u64 *profile;
  int queries, keys;      // S, T
  int heads, group;       // H, H / G
  int tiles_m, tiles;     // per head; in all
  int section_heads;      // (batch, head) pairs whose tiles are interleaved, so that their K and V stay in L2
  int window;
  float score_scale;      // factor on the raw dot product inside the score function
  float exp_scale;        // p = exp2((t - max t) * exp_scale)
};

// ---------------------------------------------------------------------------------------------------------------------
// Score and mask functions: what a user writes
// ---------------------------------------------------------------------------------------------------------------------

// A score function sees the raw dot product x and returns t(x, q, kv), which the compiler splits into score + row: `row` depends
// on the row and the block only, and never touches the elements, since max(score + row) = max(score) + row and
// exp2((score + row - m) c) = exp2(score c + (row - m) c). `column` is a compile-time constant. A positive constant factor of
// t belongs in params.exp_scale.
#if SCORE == SCORE_SOFTCAP || SCORE == SCORE_SOFTCAP_EXACT
constexpr bool kHasScore = true, kHasRow = false;
DEVICE float score_row(int, int, float) { return 0.0f; }
DEVICE float score(float x, int, float, const Params &params) {
#if SCORE == SCORE_SOFTCAP
  return tanh_approx(x * params.score_scale);
#else // tanh x = 1 - 2 / (1 + e^2x), score_scale includes 2 log2 e
  return __fmaf_rn(-2.0f, reciprocal_approx(1.0f + exp2_approx(x * params.score_scale)), 1.0f);
#endif
}
#elif SCORE == SCORE_ALIBI // in units of x: slope / scale * (kv - q)
constexpr bool kHasScore = true, kHasRow = true;
DEVICE float score_row(int q, int kv, float slope) { return slope * float(kv - q); }
DEVICE float score(float x, int column, float slope, const Params &) { return __fmaf_rn(slope, float(column), x); }
#else
constexpr bool kHasScore = false, kHasRow = false;
DEVICE float score_row(int, int, float) { return 0.0f; }
DEVICE float score(float x, int, float, const Params &) { return x; }
#endif

// Masks that are intervals of keys: row q sees [first_key(q), end_key(q)).
DEVICE int end_key(int q, const Params &params) {
  return CAUSAL ? min(params.keys, q + 1 + params.keys - params.queries) : params.keys;
}
DEVICE int first_key(int q, const Params &params) {
  return WINDOW ? q + 1 + params.keys - params.queries - params.window : 0;
}

// Any other mask: #define MASK_PREDICATE(q, kv); every block is then tested.
#ifdef MASK_PREDICATE
constexpr bool kHasPredicate = true;
#else
constexpr bool kHasPredicate = false;
#define MASK_PREDICATE(q, kv) true
#endif

// ---------------------------------------------------------------------------------------------------------------------
// Tiles
// ---------------------------------------------------------------------------------------------------------------------

struct Tile {
  int row;          // first query
  int head, batch;
  int begin, end;   // key blocks visited, from end - 1 down to begin
  int full_begin, full_end; // blocks in which nothing is masked
};

DEVICE Tile tile_at(int index, const Params &params) {
  Tile tile;
  int section_tiles = params.section_heads * params.tiles_m;
  int section = index / section_tiles;
  int first_pair = section * params.section_heads;
  int pairs = min(params.section_heads, params.tiles / params.tiles_m - first_pair);
  int within = index - section * section_tiles;
  int tile_m = within / pairs;
  int pair = first_pair + (within - tile_m * pairs);
  if (CAUSAL)
    tile_m = params.tiles_m - 1 - tile_m; // longest first
  tile.row = tile_m * kTileM;
  tile.batch = pair / params.heads;
  tile.head = pair - tile.batch * params.heads;

  // Interval analysis of the masks over the rows of the tile. At least one block is visited, masked or not.
  const int last_row = min(tile.row + kTileM, params.queries) - 1;
  tile.end = max(1, (max(0, end_key(last_row, params)) + kTileN - 1) / kTileN);
  tile.full_end = max(0, end_key(tile.row, params)) / kTileN;
  tile.begin = WINDOW ? min(max(0, first_key(tile.row, params)) / kTileN, tile.end - 1) : 0;
  tile.full_begin = WINDOW ? (max(0, first_key(last_row, params)) + kTileN - 1) / kTileN : 0;
  if (kHasPredicate)
    tile.full_end = 0;
  tile.full_begin = min(max(tile.full_begin, tile.begin), tile.end);
  tile.full_end = max(min(tile.full_end, tile.end), tile.full_begin);
  return tile;
}

// ---------------------------------------------------------------------------------------------------------------------
// Shared-memory addresses and rings
// ---------------------------------------------------------------------------------------------------------------------

struct Shared {
  u32 base;
  DEVICE u32 q(int consumer) const { return base + kQOffset + consumer * kQBytes; }
  DEVICE u32 k(int stage) const { return base + kKOffset + stage * kKvBytes; }
  DEVICE u32 v(int stage) const { return base + kVOffset + stage * kKvBytes; }
  DEVICE u32 out(int consumer) const { return base + kOutOffset + consumer * kOutBytes; }
  DEVICE u32 barrier(int index) const { return base + kBarrierOffset + 8 * index; }
  DEVICE u32 k_full(int stage) const { return barrier(stage); }
  DEVICE u32 k_empty(int stage) const { return barrier(kStages + stage); }
  DEVICE u32 v_full(int stage) const { return barrier(2 * kStages + stage); }
  DEVICE u32 v_empty(int stage) const { return barrier(3 * kStages + stage); }
  DEVICE u32 q_full(int consumer) const { return barrier(4 * kStages + consumer); }
  DEVICE u32 q_empty(int consumer) const { return barrier(4 * kStages + kConsumers + consumer); }
  DEVICE u32 tile_slot(int consumer) const { return base + kTileSlotOffset + 4 * consumer; }
};

// Position in a ring of buffers: the buffer, and the parity of its current use.
struct Ring {
  int stage = 0;
  u32 phase = 0;
  DEVICE void advance() {
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Producer: one thread
// ---------------------------------------------------------------------------------------------------------------------

DEVICE void load(u32 shared, const TensorMap *map, u32 barrier, int row, int head, int batch, int box_bytes) {
#pragma unroll
  for (int box = 0; box < kBoxes; ++box)
    tma_load_4d(shared + box * box_bytes, map, barrier, box * kBoxColumns, row, head, batch);
}

DEVICE void produce(const Shared &shared, const TensorMap *q_map, const TensorMap *k_map, const TensorMap *v_map,
                    const Params &params) {
  Ring k, v;
  u32 q_phase = 0;
  int index = blockIdx.x;
  while (index < params.tiles) {
    const Tile tile = tile_at(index, params);
    const int kv_head = tile.head / params.group;

    auto load_k = [&](int n) {
      mbarrier_wait(shared.k_empty(k.stage), k.phase ^ 1);
      mbarrier_arrive_expect(shared.k_full(k.stage), kKvBytes);
      load(shared.k(k.stage), k_map, shared.k_full(k.stage), n * kTileN, kv_head, tile.batch, kKvBox);
      k.advance();
    };
    auto load_v = [&](int n) {
      mbarrier_wait(shared.v_empty(v.stage), v.phase ^ 1);
      mbarrier_arrive_expect(shared.v_full(v.stage), kKvBytes);
      load(shared.v(v.stage), v_map, shared.v_full(v.stage), n * kTileN, kv_head, tile.batch, kKvBox);
      v.advance();
    };

    load_k(tile.end - 1);
    for (int consumer = 0; consumer < kConsumers; ++consumer) {
      mbarrier_wait(shared.q_empty(consumer), q_phase ^ 1);
      shared_store(shared.tile_slot(consumer), index); // the arrival releases it to the consumer
      mbarrier_arrive_expect(shared.q_full(consumer), kQBytes);
      load(shared.q(consumer), q_map, shared.q_full(consumer), tile.row + 64 * consumer, tile.head, tile.batch, kQBox);
    }
    q_phase ^= 1;
    for (int n = tile.end - 2; n >= tile.begin; --n) {
      load_k(n);
      load_v(n + 1);
    }

    // Claim the next tile as late as possible (an early claim unbalances the end of the grid), but before the last wait.
    int next = params.tiles;
    if (SCHEDULE == 1)
      next = index + gridDim.x;
    if (SCHEDULE == 2)
      next = gridDim.x + atomicAdd(params.scheduler, 1);
    load_v(tile.begin);
    index = next;
  }
  if (kPersistent) { // tell the consumers
    for (int consumer = 0; consumer < kConsumers; ++consumer) {
      mbarrier_wait(shared.q_empty(consumer), q_phase ^ 1);
      shared_store(shared.tile_slot(consumer), -1);
      mbarrier_arrive(shared.q_full(consumer));
    }
  }
  if (SCHEDULE == 2)
    __threadfence(); // the claim above comes before the count
  if (SCHEDULE == 2 && atomicAdd(params.scheduler + 1, 1) == int(gridDim.x) - 1) { // the last CTA resets the counters
    __threadfence();
    params.scheduler[0] = 0;
    atomicExch(params.scheduler + 1, 0);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Consumer: one warpgroup
// ---------------------------------------------------------------------------------------------------------------------

struct Consumer {
  Shared shared;
  const TensorMap *out_map;
  const Params &params;
  int consumer, warp, lane;

  Ring k, v;
  u32 q_phase;
  Tile tile;
  float slope; // of the head

  float s[kTileN / 2];   // scores
  u32 p[kTileN / 4];     // probabilities, as A fragments
  float o[kHeadDim / 2]; // output, not normalised
  float row_max[2];      // reference of the exponentials: the row maximum, or one not much smaller
  float row_sum[2];      // of this thread's columns
  float base[2];         // (row term of the score - row_max) in the units of the exponent
  float shrink[2];       // exp2(old reference - new reference)
  bool grown;            // O and the sums are relative to another reference than row_max
#if Q_IN_REGISTERS
  u32 q_fragment[kHeadDim / 4];
#endif

  // ---- products, asynchronous ----

  DEVICE void load_q() {
#if Q_IN_REGISTERS
    // Lane i of an x4 load addresses row i % 16, 16-byte chunk i / 16 of a 16x16 block.
    const u32 row = 16 * warp + lane % 16;
#pragma unroll
    for (int step = 0; step < kHeadDim / 16; ++step) {
      const u32 chunk = (2 * (step % 4) + lane / 16) ^ (row & 7);
      u32 r[4];
      ldmatrix_x4(r, shared.q(consumer) + (step / 4) * kQBox + row * 128 + chunk * 16);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        q_fragment[4 * step + i] = r[i];
    }
#endif
  }

  // S = Q K^T
  DEVICE void issue_scores() {
    const u64 b = wgmma_descriptor(kKMajor, shared.k(k.stage));
#if Q_IN_REGISTERS
#pragma unroll
    for (int i = 0; i < kHeadDim / 16; ++i)
      wgmma_rs<0>(s, q_fragment[4 * i], q_fragment[4 * i + 1], q_fragment[4 * i + 2], q_fragment[4 * i + 3], b + k_step(i),
                  i != 0);
#else
    const u64 a = wgmma_descriptor(kKMajor, shared.q(consumer));
#pragma unroll
    for (int i = 0; i < kHeadDim / 16; ++i)
      wgmma_ss<0>(s, a + q_step(i), b + k_step(i), i != 0);
#endif
    wgmma_commit();
  }

  // O += P V
  DEVICE void issue_output() {
    const u64 b = wgmma_descriptor(kMnMajor, shared.v(v.stage));
#pragma unroll
    for (int i = 0; i < kTileN / 16; ++i)
      wgmma_rs<1>(o, p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3], b + v_step(i), 1);
    wgmma_commit();
  }

  DEVICE void wait_k() { mbarrier_wait(shared.k_full(k.stage), k.phase); }
  DEVICE void wait_v() { mbarrier_wait(shared.v_full(v.stage), v.phase); }

  // One arrival per warp.
  DEVICE void release_k() {
    if (lane == 0)
      mbarrier_arrive(shared.k_empty(k.stage));
    k.advance();
  }
  DEVICE void release_v() {
    if (lane == 0)
      mbarrier_arrive(shared.v_empty(v.stage));
    v.advance();
  }
  DEVICE void release_q() {
    if (lane == 0)
      mbarrier_arrive(shared.q_empty(consumer));
  }

  DEVICE void take_turn() {
    if (PING_PONG)
      named_barrier_sync(kTurnBarrier + consumer, 256);
  }
  DEVICE void pass_turn() {
    if (PING_PONG)
      named_barrier_arrive(kTurnBarrier + (consumer + 1 == kConsumers ? 0 : consumer + 1), 256);
  }

  // ---- softmax ----

  DEVICE int first_row() const { return tile.row + 64 * consumer + 16 * warp + lane / 4; }
  DEVICE int first_column(int n) const { return n * kTileN + 2 * (lane % 4); }

  DEVICE void apply_score() {
    if (kHasScore) {
#pragma unroll
      for (int i = 0; i < kTileN / 2; ++i)
        s[i] = score(s[i], column_of(i), slope, params);
    }
  }

  DEVICE void apply_mask(int n) {
    const int kv = first_column(n);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int query = first_row() + 8 * half;
      const int end = end_key(query, params) - kv, first = first_key(query, params) - kv;
#pragma unroll
      for (int i = 0; i < kTileN / 2; ++i) {
        if (half_of(i) == half) {
          bool keep = column_of(i) < end;
          if (WINDOW)
            keep = keep && column_of(i) >= first;
          if (kHasPredicate)
            keep = keep && (MASK_PREDICATE(query, (kv + column_of(i))));
          s[i] = keep ? s[i] : -infinity();
        }
      }
    }
  }

  // m = max(m, this thread's scores), for both rows.
  DEVICE void thread_maximum(float (&m)[2]) const {
    // Floats that are not negative order like integers, and above all negative ones; integers have a maximum of three.
    if (INTEGER_MAX && __all_sync(0xffffffffu, (__float_as_int(m[0]) | __float_as_int(m[1])) >= 0)) {
      int partial[4] = {__float_as_int(m[0]), __float_as_int(m[1]), __float_as_int(m[0]), __float_as_int(m[1])};
#pragma unroll
      for (int i = 0; i < kTileN / 2; i += 2)
        partial[i / 2 % 4] = max3(partial[i / 2 % 4], __float_as_int(s[i]), __float_as_int(s[i + 1]));
      m[0] = __int_as_float(max(partial[0], partial[2]));
      m[1] = __int_as_float(max(partial[1], partial[3]));
    } else {
      float partial[4] = {s[0], s[1], s[2], s[3]};
#pragma unroll
      for (int i = 4; i < kTileN / 2; ++i)
        partial[i % 4] = fmaxf(partial[i % 4], s[i]);
      m[0] = fmaxf(m[0], fmaxf(partial[0], partial[1]));
      m[1] = fmaxf(m[1], fmaxf(partial[2], partial[3]));
    }
  }

  // Brings row_max up to date with the scores of block n, and says by how much O and the sums must shrink.
  template <bool kMasked> DEVICE void update_maximum(int n) {
    float row[2], new_max[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      row[half] = kHasRow ? score_row(first_row() + 8 * half, first_column(n), slope) : 0.0f;
      new_max[half] = kHasRow ? row_max[half] - row[half] : row_max[half];
    }
    thread_maximum(new_max);
#pragma unroll
    for (int half = 0; half < 2; ++half) { // the four lanes of a row
      if (kHasRow)
        new_max[half] += row[half];
      new_max[half] = fmaxf(new_max[half], __shfl_xor_sync(0xffffffffu, new_max[half], 1));
      new_max[half] = fmaxf(new_max[half], __shfl_xor_sync(0xffffffffu, new_max[half], 2));
    }
    // Any reference near the maximum gives the same quotient; keeping the old one saves rescaling O.
    const float growth = fmaxf(new_max[0] - row_max[0], new_max[1] - row_max[1]) * params.exp_scale;
    grown = __any_sync(0xffffffffu, growth > float(LAZY_RESCALE));
    if (!grown) {
      new_max[0] = row_max[0];
      new_max[1] = row_max[1];
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      // A row with nothing visible yet has maximum -inf; any finite reference keeps its probabilities 0.
      const float reference = kMasked && new_max[half] == -infinity() ? 0.0f : new_max[half];
      shrink[half] = exp2_approx((row_max[half] - reference) * params.exp_scale);
      base[half] = (row[half] - reference) * params.exp_scale;
      row_max[half] = new_max[half];
      row_sum[half] *= shrink[half];
    }
  }

  DEVICE void rescale_output() {
    if (grown) {
#pragma unroll
      for (int i = 0; i < kHeadDim / 2; ++i)
        o[i] *= shrink[half_of(i)];
    }
  }

  // P = exp2(S - reference), and its row sums; the registers of S become free as it goes.
  DEVICE void exponentials() {
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int i = 0; i < kTileN / 2; i += 4) {
      float e[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float t = __fmaf_rn(s[i + j], params.exp_scale, base[j / 2]);
        const bool polynomial = ((i + j + 1) * EXP_POLYNOMIAL) / 16 != ((i + j) * EXP_POLYNOMIAL) / 16; // spread evenly
        e[j] = polynomial ? exp2_polynomial(t) : exp2_approx(t);
        sum[j] = i == 0 ? e[j] : sum[j] + e[j];
      }
      p[i / 2] = pack_bf16x2(e[0], e[1]);
      p[i / 2 + 1] = pack_bf16x2(e[2], e[3]);
    }
    row_sum[0] += sum[0] + sum[1];
    row_sum[1] += sum[2] + sum[3];
  }

  // ---- pipeline ----

  // The first key block of a tile: no product of an earlier block runs beside it.
  DEVICE void first_block() {
    wait_k();
    wgmma_fence();
    issue_scores();
    wgmma_wait<0>();
    pin(s);
    release_k();
    if (tile.end - 1 == tile.begin)
      release_q();
    apply_score();
    apply_mask(tile.end - 1);
    row_max[0] = row_max[1] = -infinity();
    row_sum[0] = row_sum[1] = 0.0f;
    update_maximum<true>(tile.end - 1);
    exponentials();
#pragma unroll
    for (int i = 0; i < kHeadDim / 2; ++i)
      o[i] = 0.0f;
    if (tile.end - 1 > tile.begin)
      wait_k();
  }

  template <bool kMasked> DEVICE void block(int n) {
    take_turn();
    wgmma_fence();
    issue_scores(); // K(n) has arrived
    wait_v();
    wgmma_fence(); // ptxas wants one before each product whose registers other instructions wrote (else note C7519)
    issue_output();
    pass_turn();

    wgmma_wait<1>(); // S is complete, O += P V in flight
    pin(s);
    release_k();
    if (n == tile.begin)
      release_q();
    apply_score();
    if (kMasked)
      apply_mask(n);
    update_maximum<kMasked>(n);

    // The wait for the next K is here for two reasons: its latency hides under O += P V, and ptxas moves no instruction
    // across the loop, so that the maximum stays above the wait for O and the exponentials below it.
    if (n > tile.begin)
      wait_k();

    wgmma_wait<0>(); // O is complete, P may be overwritten
    pin(o);
    pin(s);
    release_v();
    rescale_output();
    exponentials();
  }

  // The last product of a tile.
  DEVICE void last_output() {
    wait_v();
    wgmma_fence();
    issue_output();
    wgmma_wait<0>();
    pin(o);
    release_v();
  }

  // Normalises O and stores it and LSE; the store goes on under the next tile.
  DEVICE void store() {
    float inverse[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float sum = row_sum[half];
      sum += __shfl_xor_sync(0xffffffffu, sum, 1);
      sum += __shfl_xor_sync(0xffffffffu, sum, 2);
      const bool empty = sum == 0.0f; // every key masked
      inverse[half] = empty ? 0.0f : reciprocal_approx(sum);
      const int query = first_row() + 8 * half;
      if (lane % 4 == 0 && query < params.queries) {
        const long long row = (long long)(tile.batch * params.heads + tile.head) * params.queries + query;
        params.lse[row] = empty ? -infinity() : (row_max[half] * params.exp_scale + log2_approx(sum)) * kLn2;
      }
    }
    // Lane i of an x4 store addresses row i % 16, 16-byte chunk i / 16 of a 16x16 block.
    const bool leader = warp == 0 && lane == 0;
    const u32 row = 16 * warp + lane % 16;
    const u32 out = shared.out(consumer);
#pragma unroll
    for (int first = 0; first < kBoxes; first += OUT_BOXES) {
      if (leader)
        tma_store_wait_read<0>(); // the previous store has read the buffer
      named_barrier_sync(kOutBarrier + consumer, 128);
#pragma unroll
      for (int block = 0; block < 4 * OUT_BOXES; ++block) {
        const int i = 8 * (4 * first + block);
        const u32 chunk = (2 * (block % 4) + lane / 16) ^ (row & 7);
        stmatrix_x4(out + (block / 4) * kQBox + row * 128 + chunk * 16, pack_bf16x2(o[i] * inverse[0], o[i + 1] * inverse[0]),
                    pack_bf16x2(o[i + 2] * inverse[1], o[i + 3] * inverse[1]),
                    pack_bf16x2(o[i + 4] * inverse[0], o[i + 5] * inverse[0]),
                    pack_bf16x2(o[i + 6] * inverse[1], o[i + 7] * inverse[1]));
      }
      fence_proxy_async();
      named_barrier_sync(kOutBarrier + consumer, 128);
      if (leader) {
#pragma unroll
        for (int box = 0; box < OUT_BOXES; ++box)
          tma_store_4d(out_map, out + box * kQBox, (first + box) * kBoxColumns, tile.row + 64 * consumer, tile.head, tile.batch);
        tma_store_commit();
      }
    }
  }

  DEVICE void run() {
    if (PING_PONG && consumer == kConsumers - 1)
      named_barrier_arrive(kTurnBarrier, 256); // the first turn
    q_phase = 0;
    do {
      mbarrier_wait(shared.q_full(consumer), q_phase);
      q_phase ^= 1;
      const int index = uniform(shared_load(shared.tile_slot(consumer)));
      if (index < 0)
        break;
      tile = tile_at(index, params);
      slope = SCORE == SCORE_ALIBI ? params.slopes[tile.head] * params.score_scale : 0.0f;

      load_q();
      first_block();
      int n = tile.end - 2;
      for (; n >= tile.full_end && n >= tile.begin; --n) // masked at the right edge
        block<true>(n);
      for (; n >= tile.full_begin; --n) // nothing masked
        block<false>(n);
      if (WINDOW)
        for (; n >= tile.begin; --n) // masked at the left edge
          block<true>(n);
      last_output();
      store();
    } while (kPersistent);
    if (warp == 0 && lane == 0)
      tma_store_wait_read<0>(); // shared memory must outlive the store
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Kernel
// ---------------------------------------------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    attention(const __grid_constant__ TensorMap q_map, const __grid_constant__ TensorMap k_map,
              const __grid_constant__ TensorMap v_map, const __grid_constant__ TensorMap out_map,
              const __grid_constant__ Params params) {
  extern __shared__ __align__(1024) u8 memory[];
  const Shared shared{shared_address(memory)};
  const int warpgroup = uniform(threadIdx.x / 128);
  const int warp = uniform(threadIdx.x / 32 % 4);
  const int lane = threadIdx.x % 32;

  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      mbarrier_init(shared.k_full(stage), 1);
      mbarrier_init(shared.v_full(stage), 1);
      mbarrier_init(shared.k_empty(stage), kConsumers * kWarpsPerGroup);
      mbarrier_init(shared.v_empty(stage), kConsumers * kWarpsPerGroup);
    }
    for (int consumer = 0; consumer < kConsumers; ++consumer) {
      mbarrier_init(shared.q_full(consumer), 1);
      mbarrier_init(shared.q_empty(consumer), kWarpsPerGroup);
    }
    fence_barrier_init();
    tensor_map_prefetch(&q_map);
    tensor_map_prefetch(&k_map);
    tensor_map_prefetch(&v_map);
    tensor_map_prefetch(&out_map);
  }
  __syncthreads();

  if (warpgroup == 0) {
    register_budget_down<kProducerRegisters>();
    if (warp == 0 && elect_one())
      produce(shared, &q_map, &k_map, &v_map, params);
  } else {
    register_budget_up<kConsumerRegisters>();
#if PROFILE
    u64 start_cycles = clock64(), start_time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start_time));
#endif
    Consumer consumer{shared, &out_map, params, warpgroup - 1, warp, lane};
    consumer.run();
#if PROFILE
    if (threadIdx.x == 128) {
      u64 end_time;
      asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end_time));
      params.profile[2 * blockIdx.x] = clock64() - start_cycles;
      params.profile[2 * blockIdx.x + 1] = end_time - start_time;
    }
#endif
  }
}
