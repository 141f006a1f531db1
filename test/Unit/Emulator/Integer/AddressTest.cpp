//===- AddressTest.cpp - From one space to another ------------------------===//

#include "Running.h"
#include "lib/Emulator/Emulator.h"
#include <cstring>

using namespace tilec::test;
using namespace tilec::emulator;

namespace {

/// What one thread computes.
uint64_t valueOf(const std::string &statements) {
  return run(statements, Type::U64, {Type::U32}, Operands{}).front();
}

/// Whether the generic address that statements leave in %x1 is in a space.
bool isIn(const std::string &space, const std::string &statements) {
  return valueOf(statements + "isspacep." + space +
                 " %p0, %x1; selp.u64 %d, 1, 0, %p0;") != 0;
}

} // namespace

TEST_CASE("addresses of spaces and generic ones", "[addresses]") {
  std::string shared = ".shared .align 16 .b8 s[64];\n";
  CHECK(valueOf(shared + "mov.u64 %d, s;") == sharedOrigin);
  CHECK(valueOf(shared + "mov.u64 %d, s+8;") == sharedOrigin + 8);
  CHECK(valueOf(shared + "cvta.shared.u64 %d, s+8;") ==
        sharedWindow + sharedOrigin + 8);
  CHECK(valueOf(shared + "cvta.shared.u64 %x0, s;\n"
                         "cvta.to.shared.u64 %d, %x0;") == sharedOrigin);
  std::string local = ".local .align 8 .b8 l[32];\n";
  CHECK(valueOf(local + "mov.u64 %x0, l; cvta.local.u64 %d, %x0;") ==
        localWindow);
  CHECK(valueOf(local + "mov.u64 %x0, l; cvta.local.u64 %x1, %x0;\n"
                        "cvta.to.local.u64 %d, %x1;") == 0);
  CHECK(valueOf("mov.u64 %x0, out; cvta.param.u64 %d, %x0;") ==
        paramWindow + 8);
  CHECK(valueOf(".global .u32 g = 41; cvta.global.u64 %x0, g;\n"
                "ld.u32 %r0, [%x0]; cvt.u64.u32 %d, %r0;") == 41);
  CHECK(valueOf(".const .u32 k[2] = {41, 42}; cvta.const.u64 %x0, k;\n"
                "ld.u32 %r0, [%x0+4]; cvt.u64.u32 %d, %r0;") == 42);
  // Through either address, the same bytes.
  CHECK(valueOf(shared + "mov.u64 %x0, s; cvta.shared.u64 %x1, %x0;\n"
                         "st.shared.u64 [%x0+8], 7; ld.u64 %d, [%x1+8];") == 7);
  CHECK(valueOf(local + "mov.u64 %x0, l; cvta.local.u64 %x1, %x0;\n"
                        "st.u64 [%x1+8], 7; ld.local.u64 %d, [%x0+8];") == 7);
}

TEST_CASE("isspacep tells the space of a generic address", "[addresses]") {
  const std::pair<std::string, std::string> places[] = {
      {"shared", ".shared .b64 v; cvta.shared.u64 %x1, v;"},
      {"local", ".local .b64 v; mov.u64 %x0, v; cvta.local.u64 %x1, %x0;"},
      {"global", ".global .b64 v; cvta.global.u64 %x1, v;"},
      {"const", ".const .b64 v; cvta.const.u64 %x1, v;"},
      {"param", "mov.u64 %x0, in; cvta.param.u64 %x1, %x0;"}};
  for (const auto &[place, statements] : places)
    for (const auto &[space, _] : places) {
      INFO(space << " of an address in " << place);
      CHECK(isIn(space, statements) == (place == space));
    }
  CHECK(isIn("shared::cta", places[0].second));
  CHECK(isIn("shared::cluster", places[0].second));
  CHECK_FALSE(isIn("shared::cluster", places[1].second));
}

