//===- Counters.cpp ----------------------------------------------------===//

#include "lib/Emulator/Machine/Counters.h"
