// Random numbers.

// Philox 4x32-10: word 0 of the block with counter `offset` under key `seed`,
// as a number in [0, 1).
DEVICE float random_uniform(long long seed, long long offset) {
  unsigned c0 = (unsigned)offset, c1 = (unsigned)(offset >> 32), c2 = 0, c3 = 0;
  unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    unsigned high0 = __umulhi(0xd2511f53u, c0), low0 = 0xd2511f53u * c0;
    unsigned high1 = __umulhi(0xcd9e8d57u, c2), low1 = 0xcd9e8d57u * c2;
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return (float)(c0 >> 8) * 0x1p-24f;
}