TEST_CASE("mapa and getctarank without a cluster", "[addresses]") {
  std::string shared = ".shared .align 16 .b8 s[64]; cvta.shared.u64 %x0, s;\n";
  CHECK(valueOf(shared + "mapa.u64 %d, %x0, 0;") ==
        canonicalShared(0, sharedOrigin));
  CHECK(valueOf(shared + "mov.u32 %r0, s;\n"
                         "mapa.shared::cluster.u32 %r1, %r0, 0;\n"
                         "cvt.u64.u32 %d, %r1;") ==
        canonicalShared(0, sharedOrigin) - sharedWindow);
  CHECK(valueOf(shared + "getctarank.u64 %r1, %x0; cvt.u64.u32 %d, %r1;") == 0);
  CHECK(valueOf(shared + "mapa.u64 %x1, %x0, 0; st.shared.u64 [s], 9;\n"
                         "ld.u64 %d, [%x1];") == 9);
  // The block itself, by name.
  CHECK(isIn("shared::cta", shared + "mapa.u64 %x1, %x0, 0;"));
}

TEST_CASE("mapa names the blocks of a cluster", "[addresses]") {
  // Each block writes its rank + 100, and reads that of the next one.
  const char *text =
      ".version 9.0 .target sm_90a .address_size 64\n"
      ".visible .entry f(.param .u64 out) {\n"
      ".reg .b32 %r<9>; .reg .b64 %x<9>; .shared .align 16 .b8 s[16];\n"
      "ld.param.u64 %x0, [out]; mov.u32 %r0, %cluster_ctarank;\n"
      "add.u32 %r1, %r0, 100; st.shared.u32 [s], %r1;\n"
      "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
      "add.u32 %r2, %r0, 1; and.b32 %r2, %r2, 3; mov.u32 %r3, s;\n"
      "mapa.shared::cluster.u32 %r4, %r3, %r2;\n"
      "ld.shared::cluster.u32 %r5, [%r4];\n"
      "cvta.shared.u64 %x1, s; mapa.u64 %x2, %x1, %r2;\n"
      "ld.u32 %r6, [%x2]; add.u32 %r5, %r5, %r6;\n"
      "getctarank.shared::cluster.u32 %r6, %r4;\n"
      "mad.lo.u32 %r5, %r6, 1000, %r5; getctarank.u64 %r6, %x2;\n"
      "mad.lo.u32 %r5, %r6, 10000, %r5;\n"
      "mul.wide.u32 %x3, %r0, 4; add.u64 %x0, %x0, %x3;\n"
      "st.global.u32 [%x0], %r5;\n"
      "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ret; }\n";
  DeviceMemory memory;
  auto program = loadProgram(text, "t.ptx", memory);
  if (!program)
    FAIL(llvm::toString(program.takeError()));
  uint64_t out = memory.allocate(16);
  LaunchOptions options;
  options.grid = options.cluster = {4, 1, 1};
  options.block = {32, 1, 1};
  // All lanes of a warp write the same.
  options.detectRaces = false;
  auto result =
      launch(**program, "f",
             llvm::ArrayRef(reinterpret_cast<const char *>(&out), sizeof(out)),
             options, memory);
  if (!result)
    FAIL(llvm::toString(result.takeError()));
  for (const Report &report : result->reports)
    FAIL_CHECK(format(report, (*program)->module()));
  uint32_t found[4];
  std::memcpy(found, memory.find(out, 16), 16);
  for (unsigned rank = 0; rank != 4; ++rank) {
    unsigned next = (rank + 1) % 4;
    CHECK(found[rank] == 2 * (100 + next) + 11000 * next);
  }
}

TEST_CASE("addresses that do not exist", "[addresses]") {
  CHECK(errorOf("cvta.shared.u32 %r0, %r1;") ==
        "t.ptx:3: unsupported instruction 'cvta.shared.u32': not with this "
        "space and type");
  CHECK(errorOf("cvta.u64 %x0, %x1;") ==
        "t.ptx:3: unsupported instruction 'cvta.u64': not with this space and "
        "type");
  CHECK(errorOf("mapa.u32 %r0, %r1, 0;") ==
        "t.ptx:3: unsupported instruction 'mapa.u32': not with this type");
  CHECK(errorOf("isspacep.sampler %p0, %x1;") ==
        "t.ptx:3: unsupported instruction 'isspacep.sampler': '.sampler' is "
        "not known here");
}
