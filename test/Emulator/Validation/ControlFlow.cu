// Branches, loops, switches, lanes that leave.

//! divergence in=bits:128 out=640 block=128
KERNEL divergence(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i], r = 0;
  for (u32 n = a & 15; n; --n) {
    if (n & 1)
      r += n;
    else if (a >> n & 1)
      continue;
    r = r * 3 + 1;
    if (r > 100000)
      break;
  }
  PUT(r);
  u32 x = a & 0x3ff, steps = 0;
  while (x > 1) {
    x = x & 1 ? 3 * x + 1 : x / 2;
    ++steps;
  }
  PUT(steps);
  switch (a >> 5 & 15) {
  case 0: r = 5; break;
  case 1: r *= 2; break;
  case 2: r ^= a;
  case 3: r += 1; break;
  case 4: r = __popc(a); break;
  case 5: r = a / 3; break;
  case 6: r = a % 11; break;
  case 7: r = ~a; break;
  case 8: r = a << 3; break;
  case 9: r = 99; break;
  default: r = 1;
  }
  PUT(r);
  asm volatile("{\n"
               ".reg .u32 at;\n"
               "and.b32 at, %1, 3;\n"
               "targets: .branchtargets zero, one, two, three;\n"
               "brx.idx at, targets;\n"
               "zero: mov.u32 %0, 10; bra done;\n"
               "one: mov.u32 %0, 21; bra done;\n"
               "two: add.u32 %0, %1, 32; bra done;\n"
               "three: mul.lo.u32 %0, %1, 43;\n"
               "done:\n"
               "}"
               : "=r"(r)
               : "r"(a));
  PUT(r);
  // Some leave for good; the others meet afterwards.
  if ((a & 7) == 5)
    return;
  PUT(__ballot_sync(__activemask(), true) ? r + 1 : 0);
}

//! nested in=bits:256 out=512 block=128 grid=2
KERNEL nested(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i], sum = 0;
  for (u32 x = 0; x < (a & 7); ++x)
    for (u32 y = x; y < (a >> 3 & 7); ++y) {
      if ((x ^ y) & 1)
        sum += x * y + 1;
      else
        sum ^= a >> (x + y);
    }
  PUT(sum);
  u32 low = 0, high = 1 << 16;
  while (low < high) {
    u32 middle = (low + high) / 2;
    if (middle * middle < (a >> 1))
      low = middle + 1;
    else
      high = middle;
  }
  PUT(low);
}
