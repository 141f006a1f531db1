//===- Video.cpp - vabsdiff4 and its like ---------------------------------===//
//
// Two or four parts of registers at once: what CUDA's __vabsdiffu4 and __vsadu4
// become. The merge of parts that a mask leaves out, parts picked from both
// operands, and the forms for one number are not known.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Execute/Families.h"
#include "lib/Emulator/Execute/Lanes.h"
#include "lib/Emulator/Machine/Machine.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace tilec::emulator {

namespace {

using ptx::Type;

enum class Operation : uint8_t { Add, Sub, Average, AbsDiff, Min, Max };

struct VideoDetails : Details {
  Operation operation = Operation::Add;
  unsigned bits = 8; // Of a part.
  bool isSignedA = false, isSignedB = false, isSignedResult = false;
  bool saturates = false;
  bool accumulates = false; // Adds the parts to the third operand.
};

int64_t compute(Operation operation, int64_t a, int64_t b) {
  switch (operation) {
  case Operation::Add:
    return a + b;
  case Operation::Sub:
    return a - b;
  case Operation::Average: // Halves go away from zero.
    return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
  case Operation::AbsDiff:
    return a < b ? b - a : a - b;
  case Operation::Min:
    return std::min(a, b);
  case Operation::Max:
    return std::max(a, b);
  }
  return 0;
}

uint32_t computeParts(const VideoDetails &details, uint32_t a, uint32_t b,
                      uint32_t c) {
  unsigned bits = details.bits;
  uint32_t mask = (1u << bits) - 1;
  auto part = [&](uint32_t from, unsigned shift, bool isSigned) {
    uint32_t value = from >> shift & mask;
    return isSigned ? llvm::SignExtend64(value, bits) : int64_t(value);
  };
  uint32_t result = details.accumulates ? c : 0;
  for (unsigned shift = 0; shift < 32; shift += bits) {
    int64_t value =
        compute(details.operation, part(a, shift, details.isSignedA),
                part(b, shift, details.isSignedB));
    if (details.saturates)
      value = details.isSignedResult
                  ? std::clamp<int64_t>(value, -int64_t(mask / 2) - 1, mask / 2)
                  : std::clamp<int64_t>(value, 0, mask);
    if (details.accumulates)
      result += uint32_t(value);
    else
      result |= (uint32_t(value) & mask) << shift;
  }
  return result;
}

Outcome runVideo(Warp &warp, const Instruction &at, LaneMask lanes) {
  const auto &details = at.as<VideoDetails>();
  uint64_t *to = warp.row(at.result(0));
  const uint64_t *a = warp.values(at.value(0)), *b = warp.values(at.value(1)),
                 *c = warp.values(at.value(2));
  forEachLane(lanes, [&](unsigned lane) {
    to[lane] = computeParts(details, uint32_t(a[lane]), uint32_t(b[lane]),
                            uint32_t(c[lane]));
  });
  return Outcome::Next;
}

llvm::Error decodeVideo(Decoder &decoder, const ptx::Instruction &from,
                        Instruction &to) {
  Pieces pieces(from);
  auto details = std::make_shared<VideoDetails>();
  llvm::StringRef name = from.opcode();
  details->bits = name.ends_with("4") ? 8 : 16;
  name = name.drop_back();
  for (auto [each, operation] : {std::pair("vadd", Operation::Add),
                                 {"vsub", Operation::Sub},
                                 {"vavrg", Operation::Average},
                                 {"vabsdiff", Operation::AbsDiff},
                                 {"vmin", Operation::Min},
                                 {"vmax", Operation::Max}})
    if (name == each)
      details->operation = operation;
  for (bool *isSigned :
       {&details->isSignedResult, &details->isSignedA, &details->isSignedB}) {
    Type type = pieces.takeType();
    if (type != Type::S32 && type != Type::U32)
      return decoder.unsupported(from, "not with these types");
    *isSigned = type == Type::S32;
  }
  details->saturates = pieces.take("sat");
  details->accumulates = pieces.take("add");
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  to.details = std::move(details);
  to.execute = &runVideo;
  return decoder.operands(from, to, /*numResults=*/1,
                          {Type::B32, Type::B32, Type::B32, Type::B32});
}

} // namespace

void addVideoInstructions(InstructionSet &set) {
  for (const char *opcode :
       {"vadd2", "vadd4", "vsub2", "vsub4", "vavrg2", "vavrg4", "vabsdiff2",
        "vabsdiff4", "vmin2", "vmin4", "vmax2", "vmax4"})
    set.add(opcode, &decodeVideo);
}

} // namespace tilec::emulator
