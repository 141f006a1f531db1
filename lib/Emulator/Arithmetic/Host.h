//===- Host.h - What the machine below can do -------------------*- C++ -*-===//
//
// The emulator is built for any x86-64 or other machine. A few loops in which
// most of the time goes are built a second time, for machines with AVX2 and
// FMA, and chosen when they run. Both give the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_ARITHMETIC_HOST_H
#define TILEC_EMULATOR_ARITHMETIC_HOST_H

namespace tilec::emulator {

#ifdef __x86_64__
#define TILEC_FOR_AVX2 __attribute__((target("avx2,fma")))
inline bool hostHasAVX2() {
  static const bool has =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}
#else
#define TILEC_FOR_AVX2
inline bool hostHasAVX2() { return false; }
#endif

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_ARITHMETIC_HOST_H
