//===- Types.cpp ----------------------------------------------------===//

#include "lib/Emulator/PTX/Module.h"
