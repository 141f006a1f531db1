//===- Elementwise.h - Handlers made of functions of values -----*- C++ -*-===//
//
// Most instructions compute, lane by lane, one value from others. Here are
// handlers made of the function that does so for a lane:
//
//   to.execute = runBinary<int32_t, [](int32_t a, int32_t b) { ... }>;
//
// A Warp's rows have values in the low bits, the others zero; functions see
// them as the type that they compute in. A result's row is either that of an
// operand or apart from it, so lanes never depend on each other.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_EXECUTE_ELEMENTWISE_H
#define TILEC_EMULATOR_EXECUTE_ELEMENTWISE_H

#include "lib/Emulator/Execute/Lanes.h"
#include "lib/Emulator/Machine/Instruction.h"
#include "lib/Emulator/Machine/Machine.h"
#include <cstring>
#include <type_traits>

namespace tilec::emulator {

/// Sets each of the lanes of a row to `function` of the lane. That all lanes
/// are there is the usual case: a loop that the compiler can vectorize, since
/// what it writes is nobody else's.
template <typename Function>
inline void setLanes(uint64_t *row, LaneMask lanes, Function function) {
  if (lanes == allLanes) {
    Row made;
    for (unsigned lane = 0; lane != warpSize; ++lane)
      made[lane] = function(lane);
    std::memcpy(row, made.data(), sizeof(Row));
    return;
  }
  forEachLane(lanes, [=](unsigned lane) { row[lane] = function(lane); });
}

/// A value as registers have it.
template <typename T> constexpr uint64_t toRegister(T value) {
  if constexpr (std::is_same_v<T, bool>)
    return value;
  else
    return uint64_t(std::make_unsigned_t<T>(value));
}

template <typename T, auto function>
Outcome runUnary(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0));
  setLanes(to, lanes,
           [=](unsigned i) { return toRegister(function(T(a[i]))); });
  return Outcome::Next;
}

/// The types of operands may differ: of a shift, the amount is a uint32_t.
template <typename T, auto function, typename U = T>
Outcome runBinary(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1));
  setLanes(to, lanes,
           [=](unsigned i) { return toRegister(function(T(a[i]), U(b[i]))); });
  return Outcome::Next;
}

template <typename T, auto function, typename U = T, typename V = T>
Outcome runTernary(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1)),
                 *c = warp.values(at.value(2));
  setLanes(to, lanes, [=](unsigned i) {
    return toRegister(function(T(a[i]), U(b[i]), V(c[i])));
  });
  return Outcome::Next;
}

/// What `choose` returns for the C++ type of an integer type; null for others:
///
///   byType(type, []<typename T>() -> Handler { return runBinary<T, sum<T>>; })
template <typename Choose> Handler byType(ptx::Type type, Choose choose) {
  switch (type) {
  case ptx::Type::U16:
    return choose.template operator()<uint16_t>();
  case ptx::Type::S16:
    return choose.template operator()<int16_t>();
  case ptx::Type::U32:
    return choose.template operator()<uint32_t>();
  case ptx::Type::S32:
    return choose.template operator()<int32_t>();
  case ptx::Type::U64:
    return choose.template operator()<uint64_t>();
  case ptx::Type::S64:
    return choose.template operator()<int64_t>();
  default:
    return nullptr;
  }
}

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_EXECUTE_ELEMENTWISE_H
