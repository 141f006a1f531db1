//===- SemaProgram.cpp - Names of a program, and its checks -----*- C++ -*-===//
//
// The index of declarations, and checkProgram: what can be said of a program
// before any of its kernels is launched.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/SemaProgram.h"

#include "lib/Frontend/SemaImpl.h"
#include "llvm/ADT/StringSet.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::dyn_cast;
using llvm::isa;
using llvm::StringRef;

ast::Ident sema::declName(const ast::Decl &decl) {
  if (const auto *fn = dyn_cast<ast::FnDecl>(&decl))
    return {fn->getName(), fn->getNameRange()};
  if (const auto *kernel = dyn_cast<ast::KernelDecl>(&decl))
    return {kernel->getName(), kernel->getNameRange()};
  if (const auto *schedule = dyn_cast<ast::ScheduleDecl>(&decl))
    return schedule->getKernel();
  return {};
}

//===----------------------------------------------------------------------===//
// The index
//===----------------------------------------------------------------------===//

ProgramIndex::ProgramIndex(const ast::Program &program) : program(program) {
  for (const ast::File *file : program.files) {
    ByName &names = byName[file];
    for (const ast::Decl *decl : file->decls) {
      files[decl] = file;
      if (isa<ast::FnDecl, ast::KernelDecl>(decl))
        names.try_emplace(declName(*decl).name, decl);
    }
  }
  for (const ast::File *from : program.files) {
    // Breadth first, so that near files come before far ones.
    std::vector<const ast::File *> reached = {from};
    for (size_t i = 0; i < reached.size(); ++i)
      for (const ast::Decl *decl : reached[i]->decls)
        if (const auto *import = dyn_cast<ast::ImportDecl>(decl))
          if (import->getFile() &&
              !llvm::is_contained(reached, import->getFile()))
            reached.push_back(import->getFile());
    visible[from] = std::move(reached);
  }
}

llvm::SmallVector<const ast::Decl *, 2>
ProgramIndex::find(StringRef name, const ast::File *from) const {
  llvm::SmallVector<const ast::Decl *, 2> found;
  for (const ast::File *file : visibleFrom(from)) {
    const ast::Decl *decl = byName.find(file)->second.lookup(name);
    if (!decl)
      continue;
    found.push_back(decl);
    if (file == from)
      break;
  }
  return found;
}

void ProgramIndex::listFunctions(
    const ast::File *from, llvm::SmallVectorImpl<StringRef> &names) const {
  for (const ast::File *file : visibleFrom(from))
    for (const ast::Decl *decl : file->decls)
      if (const auto *fn = dyn_cast<ast::FnDecl>(decl))
        names.push_back(fn->getName());
}

//===----------------------------------------------------------------------===//
// Checks of a whole program
//===----------------------------------------------------------------------===//

static void checkNames(const ast::File &file, DiagnosticEngine &diags) {
  llvm::StringMap<SourceRange> names;
  for (const ast::Decl *decl : file.decls) {
    if (!isa<ast::FnDecl, ast::KernelDecl>(decl))
      continue;
    ast::Ident name = declName(*decl);
    if (isa<ast::FnDecl>(decl) && findBuiltin(name.name)) {
      diags.error(name.range, "'" + name.name + "' is a built-in function")
          .remedy("give the function another name");
      continue;
    }
    auto [entry, isNew] = names.try_emplace(name.name, name.range);
    if (!isNew)
      diags.error(name.range, "'" + name.name + "' is defined twice")
          .note(entry->second, "the first definition is here")
          .remedy("give one of them another name");
  }
}

static bool isTarget(StringRef name) {
  if (name == "cpu" || name == "emulator")
    return true;
  if (!name.consume_front("sm_"))
    return false;
  unsigned architecture;
  return !name.consumeInteger(10, architecture) &&
         (name.empty() || name == "a");
}

static void checkSchedule(const ast::ScheduleDecl &schedule,
                          const ProgramIndex &index,
                          llvm::StringMap<SourceRange> &seen,
                          DiagnosticEngine &diags) {
  StringRef kernel = schedule.getKernel().name;
  StringRef target = schedule.getTarget().name;
  const ast::File *file = index.fileOf(schedule);
  bool found = llvm::any_of(index.find(kernel, file), [](const auto *decl) {
    return isa<ast::KernelDecl>(decl);
  });
  if (!found) {
    llvm::SmallVector<StringRef> names;
    for (const ast::File *other : index.visibleFrom(file))
      for (const ast::Decl *decl : other->decls)
        if (isa<ast::KernelDecl>(decl))
          names.push_back(declName(*decl).name);
    diags.error(schedule.getKernel().range, "unknown kernel '" + kernel + "'")
        .remedy(suggest(kernel, names,
                        "a schedule is for a kernel of this file or of one it "
                        "imports"));
  }
  if (!isTarget(target))
    diags.error(schedule.getTarget().range, "unknown target '" + target + "'")
        .remedy(suggest(
            target,
            {"cpu", "emulator", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a"},
            "targets are cpu, emulator, sm_80, sm_86, sm_89, "
            "sm_90a and sm_100a"));
  auto [entry, isNew] =
      seen.try_emplace((kernel + " " + target).str(), schedule.getRange());
  if (!isNew)
    diags
        .error(schedule.getRange(), "'" + kernel + "' has two schedules for '" +
                                        target + "' in this file")
        .note(entry->second, "the first one is here")
        .remedy("merge them");
}

void tilec::checkProgram(const ast::Program &program, DiagnosticEngine &diags) {
  ProgramIndex index(program);
  for (const ast::File *file : program.files)
    checkNames(*file, diags);
  for (const ast::File *file : program.files) {
    llvm::StringMap<SourceRange> seen;
    for (const ast::Decl *decl : file->decls)
      if (const auto *schedule = dyn_cast<ast::ScheduleDecl>(decl))
        checkSchedule(*schedule, index, seen, diags);
  }
  // Functions come first: a mistake in one is then reported there, and not
  // again where a kernel calls it.
  for (const ast::File *file : program.files)
    for (const ast::Decl *decl : file->decls)
      if (const auto *fn = dyn_cast<ast::FnDecl>(decl);
          fn && !diags.tooManyErrors())
        Analyzer(index, diags).checkFn(*fn);
  for (const ast::File *file : program.files)
    for (const ast::Decl *decl : file->decls) {
      const auto *kernel = dyn_cast<ast::KernelDecl>(decl);
      if (!kernel || diags.tooManyErrors())
        continue;
      bool isOpen =
          llvm::any_of(kernel->getCtParams(), [](const ast::CtParam &param) {
            return !param.defaultValue;
          });
      if (!isOpen)
        Analyzer(index, diags).analyzeKernel(*kernel, {}, "");
    }
}
