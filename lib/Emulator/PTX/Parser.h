//===- Parser.h - Reading PTX -----------------------------------*- C++ -*-===//
//
// From text to ptx::Module. What is accepted is what NVRTC 13 writes for sm_80
// to sm_90a and what people write in asm statements. Whether an opcode exists
// is not looked at here.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_PTX_PARSER_H
#define TILEC_EMULATOR_PTX_PARSER_H

#include "lib/Emulator/PTX/Module.h"
#include "llvm/Support/Error.h"

namespace tilec::emulator::ptx {

/// Parses a module. `name` is for messages. The error, one for the first thing
/// that is wrong, reads "NAME:LINE:COLUMN: what was found, what was expected".
/// Any bytes are accepted; the result is a sound module or an error: every
/// index of an operand is in range.
llvm::Expected<Module> parseModule(llvm::StringRef text, llvm::StringRef name);

} // namespace tilec::emulator::ptx

#endif // TILEC_EMULATOR_PTX_PARSER_H
