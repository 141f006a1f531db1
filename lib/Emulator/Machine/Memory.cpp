//===- Memory.cpp ----------------------------------------------------===//

#include "lib/Emulator/Machine/Memory.h"
