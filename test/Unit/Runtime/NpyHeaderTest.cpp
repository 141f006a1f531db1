//===- NpyHeaderTest.cpp - Tests of the .npy header parser ------*- C++ -*-===//
//
// What real writers produce, one message for each thing that can be wrong, and
// random damage, which must be refused or understood but never crash.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/NpyHeader.h"

#include "llvm/ADT/StringExtras.h"

#include <catch2/catch.hpp>

#include <random>

using namespace tilec;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

constexpr NpyPrefix prefix{1, 10, 118};

llvm::Expected<NpyHeader> parse(llvm::StringRef text,
                                std::optional<DType> expected = {}) {
  return parseNpyHeaderText(text, prefix, "x.npy", expected);
}

NpyHeader parsed(llvm::StringRef text, std::optional<DType> expected = {}) {
  llvm::Expected<NpyHeader> header = parse(text, expected);
  if (!header)
    FAIL(llvm::toString(header.takeError()));
  return *header;
}

std::string message(llvm::StringRef text, std::optional<DType> expected = {}) {
  llvm::Expected<NpyHeader> header = parse(text, expected);
  if (header)
    return "";
  return llvm::toString(header.takeError());
}

std::string prefixMessage(llvm::StringRef bytes, uint64_t fileBytes) {
  llvm::Expected<NpyPrefix> prefix = parseNpyPrefix(bytes, fileBytes, "x.npy");
  if (prefix)
    return "";
  return llvm::toString(prefix.takeError());
}

/// A header of the usual form.
std::string dictionary(llvm::StringRef descr, llvm::StringRef shape = "(2,)") {
  return ("{'descr': '" + descr +
          "', 'fortran_order': False, 'shape': " + shape + ", }\n")
      .str();
}

std::string bytes(std::initializer_list<int> values) {
  std::string result;
  for (int value : values)
    result += static_cast<char>(value);
  return result;
}

} // namespace

TEST_CASE("a header as NumPy writes it", "[npy]") {
  NpyHeader header = parsed("{'descr': '<f4', 'fortran_order': False, "
                            "'shape': (3, 4), }              \n");
  CHECK(header.dtype == DType::F32);
  CHECK(header.descr == "<f4");
  CHECK(header.elementBytes == 4);
  CHECK(!header.bigEndian);
  CHECK(!header.fortranOrder);
  CHECK(header.shape == Extents{3, 4});
  CHECK(header.numElements == 12);
  CHECK(header.dataBytes == 48);
  CHECK(header.dataOffset == 128);
}

TEST_CASE("headers of other writers", "[npy]") {
  // Any order, any spacing, either quote, no trailing comma, Python 2 longs.
  NpyHeader header = parsed("{\"shape\":(2L,3L),\"fortran_order\":True,"
                            "\"descr\":\">i2\"}");
  CHECK(header.dtype == DType::I16);
  CHECK(header.bigEndian);
  CHECK(header.fortranOrder);
  CHECK(header.shape == Extents{2, 3});
  CHECK(parsed(dictionary("<f8", "()")).shape.empty());
  CHECK(parsed(dictionary("<f8", "()")).numElements == 1);
  CHECK(parsed(dictionary("<f8", "(5,)")).shape == Extents{5});
  CHECK(parsed(dictionary("<f8", "( 1 , 2 , )")).shape == Extents{1, 2});
  CHECK(parsed(dictionary("<f8", "(0, 7)")).dataBytes == 0);
}

TEST_CASE("element types by descr", "[npy]") {
  CHECK(parsed(dictionary("<f8")).dtype == DType::F64);
  CHECK(parsed(dictionary("<f2")).dtype == DType::F16);
  CHECK(parsed(dictionary(">i8")).dtype == DType::I64);
  CHECK(parsed(dictionary("<i4")).dtype == DType::I32);
  CHECK(parsed(dictionary("|i1")).dtype == DType::I8);
  CHECK(parsed(dictionary("|u1")).dtype == DType::U8);
  CHECK(parsed(dictionary("|b1")).dtype == DType::Bool);
  CHECK(parsed(dictionary("=f4")).dtype == DType::F32);
  CHECK(parsed(dictionary("bfloat16")).dtype == DType::BF16);
  CHECK(parsed(dictionary("float8_e4m3fn")).dtype == DType::F8E4M3);
  CHECK(parsed(dictionary("float8_e5m2")).dtype == DType::F8E5M2);
}

