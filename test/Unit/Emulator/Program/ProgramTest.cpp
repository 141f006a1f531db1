//===- ProgramTest.cpp - Where the variables of a program are -------------===//

#include "Loading.h"
#include <cstring>

using namespace tilec::emulator;
using namespace tilec::test;

namespace {

template <typename T> T readAt(const Loaded &loaded, uint64_t address) {
  T value;
  const char *data = loaded.memory.find(address, sizeof(T));
  REQUIRE(data);
  std::memcpy(&value, data, sizeof(T));
  return value;
}

} // namespace

TEST_CASE("kernels are found by name", "[program]") {
  Loaded program(".entry a() { ret; }\n.func b() { ret; }\n.entry c();\n");
  REQUIRE(program->kernel("a"));
  CHECK(program->kernel("a")->source->name == "a");
  CHECK_FALSE(program->kernel("b"));
  CHECK_FALSE(program->kernel("c"));
  CHECK_FALSE(program->kernel("d"));
}

TEST_CASE("functions follow each other", "[program]") {
  Loaded program(".func b() { .reg .b32 %r<3>; mov.u32 %r0, 1; ret; }\n"
                 ".entry a() { .reg .b32 %r<2>; .reg .b128 %q<2>;"
                 " .reg .b16 %h<1>; call b; ret; }\n"
                 ".entry c() { .reg .b32 %r<5>; ret; }\n");
  const auto &list = program->functions;
  CHECK(list[0].entry == 0);
  CHECK(list[0].end == 2);
  CHECK(list[1].entry == 2);
  CHECK(list[1].end == 4);
  CHECK(list[2].entry == 4);
  CHECK(program->instructions.size() == 5);
  // A register of 128 bits has two slots; kernels may share theirs, and what
  // they call has its own.
  Slot first = list[0].registers[0];
  CHECK(first == carrySlot + 1);
  CHECK(list[0].registers == std::vector<Slot>{first, first + 1, first + 2});
  Slot next = first + 3;
  CHECK(list[1].registers ==
        std::vector<Slot>{next, next + 1, next + 2, next + 4, next + 6});
  CHECK(list[2].registers[0] == next);
  CHECK(program->numRegisters == next + 7);
}

TEST_CASE("parameters of kernels have their alignments", "[program]") {
  Loaded program(".entry f(.param .u8 a, .param .u32 b, .param .align 64 .b8 "
                 "c[65], .param .f64 d) { ret; }\n");
  const FunctionCode &code = *program->kernel("f");
  CHECK(code.params == std::vector<uint64_t>{paramWindow, paramWindow + 4,
                                             paramWindow + 64,
                                             paramWindow + 136});
  CHECK(code.parameterBytes == 144);
}

TEST_CASE("shared memory of each kernel begins at the same place",
          "[program]") {
  Loaded program(".shared .b32 both;\n"
                 ".extern .shared .align 128 .b8 rest[];\n"
                 ".entry a() { .reg .b32 %r; .shared .b8 x[5]; .shared .b32 y;"
                 " mov.u32 %r, rest; ret; }\n"
                 ".entry b() { .reg .b32 %r; .shared .align 16 .b8 z[1000];"
                 " mov.u32 %r, rest; ret; }\n");
  CHECK(program->globals[0] == sharedOrigin);
  const FunctionCode &a = *program->kernel("a"), &b = *program->kernel("b");
  CHECK(a.variables ==
        std::vector<uint64_t>{sharedOrigin + 4, sharedOrigin + 12});
  CHECK(b.variables == std::vector<uint64_t>{sharedOrigin + 16});
  CHECK(a.staticShared == 128);
  CHECK(b.staticShared == 1024);
  auto address = [&](const FunctionCode &code) {
    const Instruction &move = program->instructions[code.entry];
    return program->constants[move.value(0) - Program::firstConstant][0];
  };
  CHECK(address(a) == sharedOrigin + 128);
  CHECK(address(b) == sharedOrigin + 1024);
}

TEST_CASE("a function that is called sees one dynamic shared memory",
          "[program]") {
  Loaded program(".extern .shared .b8 rest[];\n"
                 ".func g() { .reg .b32 %r; mov.u32 %r, rest; ret; }\n"
                 ".entry a() { .shared .b8 x[100]; call g; ret; }\n"
                 ".entry b() { call g; ret; }\n");
  CHECK(program->kernel("a")->staticShared == 112);
  CHECK(program->kernel("b")->staticShared == 112);
}

