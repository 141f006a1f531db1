//===- NpyTest.cpp - Tests of .npy files ------------------------*- C++ -*-===//
//
// Files byte for byte as NumPy 2.4 and ml_dtypes 0.6 write them, round trips in
// every variant of the format, every way in which opening, reading or writing
// can fail, and what a failed write leaves behind: nothing.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/Npy.h"

#include "lib/Runtime/RandomFill.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <random>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tilec;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
namespace fs = llvm::sys::fs;

namespace {

/// A directory that disappears with the test.
class Scratch {
public:
  Scratch() {
    REQUIRE(!fs::createUniqueDirectory("tilec-npy-test", directory));
  }
  // LLVM's own function leaves pipes.
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(directory.str().str(), ignored);
    CHECK(!fs::exists(directory));
  }

  std::string path(llvm::StringRef name) const {
    llvm::SmallString<128> path = directory;
    llvm::sys::path::append(path, name);
    return path.str().str();
  }
  std::string write(llvm::StringRef name, llvm::StringRef contents) const {
    std::error_code error;
    llvm::raw_fd_ostream os(path(name), error);
    os << contents;
    return path(name);
  }
  std::string read(llvm::StringRef name) const {
    auto buffer = llvm::MemoryBuffer::getFile(path(name));
    REQUIRE(bool(buffer));
    return (*buffer)->getBuffer().str();
  }
  std::vector<std::string> list() const {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; it != end && !error;
         it.increment(error))
      names.push_back(llvm::sys::path::filename(it->path()).str());
    std::sort(names.begin(), names.end());
    return names;
  }

private:
  llvm::SmallString<128> directory;
};

template <typename T> T take(llvm::Expected<T> value) {
  if (!value)
    FAIL(llvm::toString(value.takeError()));
  return std::move(*value);
}

std::string readMessage(const std::string &path,
                        const NpyReadOptions &options = {}) {
  llvm::Expected<Array> array = readNpy(path, options);
  if (array)
    return "";
  return llvm::toString(array.takeError());
}

std::string writeMessage(const std::string &path, const TensorView &view,
                         const NpyWriteOptions &options = {}) {
  return llvm::toString(writeNpy(path, view, options));
}

Array filled(DType dtype, llvm::ArrayRef<int64_t> shape) {
  Array array = take(Array::create(dtype, shape));
  FillOptions options;
  // The case that finds a byte order mistake: values that differ in all bytes.
  if (dtype == DType::I64 || dtype == DType::I32 || dtype == DType::I16) {
    options.minInclusive = integerRange(dtype).min;
    options.maxExclusive = integerRange(dtype).max;
  }
  CHECK(llvm::toString(fillRandom(array, 1, "x", options)) == "");
  return array;
}

/// Same type, shape and bits, in row-major order.
bool same(const Array &a, const TensorView &view) {
  if (a.dtype() != view.dtype || a.shape() != llvm::ArrayRef(view.shape))
    return false;
  Array x = take(Array::copyOf(a)), y = take(Array::copyOf(view));
  return x.storage() == y.storage();
}

/// A file of NumPy's: the header is always padded to 128 bytes.
std::string numpyFile(llvm::StringRef dictionary, llvm::StringRef data) {
  std::string file = std::string("\x93NUMPY\x01\x00v\x00", 10);
  file += dictionary;
  file.resize(127, ' ');
  return file + "\n" + data.str();
}

bool isRoot() { return ::geteuid() == 0; }

} // namespace

