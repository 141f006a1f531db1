//===- Program.cpp - A .tile program, loaded --------------------*- C++ -*-===//
//
// Loading and look-up; the work is done by the parser and the analysis.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/Program.h"
#include "lib/Frontend/Parser.h"
#include "lib/Runtime/GPU/GPUError.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <dlfcn.h>

using namespace tilec;

std::string tilec::standardLibraryPath() {
  if (std::optional<std::string> path =
          llvm::sys::Process::GetEnv("TILEC_STD_PATH"))
    return *path;
  // The address of any function of this program finds the library that it is
  // in, or the executable.
  auto *address = reinterpret_cast<void *>(&standardLibraryPath);
  Dl_info info;
  llvm::SmallString<256> library;
  if (!dladdr(address, &info) ||
      llvm::sys::fs::real_path(info.dli_fname, library))
    library.clear();
  for (const std::string &file :
       {library.str().str(),
        llvm::sys::fs::getMainExecutable(nullptr, address)})
    for (const char *folder : {"std", "share/tilec/std"}) {
      llvm::SmallString<256> path(
          llvm::sys::path::parent_path(llvm::sys::path::parent_path(file)));
      llvm::sys::path::append(path, folder);
      if (!file.empty() && llvm::sys::fs::is_directory(path))
        return std::string(path);
    }
  return TILEC_SOURCE_STD;
}

static std::vector<std::string>
withStandardLibrary(llvm::ArrayRef<std::string> searchPaths) {
  std::vector<std::string> paths = searchPaths.vec();
  paths.push_back(standardLibraryPath());
  return paths;
}

Program::Program(std::shared_ptr<Text> shared)
    : text(std::move(shared)), sources(text->sources), diags(sources),
      tree(text->tree) {}

std::unique_ptr<Program>
Program::load(llvm::StringRef path, llvm::ArrayRef<std::string> searchPaths) {
  std::unique_ptr<Program> program(new Program(std::make_shared<Text>()));
  Text &text = *program->text;
  program->tree = text.tree =
      loadProgram(path, withStandardLibrary(searchPaths), text.sources,
                  text.context, program->diags);
  return program;
}

std::unique_ptr<Program>
Program::loadText(llvm::StringRef name, llvm::StringRef text,
                  llvm::ArrayRef<std::string> searchPaths) {
  std::unique_ptr<Program> program(new Program(std::make_shared<Text>()));
  Text &shared = *program->text;
  unsigned file = shared.sources.addFile(name.str(), text.str());
  program->tree = shared.tree =
      loadProgram(file, withStandardLibrary(searchPaths), shared.sources,
                  shared.context, program->diags);
  return program;
}

std::unique_ptr<Program> Program::fork() const {
  return std::unique_ptr<Program>(new Program(text));
}

std::vector<const ast::KernelDecl *> Program::getKernels() const {
  std::vector<const ast::KernelDecl *> kernels;
  if (tree)
    for (const ast::Decl *decl : tree->main().decls)
      if (const auto *kernel = llvm::dyn_cast<ast::KernelDecl>(decl))
        kernels.push_back(kernel);
  return kernels;
}

const ast::KernelDecl *Program::findKernel(llvm::StringRef name) {
  std::vector<const ast::KernelDecl *> own = getKernels();
  if (name.empty()) {
    if (own.size() == 1)
      return own.front();
    if (own.empty()) {
      diags.error({}, "the file has no kernel")
          .remedy("add one: 'kernel name(X: f32[N], Y: out f32[N]) { Y = X }'");
      return nullptr;
    }
    Diagnostic &error = diags.error({}, "the file has several kernels");
    for (const ast::KernelDecl *kernel : own)
      error.note(kernel->getNameRange(), "'" + kernel->getName() + "'");
    error.remedy("name the one you mean");
    return nullptr;
  }

  llvm::SmallVector<llvm::StringRef> names;
  if (tree)
    for (const ast::File *file : tree->files)
      for (const ast::Decl *decl : file->decls)
        if (const auto *kernel = llvm::dyn_cast<ast::KernelDecl>(decl)) {
          if (kernel->getName() == name)
            return kernel;
          names.push_back(kernel->getName());
        }
  Diagnostic &error = diags.error({}, "there is no kernel '" + name + "'");
  llvm::StringRef nearest = nearestName(name, names);
  if (!nearest.empty())
    error.remedy("did you mean '" + nearest + "'?");
  else
    error.remedy(names.empty() ? std::string("the file has no kernel")
                               : "the kernels are: " + llvm::join(names, ", "));
  return nullptr;
}

std::unique_ptr<typed::Kernel> Program::analyze(const ast::KernelDecl &decl,
                                                const CompileTimeArgs &args,
                                                llvm::StringRef target) {
  return analyzeKernel(*tree, decl, args, target, diags);
}

Diagnostic &tilec::reportError(Program &program, SourceRange range,
                               const llvm::Twine &about, llvm::Error error) {
  std::optional<gpu::ErrorKind> kind = gpu::kindOf(error);
  std::string text = llvm::toString(std::move(error));
  auto [message, help] = llvm::StringRef(text).split("\nhelp: ");
  bool isAbout = !about.isTriviallyEmpty();
  Diagnostic &result =
      program.diags.error(range, about + (isAbout ? ": " : "") + message);
  if (!help.empty())
    result.remedy(help);
  if (kind)
    result.of(gpu::kindName(*kind));
  return result;
}
