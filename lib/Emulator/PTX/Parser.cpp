//===- Parser.cpp ----------------------------------------------------===//

#include "lib/Emulator/PTX/Parser.h"