TEST_CASE("raw bytes need an expected type", "[npy]") {
  for (const char *descr : {"<V2", ">V2", "|V2", "<u2"}) {
    CAPTURE(descr);
    CHECK(!parsed(dictionary(descr)).dtype);
    CHECK(parsed(dictionary(descr), DType::BF16).dtype == DType::BF16);
    CHECK_THAT(message(dictionary(descr), DType::F16),
               Contains("expected elements of type f16, found raw bytes"));
    CHECK_THAT(message(dictionary(descr), DType::F8E4M3),
               Contains("found raw bytes"));
  }
  for (const char *descr : {"|V1", "<V1", "<f1", "|u1"}) {
    CAPTURE(descr);
    CHECK(parsed(dictionary(descr), DType::F8E4M3).dtype == DType::F8E4M3);
    CHECK(parsed(dictionary(descr), DType::F8E5M2).dtype == DType::F8E5M2);
    CHECK_THAT(message(dictionary(descr), DType::BF16),
               Contains("expected elements of type bf16"));
    CHECK_THAT(message(dictionary(descr), DType::I8),
               Contains("expected elements of type i8"));
  }
  CHECK(parsed(dictionary("<f4"), DType::TF32).dtype == DType::TF32);
}

TEST_CASE("another type than expected is an error", "[npy]") {
  CHECK(message(dictionary("<f8"), DType::F32) ==
        "x.npy: expected elements of type f32, found f64 ('<f8')\n"
        "help: convert the array before saving it, or declare the argument "
        "with the type of the file");
  CHECK_THAT(message(dictionary("|u1"), DType::Bool), Contains("found u8"));
  CHECK_THAT(message(dictionary("float8_e5m2"), DType::F8E4M3),
             Contains("found f8e5m2"));
  CHECK_THAT(message(dictionary("<i2"), DType::BF16), Contains("found i16"));
}

TEST_CASE("unsupported element types", "[npy]") {
  for (const char *descr :
       {"<c8", "<u4", "<U3", "|S5", "<M8[ns]", "<f16", "|V16", "", "<", "<f",
        "f", "<f4 ", "int32", "<i3", "<b2", "|V0", "<<f4"}) {
    CAPTURE(descr);
    CHECK_THAT(
        message(dictionary(descr)),
        StartsWith("x.npy: expected an element type among f8, f4, f2, ") &&
            Contains("found '" + std::string(descr) + "'") &&
            Contains("\nhelp: convert the array"));
  }
  CHECK_THAT(message(dictionary("|O")), Contains("never loaded"));
  CHECK_THAT(message(dictionary("|O8")), Contains("never loaded"));
  CHECK_THAT(message("{'descr': [('a', '<f4'), ('b', '<i4')], "
                     "'fortran_order': False, 'shape': (3,), }"),
             Contains("found a structured one at byte 20") &&
                 Contains("array['field']"));
  // Bytes from the file are quoted, whatever they are.
  CHECK_THAT(message(dictionary("\x1b[31m")), Contains("found '\\1B[31m'"));
}

