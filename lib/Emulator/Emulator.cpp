//===- Emulator.cpp ----------------------------------------------------===//

#include "lib/Emulator/Emulator.h"
