//===- Float.cpp ----------------------------------------------------===//

#include "lib/Emulator/Arithmetic/Float.h"
