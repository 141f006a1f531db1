//===- FakeDriver.cpp - Stands in for NVIDIA's driver -----------*- C++ -*-===//

extern "C" int cuInit(unsigned) { return 0; }