TEST_CASE("malformed headers are located", "[npy]") {
  CHECK(message("") == "x.npy: malformed header at byte 10: expected '{', "
                       "found the end of the header\n"
                       "help: write the file again with numpy.save");
  CHECK_THAT(message("{'descr' '<f4'}"),
             Contains("at byte 19: expected ':', found ''<f4'}'"));
  CHECK_THAT(message("{descr: '<f4'}"), Contains("expected a key in quotes"));
  CHECK_THAT(message("{'descr: }"), Contains("with a closing quote"));
  CHECK_THAT(message("{'extra': 1}"),
             Contains("expected 'descr', 'fortran_order' or 'shape'"));
  CHECK_THAT(message("{'descr': '<f4', 'descr': '<f4'}"),
             Contains("at byte 27: expected each key once"));
  CHECK_THAT(message("{'descr': '<f4', 'shape': ()}"),
             Contains("expected the key 'fortran_order', found none"));
  CHECK_THAT(message("{'descr': 7}"), Contains("an element type such as"));
  CHECK_THAT(message("{'fortran_order': 0}"), Contains("True or False"));
  CHECK_THAT(message("{'fortran_order': Falsey}"), Contains("',' or '}'"));
  CHECK_THAT(message("{'shape': 3}"), Contains("a shape such as (3, 4)"));
  CHECK_THAT(message("{'shape': (3)}"), Contains("written (3,)"));
  CHECK_THAT(message("{'shape': (-3,)}"), Contains("an extent of 0 or more"));
  CHECK_THAT(message("{'shape': (3 4)}"), Contains("',' or ')'"));
  CHECK_THAT(message("{'shape': (,)}"), Contains("an extent of 0 or more"));
  CHECK_THAT(message("{'shape': (3,"), Contains("the end of the header"));
  CHECK_THAT(message("{'shape': (9223372036854775808,)}"),
             Contains("below 2^63"));
  CHECK_THAT(message(dictionary("<f4") + "x"),
             Contains("nothing but spaces after the dictionary"));
}

TEST_CASE("sizes are checked before anyone allocates", "[npy]") {
  CHECK_THAT(message(dictionary("<f4", "(4611686018427387904, 4)")),
             Contains("expected a size in bytes below 2^63, found shape "
                      "[4611686018427387904, 4]"));
  CHECK_THAT(message(dictionary("<f8", "(2305843009213693952,)")),
             Contains("below 2^63"));
  CHECK(message(dictionary("|u1", "(9223372036854775807,)")) == "");
  CHECK_THAT(message(dictionary("<f4", "(4611686018427387904, 0, 4)")),
             Contains("below 2^63"));
  std::string many = "(";
  for (int i = 0; i < 65; ++i)
    many += "1,";
  CHECK_THAT(message(dictionary("<f4", many + ")")),
             Contains("at most 64 dimensions"));
}

TEST_CASE("prefixes", "[npy]") {
  std::string magic = "\x93NUMPY";
  std::string good = magic + bytes({1, 0, 118, 0}) + "{'";
  llvm::Expected<NpyPrefix> one = parseNpyPrefix(good, 128, "x.npy");
  REQUIRE(bool(one));
  CHECK(one->majorVersion == 1);
  CHECK(one->textOffset == 10);
  CHECK(one->textBytes == 118);
  llvm::Expected<NpyPrefix> two =
      parseNpyPrefix(magic + bytes({2, 0, 0x74, 1, 0, 0}), 1000, "x.npy");
  REQUIRE(bool(two));
  CHECK(two->textOffset == 12);
  CHECK(two->textBytes == 0x174);

  CHECK_THAT(prefixMessage("", 0), Contains("found an empty file"));
  CHECK(prefixMessage("hello, world", 12) ==
        "x.npy: expected a .npy file (first bytes 93 4e 55 4d 50 59), found 68 "
        "65 6c 6c 6f 2c\nhelp: write the file with numpy.save");
  CHECK_THAT(prefixMessage("PK\x03\x04....", 100), Contains("npz archive"));
  CHECK_THAT(prefixMessage(magic.substr(0, 3), 3),
             Contains("truncated header: expected 10 bytes, found 3"));
  CHECK_THAT(prefixMessage(magic + bytes({2, 0, 1, 0}), 10),
             Contains("truncated header: expected 12 bytes, found 10"));
  CHECK_THAT(prefixMessage(good, 127),
             Contains("truncated header: expected 128 bytes, found 127"));
  CHECK_THAT(prefixMessage(magic + bytes({4, 0, 1, 0, 0, 0}), 100),
             Contains("version 1.0, 2.0 or 3.0, found 4.0"));
  CHECK_THAT(prefixMessage(magic + bytes({1, 1, 1, 0, 0, 0}), 100),
             Contains("found 1.1"));
  CHECK_THAT(
      prefixMessage(magic + bytes({2, 0, 0xff, 0xff, 0xff, 0xff}), 1 << 30),
      Contains("a header of at most 1048576 bytes, found 4294967295"));
}