TEST_CASE("local and param memory of kernels and what they call", "[program]") {
  Loaded program(
      ".func (.param .b64 r) g(.param .b32 x) { .local .b8 l[24]; ret; }\n"
      ".entry a() { .local .align 16 .b8 m[8]; .param .b32 y; ret; }\n"
      ".entry b() { .local .b8 m[100]; ret; }\n");
  const auto &list = program->functions;
  CHECK(list[0].params == std::vector<uint64_t>{0});
  CHECK(list[0].results == std::vector<uint64_t>{8});
  CHECK(list[0].variables == std::vector<uint64_t>{0});
  CHECK(list[1].variables == std::vector<uint64_t>{32, 16});
  CHECK(list[2].variables == std::vector<uint64_t>{24});
  CHECK(program->localBytes == 124);
  CHECK(program->paramBytes == 20);
}

TEST_CASE("global variables have their initial values", "[program]") {
  Loaded program(".global .align 4 .b8 a[8] = {1, 2, 3};\n"
                 ".global .u32 zeros[4];\n.const .f32 k = 0f3F800000;\n"
                 ".shared .b64 s;\n.func f() { ret; }\n.func g();\n"
                 ".global .u64 p[6] = {a, generic(a)+4, zeros-4, f, "
                 "generic(s), s+1};\n"
                 ".global .b8 bytes[3] = {0xFF(a), 0xFF00(a), 0xFF0000(a+256)};"
                 "\n");
  CHECK(readAt<uint64_t>(program, program->globals[0]) == 0x030201);
  CHECK(readAt<uint64_t>(program, program->globals[1] + 8) == 0);
  CHECK(readAt<float>(program, program->globals[2]) == 1.0f);
  uint64_t p = program->globals[4];
  CHECK(readAt<uint64_t>(program, p) == program->globals[0]);
  CHECK(readAt<uint64_t>(program, p + 8) == program->globals[0] + 4);
  CHECK(readAt<uint64_t>(program, p + 16) == program->globals[1] - 4);
  CHECK(readAt<uint64_t>(program, p + 24) == functionAddress(0));
  CHECK(readAt<uint64_t>(program, p + 32) == sharedWindow + sharedOrigin);
  CHECK(readAt<uint64_t>(program, p + 40) == sharedOrigin + 1);
  uint64_t bytes = program->globals[5];
  for (unsigned i = 0; i != 3; ++i)
    CHECK(readAt<uint8_t>(program, bytes + i) ==
          uint8_t((program->globals[0] + (i == 2 ? 256 : 0)) >> (8 * i)));
  // They are gone with the program.
  uint64_t address = program->globals[0];
  program.program.reset();
  CHECK_FALSE(program.memory.find(address, 1));
}

TEST_CASE("programs that cannot be placed", "[program]") {
  CHECK(Loaded(".extern .global .u32 x;\n").error ==
        "t.ptx:2: 'x' is declared .extern, and nothing defines it");
  CHECK(Loaded(".extern .shared .b8 s[];\n.global .u64 p = s;\n").error ==
        "t.ptx:3: the address of dynamic shared memory as an initial value");
  CHECK(Loaded(".entry f() { .local .b8 x[600000]; }").error ==
        "t.ptx:1: more than 512 KiB of local memory for a thread");
  CHECK(Loaded(".entry f() { .shared .b8 x[20000000]; }").error ==
        "t.ptx:1: more than 16 MiB of shared memory");
}

TEST_CASE("no function calls itself", "[program]") {
  CHECK(Loaded(".func f() { call f; ret; }\n").error ==
        "t.ptx:2: unsupported instruction 'call': 'f' calls itself, at once or "
        "through others");
  CHECK(Loaded(".func g();\n.func f() { call g; ret; }\n"
               ".func g() {\n ret; call f; ret; }\n.entry k() { call f; ret; }")
            .error ==
        "t.ptx:3: unsupported instruction 'call': 'g' calls itself, at once or "
        "through others");
  CHECK(Loaded(".func g() { ret; }\n.func f() { call g; call g; ret; }\n"
               ".entry k() { call f; call g; call f; ret; }")
            .error == "no error");
}