TEST_CASE("files that NumPy wrote", "[npy]") {
  Scratch scratch;
  using llvm::StringRef;
  const std::string f4 =
      numpyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
                StringRef("\x00\x00\x00\x00\x00\x00\x80?\x00\x00\x00@", 12));
  Array floats = take(readNpy(scratch.write("f4.npy", f4)));
  CHECK(floats.dtype() == DType::F32);
  CHECK(floats.shape() == llvm::ArrayRef<int64_t>({3}));
  for (int64_t i = 0; i < 3; ++i)
    CHECK(floats.getDouble({i}) == i);

  const std::string i2 =
      numpyFile("{'descr': '>i2', 'fortran_order': False, 'shape': (), }",
                StringRef("\x00\x07", 2));
  Array scalar = take(readNpy(scratch.write("i2.npy", i2)));
  CHECK(scalar.view().rank() == 0);
  CHECK(scalar.getInt({}) == 7);

  const std::string u1 =
      numpyFile("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }",
                StringRef("\x00\x03\x01\x04\x02\x05", 6));
  Array fortran = take(readNpy(scratch.write("u1.npy", u1)));
  CHECK(fortran.view().isContiguous());
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j)
      CHECK(fortran.getInt({i, j}) == 3 * i + j);
  Array kept = take(readNpy(scratch.path("u1.npy"), {.keepOrder = true}));
  CHECK(kept.strides() == llvm::ArrayRef<int64_t>({1, 2}));
  CHECK(same(kept, fortran));

  const std::string b1 = numpyFile(
      "{'descr': '|b1', 'fortran_order': False, 'shape': (0, 5), }", "");
  CHECK(take(readNpy(scratch.write("b1.npy", b1))).numElements() == 0);

  // What numpy.save makes of ml_dtypes' arrays of [1, -2].
  const std::string bf16 =
      numpyFile("{'descr': '<V2', 'fortran_order': False, 'shape': (2,), }",
                StringRef("\x80?\x00\xc0", 4));
  const std::string e4m3 = numpyFile(
      "{'descr': '<V1', 'fortran_order': False, 'shape': (2,), }", "8\xc0");
  const std::string e5m2 = numpyFile(
      "{'descr': '<f1', 'fortran_order': False, 'shape': (2,), }", "<\xc0");
  scratch.write("bf16.npy", bf16);
  scratch.write("f8e4m3.npy", e4m3);
  scratch.write("f8e5m2.npy", e5m2);
  for (DType dtype : {DType::BF16, DType::F8E4M3, DType::F8E5M2}) {
    std::string path = scratch.path((dtypeName(dtype) + ".npy").str());
    CHECK_THAT(readMessage(path), Contains("found raw bytes") &&
                                      Contains("\nhelp: state the type"));
    Array array = take(readNpy(path, {.dtype = dtype}));
    CHECK(array.getDouble({0}) == 1);
    CHECK(array.getDouble({1}) == -2);
    CHECK(take(readNpyHeader(path)).dtype == std::nullopt);
  }

  // And the other way round: the same bytes are written.
  CHECK(writeMessage(scratch.path("out.npy"), floats) == "");
  CHECK(scratch.read("out.npy") == f4);
  CHECK(writeMessage(scratch.path("out.npy"), scalar, {.bigEndian = true}) ==
        "");
  CHECK(scratch.read("out.npy") == i2);
  CHECK(writeMessage(scratch.path("out.npy"), fortran,
                     {.fortranOrder = true}) == "");
  CHECK(scratch.read("out.npy") == u1);
  Array array = take(readNpy(scratch.path("bf16.npy"), {.dtype = DType::BF16}));
  CHECK(writeMessage(scratch.path("out.npy"), array) == "");
  CHECK(scratch.read("out.npy") == bf16);
}

