//===- SemaSchedule.cpp - Schedule blocks and declarations ------*- C++ -*-===//
//
// Checks the keys and values of schedules and gathers those that apply to the
// kernel and target. A `schedule K for TARGET` is more special than the block
// within the kernel and wins, item by item; of two in different files, the one
// of the file that is compiled wins over that of a library.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/SemaImpl.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::dyn_cast;
using llvm::StringRef;
using llvm::Twine;

namespace {
/// A key that is not a tile size.
struct Knob {
  llvm::StringLiteral name;
  ast::ScheduleItem::Kind kind;
  int64_t min, max; // Of an Int.
  llvm::StringLiteral example;
};
} // namespace

static constexpr Knob knobs[] = {
    {"stages", ast::ScheduleItem::Kind::Int, 1, 32, "4"},
    {"warps", ast::ScheduleItem::Kind::Int, 1, 32, "8"},
    {"consumers", ast::ScheduleItem::Kind::Int, 1, 8, "2"},
    {"producers", ast::ScheduleItem::Kind::Int, 0, 8, "1"},
    {"cluster", ast::ScheduleItem::Kind::Int, 1, 16, "2"},
    {"order", ast::ScheduleItem::Kind::Name, 0, 0, "zigzag"},
    {"split", ast::ScheduleItem::Kind::Int, 1, 1024, "4"},
    {"unroll", ast::ScheduleItem::Kind::Int, 1, 64, "2"},
    {"registers", ast::ScheduleItem::Kind::Int, 16, 255, "232"},
    {"persistent", ast::ScheduleItem::Kind::Bool, 0, 0, "true"},
};

/// The names of the kernel's tiles: its tile variables, `kv` with attention,
/// and in a kernel without a grid the dimensions it may be divided along.
static llvm::SmallVector<StringRef> tileKeys(const Kernel &kernel) {
  llvm::SmallVector<StringRef> keys;
  for (const Axis *axis : kernel.axes)
    if ((axis->isTile() || (kernel.grid.empty() && axis->dim)) &&
        !llvm::is_contained(keys, axis->name))
      keys.push_back(axis->name);
  if (!kernel.attentions.empty() && !llvm::is_contained(keys, "kv"))
    keys.push_back("kv");
  return keys;
}

bool Analyzer::checkScheduleItem(const ast::ScheduleItem &item) {
  StringRef key = item.key.name;
  auto expect = [&](const Twine &what, StringRef example) {
    std::string found = item.kind == ast::ScheduleItem::Kind::Int
                            ? std::to_string(item.intValue)
                        : item.kind == ast::ScheduleItem::Kind::Bool
                            ? (item.boolValue ? "true" : "false")
                            : "'" + item.nameValue.str() + "'";
    error(item.valueRange,
          "expected " + what + " for '" + key + "', found " + found)
        .remedy("write, for example, '" + key + " = " + example + "'");
    return false;
  };
  bool isInt = item.kind == ast::ScheduleItem::Kind::Int;
  llvm::SmallVector<StringRef> keys = tileKeys(*kernel);
  if (llvm::is_contained(keys, key)) {
    constexpr int64_t maxTileSize = 1 << 20;
    if (!isInt || item.intValue < 1 || item.intValue > maxTileSize)
      return expect("a tile size from 1 to " + Twine(maxTileSize), "64");
    for (const Axis *axis : kernel->axes)
      if (axis->isTile() && axis->name == key && axis->var->fixedSize > 0 &&
          axis->var->fixedSize != item.intValue)
        warning(item.key.range,
                "the size of the tile '" + key + "' is fixed to " +
                    Twine(axis->var->fixedSize) + " in the kernel")
            .note(axis->var->range, "'" + key + "' is declared here")
            .remedy("take the size out of one of them");
    return true;
  }
  const Knob *knob =
      llvm::find_if(knobs, [&](const Knob &knob) { return knob.name == key; });
  if (knob == std::end(knobs)) {
    for (const Knob &other : knobs)
      keys.push_back(other.name);
    error(item.key.range,
          "unknown key '" + key + "' in the schedule of '" + kernel->name + "'")
        .remedy(suggest(key, keys, "the keys are " + joinNames(keys, " and ")));
    return false;
  }
  switch (knob->kind) {
  case ast::ScheduleItem::Kind::Int:
    if (!isInt || item.intValue < knob->min || item.intValue > knob->max)
      return expect("an integer from " + Twine(knob->min) + " to " +
                        Twine(knob->max),
                    knob->example);
    return true;
  case ast::ScheduleItem::Kind::Bool:
    return item.kind == knob->kind || expect("true or false", knob->example);
  case ast::ScheduleItem::Kind::Name:
    return item.kind == knob->kind || expect("a name", knob->example);
  }
  llvm_unreachable("not a kind of schedule item");
}

void Analyzer::addSchedule(llvm::ArrayRef<ast::ScheduleItem> items,
                           bool apply) {
  for (const ast::ScheduleItem &item : items) {
    if (!checkScheduleItem(item) || !apply)
      continue;
    ScheduleEntry result;
    result.key = item.key.name;
    result.text = item.nameValue;
    result.range = item.key.range;
    result.value = item.kind == ast::ScheduleItem::Kind::Bool ? item.boolValue
                                                              : item.intValue;
    auto old = llvm::find_if(kernel->schedule, [&](const auto &other) {
      return other.key == result.key;
    });
    if (old != kernel->schedule.end())
      *old = result;
    else
      kernel->schedule.push_back(result);
  }
}

void Analyzer::analyzeSchedules(const ast::KernelDecl &decl, StringRef target) {
  if (const ast::ScheduleStmt *block = decl.findSchedule())
    addSchedule(block->getItems(), /*apply=*/true);
  // Those of other targets are checked all the same. The main file is last.
  for (const ast::File *file : llvm::reverse(index.getProgram().files))
    for (const ast::Decl *other : file->decls) {
      const auto *schedule = dyn_cast<ast::ScheduleDecl>(other);
      if (!schedule || schedule->getKernel().name != decl.getName())
        continue;
      auto found = index.find(decl.getName(), file);
      if (llvm::is_contained(found, static_cast<const ast::Decl *>(&decl)))
        addSchedule(schedule->getItems(), schedule->getTarget().name == target);
    }
}
