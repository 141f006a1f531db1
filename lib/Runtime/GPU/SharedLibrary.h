//===- SharedLibrary.h - A library opened at run time -----------*- C++ -*-===//

#ifndef TILEC_RUNTIME_GPU_SHAREDLIBRARY_H
#define TILEC_RUNTIME_GPU_SHAREDLIBRARY_H

#include "llvm/Support/Error.h"
#include <string>

namespace tilec::gpu {

/// A handle of dlopen. Its symbols stay private to whoever asks for them, so
/// that another version of the same library in the process is not disturbed.
class SharedLibrary {
public:
  /// Opens a library by path, or by name along the dynamic linker's own search.
  /// The error is the linker's words.
  static llvm::Expected<SharedLibrary> open(const std::string &path);

  SharedLibrary() = default;
  SharedLibrary(SharedLibrary &&other) : handle(other.handle) {
    other.handle = nullptr;
  }
  SharedLibrary &operator=(SharedLibrary &&other) {
    std::swap(handle, other.handle);
    return *this;
  }
  /// Closes the library.
  ~SharedLibrary();

  /// The address of a symbol, or null.
  void *find(const char *symbol) const;

  /// Sets `function` to the symbol of that name; false if there is none.
  template <typename Function>
  bool get(const char *symbol, Function *&function) const {
    function = reinterpret_cast<Function *>(find(symbol));
    return function != nullptr;
  }

  /// The file it came from, with links resolved; empty if not known.
  std::string path() const;

private:
  void *handle = nullptr;
};

} // namespace tilec::gpu

#endif // TILEC_RUNTIME_GPU_SHAREDLIBRARY_H