TEST_CASE("round trips in every variant", "[npy]") {
  Scratch scratch;
  std::string path = scratch.path("x.npy");
  for (DType dtype : allDTypes())
    for (const Extents &shape :
         {Extents{}, Extents{7}, Extents{3, 0, 2}, Extents{2, 3, 5}})
      for (bool fortran : {false, true})
        for (bool big : {false, true})
          for (unsigned version : {1u, 2u, 3u}) {
            Array array = filled(dtype, shape);
            CHECK(writeMessage(path, array,
                               {.fortranOrder = fortran,
                                .bigEndian = big,
                                .majorVersion = version,
                                .sync = false}) == "");
            NpyHeader header = take(readNpyHeader(path, dtype));
            CHECK(header.majorVersion == version);
            CHECK(header.fortranOrder == fortran);
            CHECK(header.dtype == dtype);
            NpyReadOptions options;
            options.dtype = dtype;
            options.guardBytes = 64;
            Array back = take(readNpy(path, options));
            CHECK(same(back, array));
            CHECK(back.view().isContiguous());
            CHECK(back.isGuarded());
            CHECK(back.canariesIntact());
          }
  CHECK(scratch.list() == std::vector<std::string>{"x.npy"});
}

TEST_CASE("any view can be written", "[npy]") {
  Scratch scratch;
  std::string path = scratch.path("x.npy");
  Array array = filled(DType::F32, {6, 7, 8});
  for (const TensorView &view :
       {array.view().transposed(), array.view().permuted({2, 0, 1}),
        array.view().sliced(1, 6, -1, -2), array.view().selected(0, 3),
        array.view().sliced(0, 2, 3).broadcast(0, 5)}) {
    CHECK(writeMessage(path, view) == "");
    CHECK(same(take(readNpy(path)), view));
    CHECK(writeMessage(path, view, {.fortranOrder = true}) == "");
    CHECK(same(take(readNpy(path)), view));
  }
  // Longer than the writer's buffer, in pieces and in one.
  Array large = filled(DType::I64, {300, 401});
  CHECK(writeMessage(path, large) == "");
  CHECK(same(take(readNpy(path)), large));
  CHECK(writeMessage(path, large.view().transposed()) == "");
  CHECK(same(take(readNpy(path)), large.view().transposed()));
}

TEST_CASE("what is read is a proper value of its type", "[npy]") {
  Scratch scratch;
  Array bools = take(readNpy(scratch.write(
      "b.npy",
      numpyFile("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }",
                llvm::StringRef("\x00\x01\xff", 3)))));
  CHECK(bools.storage() == llvm::ArrayRef<uint8_t>({0, 1, 1}));

  float value = 1.0f + 0x1p-11f + 0x1p-20f;
  std::string data(reinterpret_cast<char *>(&value), 4);
  std::string path = scratch.write(
      "t.npy",
      numpyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }",
                data));
  CHECK(take(readNpy(path)).getDouble({0}) == value);
  CHECK(take(readNpy(path, {.dtype = DType::TF32})).getDouble({0}) ==
        1 + 0x1p-10);
}

TEST_CASE("bytes after the elements are ignored", "[npy]") {
  Scratch scratch;
  Array array = filled(DType::F32, {5});
  CHECK(writeMessage(scratch.path("x.npy"), array) == "");
  std::string path =
      scratch.write("y.npy", scratch.read("x.npy") + scratch.read("x.npy"));
  CHECK(same(take(readNpy(path)), array));
}

