//===- Detector.cpp ----------------------------------------------------===//

#include "lib/Emulator/Race/Detector.h"
