//===- Main.cpp - The main function of every unit test ----------*- C++ -*-===//
//
// Catch2's main function, compiled once into tilec_catch_main. Every test
// executable takes Catch2's options, for example `-l` and a test's name.
//
//===----------------------------------------------------------------------===//

#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