TEST_CASE("files that cannot be opened", "[npy]") {
  Scratch scratch;
  CHECK_THAT(readMessage(scratch.path("none.npy")),
             StartsWith(scratch.path("none.npy") +
                        ": cannot open the file: No such file") &&
                 Contains("\nhelp: check the name"));
  CHECK_THAT(readMessage("no-such-file.npy"), Contains("it is relative to /"));
  CHECK_THAT(readMessage(scratch.path("")), Contains("found a directory"));
  CHECK_THAT(readMessage("/dev/null"),
             Contains("expected a regular file, found a device"));
  // Opening a pipe that no one writes to would wait forever.
  std::string pipe = scratch.path("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(readMessage(pipe), Contains("expected a regular file"));
  std::string file = scratch.write("secret.npy", "x");
  REQUIRE(::chmod(file.c_str(), 0) == 0);
  // Root may read anything.
  if (!isRoot())
    CHECK_THAT(readMessage(file), Contains("Permission denied") &&
                                      Contains("\nhelp: make it readable"));
}

TEST_CASE("files that are not .npy", "[npy]") {
  Scratch scratch;
  CHECK_THAT(readMessage(scratch.write("a", "")), Contains("an empty file"));
  CHECK_THAT(readMessage(scratch.write("b", "# a comment\n")),
             Contains("found 23 20 61 20 63 6f"));
  CHECK_THAT(readMessage(scratch.write("c", "PK\x03\x04")), Contains("unzip"));
}

TEST_CASE("a file cut short anywhere is an error", "[npy]") {
  Scratch scratch;
  Array array = filled(DType::F32, {4, 3});
  CHECK(writeMessage(scratch.path("x.npy"), array) == "");
  std::string whole = scratch.read("x.npy");
  REQUIRE(whole.size() == 128 + 48);
  for (size_t length = 0; length < whole.size(); ++length) {
    std::string path = scratch.write("cut.npy", whole.substr(0, length));
    std::string expected =
        length == 0    ? "an empty file"
        : length < 10  ? "truncated header: expected 10 bytes"
        : length < 128 ? "truncated header: expected 128 bytes"
                       : "truncated data: expected 48 bytes after the header";
    CHECK_THAT(readMessage(path), Contains(expected));
    if (length > 0)
      CHECK_THAT(
          readMessage(path),
          Contains("found " +
                   std::to_string(length < 128 ? length : length - 128)));
    CHECK(!llvm::expectedToOptional(readNpyHeader(path)));
  }
}

TEST_CASE("a header that promises too much allocates nothing", "[npy]") {
  Scratch scratch;
  // 2^60 bytes, in a file of 128: the size is compared first.
  std::string path = scratch.write(
      "x.npy", numpyFile("{'descr': '<f4', 'fortran_order': False, 'shape': "
                         "(288230376151711744,), }",
                         ""));
  CHECK_THAT(readMessage(path),
             Contains("expected 1152921504606846976 bytes") &&
                 Contains("found 0"));
}

TEST_CASE("random damage to a file never crashes", "[npy]") {
  Scratch scratch;
  std::mt19937 random(9);
  unsigned accepted = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    Array array =
        filled(allDTypes()[random() % 13], {int64_t(random() % 4), 3});
    std::string file = makeNpyHeader(array.dtype(), array.shape(), random() % 2,
                                     random() % 2, 1 + random() % 3);
    file.append(array.storage().begin(), array.storage().end());
    // All of it or the part that matters; any byte or one that may pass.
    for (unsigned damage = 1 + random() % 3; damage > 0; --damage)
      file[random() % (random() % 2 ? file.size() : 72)] =
          static_cast<char>(random() % 2 ? random() : '0' + random() % 10);
    std::string path = scratch.write("y.npy", file);
    (readMessage(path).empty() ? accepted : refused) += 1;
  }
  CHECK(accepted > 50);
  CHECK(refused > 50);
}

TEST_CASE("places that cannot be written", "[npy]") {
  Scratch scratch;
  Array array = filled(DType::F32, {4});
  CHECK_THAT(
      writeMessage(scratch.path("none/x.npy"), array),
      StartsWith(scratch.path("none/x.npy") +
                 ": cannot create the file: No such file") &&
          Contains("\nhelp: create the directory first, as in mkdir -p"));
  CHECK_THAT(writeMessage(scratch.path(""), array),
             Contains("expected a file to write, found a directory"));
  CHECK_THAT(writeMessage("/dev/null", array), Contains("found a device"));
  struct stat status;
  REQUIRE(::stat("/dev/null", &status) == 0);
  CHECK(S_ISCHR(status.st_mode));

  TensorView bad = array.view();
  bad.strides.clear();
  CHECK_THAT(writeMessage(scratch.path("x.npy"), bad),
             Contains("expected 1 strides"));
  TensorView deep = array.view();
  deep.shape.assign(65, 1);
  deep.strides.assign(65, 1);
  CHECK_THAT(writeMessage(scratch.path("x.npy"), deep),
             Contains("at most 64 dimensions, found 65"));
  CHECK(scratch.list().empty());

  if (isRoot())
    return;
  std::string file = scratch.write("old.npy", "old");
  REQUIRE(::chmod(file.c_str(), 0400) == 0);
  CHECK_THAT(writeMessage(file, array), Contains("it is read-only"));
  REQUIRE(::chmod(scratch.path("").c_str(), 0500) == 0);
  CHECK_THAT(writeMessage(scratch.path("x.npy"), array),
             Contains("Permission denied") &&
                 Contains("a directory this user may write to"));
  REQUIRE(::chmod(scratch.path("").c_str(), 0700) == 0);
  CHECK(scratch.list() == std::vector<std::string>{"old.npy"});
  CHECK(scratch.read("old.npy") == "old");
}