TEST_CASE("written headers are aligned and read back", "[npy]") {
  for (unsigned version : {1u, 2u, 3u})
    for (DType dtype : allDTypes())
      for (const Extents &shape :
           {Extents{}, Extents{5}, Extents{1, 0, 1234567890123}}) {
        std::string written = makeNpyHeader(dtype, shape, /*fortranOrder=*/true,
                                            /*bigEndian=*/false, version);
        CHECK(written.size() % 64 == 0);
        CHECK(written.back() == '\n');
        llvm::Expected<NpyPrefix> prefix =
            parseNpyPrefix(written, written.size(), "x.npy");
        REQUIRE(bool(prefix));
        CHECK(prefix->majorVersion == version);
        CHECK(prefix->textOffset + prefix->textBytes == written.size());
        llvm::Expected<NpyHeader> header = parseNpyHeaderText(
            llvm::StringRef(written).drop_front(prefix->textOffset), *prefix,
            "x.npy", dtype);
        if (!header)
          FAIL(llvm::toString(header.takeError()));
        CHECK(header->dtype == dtype);
        CHECK(header->shape == shape);
        CHECK(header->fortranOrder);
      }
  CHECK(npyDescr(DType::F32, false) == "<f4");
  CHECK(npyDescr(DType::F64, true) == ">f8");
  CHECK(npyDescr(DType::BF16, false) == "<V2");
  CHECK(npyDescr(DType::F8E5M2, true) == "|V1");
  CHECK(npyDescr(DType::U8, false) == "|u1");
  CHECK(npyDescr(DType::Bool, false) == "|b1");
}

TEST_CASE("random damage to a header never crashes", "[npy]") {
  std::mt19937 random(3);
  auto pick = [&](size_t bound) { return random() % bound; };
  std::string alphabet = "{}()[],:'\" <>|=0123456789LTrueFalsdcpO\n\xff";
  alphabet += '\0';
  unsigned accepted = 0, refused = 0;
  for (int i = 0; i < 100000; ++i) {
    std::string file =
        makeNpyHeader(allDTypes()[pick(13)], {int64_t(pick(9)), 3}, pick(2),
                      pick(2), 1 + pick(3));
    for (size_t damage = 1 + pick(4); damage > 0; --damage) {
      // Mostly where it matters: the padding is long.
      size_t at =
          pick(pick(4) ? std::min<size_t>(file.size(), 70) : file.size());
      switch (pick(4)) {
      case 0:
        file[at] = static_cast<char>(random());
        break;
      case 1:
        file[at] = alphabet[pick(alphabet.size())];
        break;
      case 2:
        file.erase(at, 1 + pick(8));
        break;
      default:
        file.insert(at, file.substr(pick(file.size()), pick(20)));
      }
      if (file.empty())
        file = " ";
    }
    if (pick(8) == 0)
      file.resize(pick(file.size() + 1));
    llvm::Expected<NpyPrefix> prefix = parseNpyPrefix(
        llvm::StringRef(file).take_front(npyPrefixBytes), file.size(), "x");
    if (!prefix) {
      CHECK_FALSE(llvm::toString(prefix.takeError()).empty());
      ++refused;
      continue;
    }
    // The parser may read no further than the text it is given.
    std::string text = file.substr(prefix->textOffset, prefix->textBytes);
    llvm::Expected<NpyHeader> header =
        parseNpyHeaderText(text, *prefix, "x", std::nullopt);
    if (!header) {
      CHECK_FALSE(llvm::toString(header.takeError()).empty());
      ++refused;
      continue;
    }
    ++accepted;
    CHECK_FALSE(header->dataBytes !=
                uint64_t(header->numElements) * header->elementBytes);
    CHECK_FALSE(checkedNumElements(header->shape) != header->numElements);
  }
  CHECK(accepted > 1000);
  CHECK(refused > 1000);
}
