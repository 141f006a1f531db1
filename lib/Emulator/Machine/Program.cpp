//===- Program.cpp ----------------------------------------------------===//

#include "lib/Emulator/Machine/Program.h"