TEST_CASE("a write that fails half way leaves the old file", "[npy]") {
  Scratch scratch;
  scratch.write("x.npy", "old");
  Array array = filled(DType::F64, {200000});
  // A limit on the size of files fails a write as a full disk does.
  rlimit old;
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
  auto oldHandler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limited = old;
  limited.rlim_cur = 100000;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
  std::string contiguous = writeMessage(scratch.path("x.npy"), array);
  std::string strided = writeMessage(scratch.path("y.npy"),
                                     array.view().sliced(0, 199999, -1, -1));
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, oldHandler);
  for (const std::string &message : {contiguous, strided})
    CHECK_THAT(message, Contains("cannot write the file: File too large") &&
                            Contains("\nhelp: free some space"));
  CHECK(scratch.list() == std::vector<std::string>{"x.npy"});
  CHECK(scratch.read("x.npy") == "old");
}

TEST_CASE("an existing file is replaced and keeps its permissions", "[npy]") {
  Scratch scratch;
  Array array = filled(DType::F32, {4});
  std::string file = scratch.write("x.npy", "something else, longer than that");
  REQUIRE(::chmod(file.c_str(), 0640) == 0);
  REQUIRE(::symlink("x.npy", scratch.path("link.npy").c_str()) == 0);
  CHECK(writeMessage(scratch.path("link.npy"), array) == "");
  CHECK(same(take(readNpy(file)), array));
  struct stat status;
  REQUIRE(::lstat(scratch.path("link.npy").c_str(), &status) == 0);
  CHECK(S_ISLNK(status.st_mode));
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  CHECK(scratch.list() == std::vector<std::string>{"link.npy", "x.npy"});
}

TEST_CASE("readers see one whole array or another", "[npy]") {
  Scratch scratch;
  std::string path = scratch.path("x.npy");
  Array ones = take(Array::create(DType::I32, {5000}));
  Array twos = take(Array::create(DType::I32, {9000}));
  fillConstant(ones, 1);
  fillConstant(twos, 2);
  REQUIRE(writeMessage(path, ones) == "");
  // Catch's macros are not for threads, so the threads only count.
  std::atomic<unsigned> failures = 0;
  auto write = [&](const Array &array) {
    for (int i = 0; i < 50; ++i)
      if (llvm::Error error = writeNpy(path, array)) {
        llvm::consumeError(std::move(error));
        ++failures;
      }
  };
  std::thread first(write, std::cref(ones)), second(write, std::cref(twos));
  for (int i = 0; i < 200; ++i) {
    llvm::Expected<Array> array = readNpy(path);
    if (!array) {
      llvm::consumeError(array.takeError());
      ++failures;
      continue;
    }
    int64_t value = array->numElements() == 5000 ? 1 : 2;
    forEachElement(*array, [&](void *element, int64_t) {
      failures += loadAsInt(DType::I32, element) != value;
    });
  }
  first.join();
  second.join();
  CHECK(failures == 0);
  CHECK(scratch.list() == std::vector<std::string>{"x.npy"});
}
