//===- Machine.cpp ----------------------------------------------------===//

#include "lib/Emulator/Machine/Machine.h"
