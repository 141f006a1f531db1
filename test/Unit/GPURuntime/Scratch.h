//===- Scratch.h - Files and variables of one test --------------*- C++ -*-===//

#ifndef TILEC_TEST_UNIT_GPURUNTIME_SCRATCH_H
#define TILEC_TEST_UNIT_GPURUNTIME_SCRATCH_H

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tilec::test {

/// A folder that goes when the test ends.
class Scratch {
public:
  Scratch() {
    llvm::SmallString<128> made;
    if (llvm::sys::fs::createUniqueDirectory("tilec-gpu", made))
      std::abort();
    llvm::SmallString<128> real;
    if (llvm::sys::fs::real_path(made, real))
      std::abort();
    root = real.str().str();
  }
  ~Scratch() {
    if (llvm::sys::fs::remove_directories(root))
      std::abort();
  }

  const std::string &path() const { return root; }
  std::string operator/(llvm::StringRef name) const {
    return root + "/" + name.str();
  }

  void write(llvm::StringRef name, const std::string &content) {
    std::string file = *this / name;
    if (llvm::sys::fs::create_directories(llvm::sys::path::parent_path(file)))
      std::abort();
    std::ofstream(file, std::ios::binary) << content;
  }
  std::string read(llvm::StringRef name) const {
    std::ifstream file(*this / name, std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    return content.str();
  }
  void link(const char *target, llvm::StringRef name) {
    if (symlink(target, (*this / name).c_str()))
      std::abort();
  }
  /// The names in the folder.
  std::vector<std::string> list() const {
    std::vector<std::string> names;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator at(root, error), end;
         !error && at != end; at.increment(error))
      names.push_back(llvm::sys::path::filename(at->path()).str());
    return names;
  }

private:
  std::string root;
};

/// Variables of the environment, set back when the test ends.
class Environment {
public:
  ~Environment() {
    for (auto at = saved.rbegin(); at != saved.rend(); ++at)
      if (at->second)
        setenv(at->first.c_str(), at->second->c_str(), 1);
      else
        unsetenv(at->first.c_str());
  }
  void set(const char *name, const std::string &value) {
    save(name);
    setenv(name, value.c_str(), 1);
  }
  void unset(const char *name) {
    save(name);
    unsetenv(name);
  }

private:
  void save(const char *name) {
    const char *value = std::getenv(name);
    saved.emplace_back(name, value ? std::optional<std::string>(value)
                                   : std::nullopt);
  }
  std::vector<std::pair<std::string, std::optional<std::string>>> saved;
};

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_GPURUNTIME_SCRATCH_H
