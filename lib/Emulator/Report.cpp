//===- Report.cpp ----------------------------------------------------===//

#include "lib/Emulator/Report.h"
