//===- Decoder.cpp ----------------------------------------------------===//

#include "lib/Emulator/Machine/Decoder.h"
