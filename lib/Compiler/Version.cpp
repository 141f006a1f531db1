//===- Version.cpp - Which tilec this is ------------------------*- C++ -*-===//
//
// The build id is read from memory, where it is that of the running code even
// if its file has been replaced since.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/Version.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MathExtras.h"
#include <elf.h>
#include <link.h>

using namespace tilec;

const char *const tilec::versionText = TILEC_VERSION;

/// The build id among the notes of a segment; empty if it is not there.
static std::string findBuildID(const char *notes, size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    const auto *header = reinterpret_cast<const ElfW(Nhdr) *>(notes);
    size_t nameSize = llvm::alignTo(header->n_namesz, 4);
    size_t total =
        sizeof(*header) + nameSize + llvm::alignTo(header->n_descsz, 4);
    if (total > size)
      break;
    const char *name = notes + sizeof(*header);
    if (header->n_type == NT_GNU_BUILD_ID &&
        llvm::StringRef(name, header->n_namesz) == llvm::StringRef("GNU", 4))
      return llvm::toHex(llvm::StringRef(name + nameSize, header->n_descsz),
                         /*LowerCase=*/true);
    notes += total;
    size -= total;
  }
  return "";
}

/// Called for each program and library in memory; ends with the one that this
/// code is in.
static int visitObject(dl_phdr_info *info, size_t, void *result) {
  auto here = reinterpret_cast<uintptr_t>(&buildIdentity);
  bool isOurs = false;
  std::string id;
  for (const ElfW(Phdr) &segment :
       llvm::ArrayRef(info->dlpi_phdr, info->dlpi_phnum)) {
    uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD)
      isOurs |= here >= begin && here < begin + segment.p_memsz;
    else if (segment.p_type == PT_NOTE && id.empty())
      id = findBuildID(reinterpret_cast<const char *>(begin), segment.p_memsz);
  }
  if (isOurs)
    *static_cast<std::string *>(result) = id;
  return isOurs;
}

const std::string &tilec::buildIdentity() {
  static const std::string identity = [] {
    std::string id;
    dl_iterate_phdr(visitObject, &id);
    return id.empty() ? id
                      : std::string("tilec " TILEC_VERSION
                                    " LLVM " LLVM_VERSION_STRING " ") +
                            id;
  }();
  return identity;
}
