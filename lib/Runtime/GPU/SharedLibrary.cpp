//===- SharedLibrary.cpp - A library opened at run time ---------*- C++ -*-===//

#include "lib/Runtime/GPU/SharedLibrary.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include <dlfcn.h>
#include <link.h>

using namespace tilec;
using namespace tilec::gpu;

llvm::Expected<SharedLibrary> SharedLibrary::open(const std::string &path) {
  SharedLibrary library;
  library.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library.handle) {
    const char *cause = dlerror();
    return llvm::createStringError(cause ? cause : "unknown error of dlopen");
  }
  return library;
}

SharedLibrary::~SharedLibrary() {
  if (handle)
    dlclose(handle);
}

void *SharedLibrary::find(const char *symbol) const {
  return handle ? dlsym(handle, symbol) : nullptr;
}

std::string SharedLibrary::path() const {
  link_map *map = nullptr;
  if (!handle ||
      dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void *>(&map)) != 0 || !map)
    return "";
  llvm::SmallString<128> real;
  if (llvm::sys::fs::real_path(map->l_name, real))
    return map->l_name;
  return real.str().str();
}
