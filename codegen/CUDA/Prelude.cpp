//===- Prelude.cpp - Device functions in front of a kernel ------*- C++ -*-===//

#include "codegen/CUDA/Prelude.h"
#include "codegen/CUDA/Text.h"

#include "llvm/ADT/SmallVector.h"

namespace tilec::cuda {

const Prelude &Prelude::get() {
  static const Prelude prelude;
  return prelude;
}

Prelude::Prelude() {
  for (unsigned i = 0; i < preludeFileCount; ++i)
    add(preludeFiles[i]);
}

/// What follows `template <...>` on a line.
static llvm::StringRef behindTemplate(llvm::StringRef line) {
  unsigned depth = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    depth += line[i] == '<';
    if (line[i] == '>' && --depth == 0)
      return line.drop_front(i + 1).trim();
  }
  return {};
}

/// The name that an item declares: of a macro, a type, a constant, or of the
/// function, which is what stands before the first parenthesis.
static std::string declaredName(llvm::StringRef item) {
  llvm::SmallVector<llvm::StringRef> lines;
  item.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    line = line.trim();
    if (line.starts_with("template"))
      line = behindTemplate(line);
    if (line.empty() || line.starts_with("//") || line.starts_with("#if"))
      continue;
    bool isMacro = line.consume_front("#define");
    llvm::StringRef head =
        isMacro ? line : line.take_until([](char c) { return c == '('; });
    head = head.take_until(
        [](char c) { return c == '=' || c == ';' || c == '{' || c == '['; });
    std::string name;
    forEachIdentifier(head, [&](llvm::StringRef word) {
      if (!isMacro || name.empty())
        name = word;
    });
    return name;
  }
  return {};
}

void Prelude::add(llvm::StringRef text) {
  while (!text.empty()) {
    auto [item, rest] = text.split("\n\n");
    text = rest.ltrim('\n');
    item = item.trim('\n');
    std::string name = declaredName(item);
    if (name.empty()) // The comment at the head of a file.
      continue;
    Item entry{item, name, {}};
    forEachIdentifier(item, [&](llvm::StringRef word) {
      if (word != name)
        entry.mentions.push_back(word.str());
    });
    items.push_back(std::move(entry));
  }
}

void Prelude::forEachName(
    llvm::function_ref<void(llvm::StringRef)> visit) const {
  for (const Item &item : items)
    visit(item.name);
}

std::string
Prelude::select(const llvm::StringSet<> &used,
                const llvm::StringMap<llvm::StringRef> &macros) const {
  llvm::StringSet<> wanted = used;
  // An item mentions only items before it, so one pass finds all.
  std::vector<bool> taken(items.size());
  for (size_t i = items.size(); i-- > 0;) {
    if (!wanted.contains(items[i].name))
      continue;
    taken[i] = true;
    for (const std::string &name : items[i].mentions)
      wanted.insert(name);
  }
  std::string text;
  for (auto [item, isTaken] : llvm::zip_equal(items, taken)) {
    if (!isTaken)
      continue;
    if (auto macro = macros.find(item.name); macro != macros.end())
      text += (item.text.take_front(item.text.find("#define")) + "#define " +
               item.name + " " + macro->second + "\n\n")
                  .str();
    else
      text += item.text.str() + "\n\n";
  }
  return text;
}

} // namespace tilec::cuda
