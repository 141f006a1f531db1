//===- Options.cpp - The command line, parsed -------------------*- C++ -*-===//
//
// Options.td declares the options; this file turns them into a struct and says
// what is wrong with a command line.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/Options.h"
#include "lib/Support/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;
using namespace tilec::cli;
using namespace llvm::opt;

namespace {
enum ID {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "tools/tilec/Options.inc"
#undef OPTION
};

enum Vis : unsigned { CompileVisible = 1 << 8, RunVisible = 1 << 9 };
#undef OPTTABLE_STR_TABLE_CODE
#define OPTTABLE_STR_TABLE_CODE
#include "tools/tilec/Options.inc"
#undef OPTTABLE_STR_TABLE_CODE
#define OPTTABLE_PREFIXES_TABLE_CODE
#include "tools/tilec/Options.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

constexpr OptTable::Info infoTable[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "tools/tilec/Options.inc"
#undef OPTION
};

class TilecOptTable : public GenericOptTable {
public:
  TilecOptTable()
      : GenericOptTable(OptionStrTable, OptionPrefixesTable, infoTable) {}
};
} // namespace

static const char *const compileOverview =
    R"(tilec - a compiler for GPU kernels written as operations on tiles

  tilec FILE.tile                   check a program
  tilec FILE.tile --emit=tile       show what it becomes
  tilec run FILE.tile [KERNEL] ...  run a kernel on arrays (tilec run --help)

  A first kernel, in add.tile:

    kernel add(X: f32[N], Y: f32[N], Z: out f32[N]) {
      grid n in tile(N)
      Z[n] = X[n] + Y[n]
    }

  tilec run add.tile --size N=1000 makes two random arrays of 1000 numbers, adds
  them, and prints a summary. docs/language.md describes the language.)";

static const char *const runOverview =
    R"(tilec run - compile a kernel and run it on arrays

  Arguments that are not given are made: tensors are filled with random numbers
  (--seed), scalars take their defaults. Extents come from --size and from the
  arrays that are read.

  tilec run rows.tile softmax --size M=512,N=1000 --check
  tilec run rows.tile softmax --arg X=x.npy --out Y=y.npy
  tilec run scale.tile --size N=8 --arg X=iota --arg factor=0.5)";

static void usageError(const llvm::Twine &message, const llvm::Twine &help) {
  llvm::errs() << "tilec: error: " << message << '\n';
  if (!help.isTriviallyEmpty())
    llvm::errs() << "help: " << help << '\n';
}

/// Splits "a=1,b=2" and appends to `pairs`. With `single` the value may contain
/// commas: there is one pair.
static bool parsePairs(llvm::StringRef option, llvm::StringRef text,
                       bool single, Pairs &pairs) {
  llvm::SmallVector<llvm::StringRef> parts;
  if (single)
    parts.push_back(text);
  else
    text.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    auto [name, value] = part.split('=');
    name = name.trim();
    value = value.trim();
    if (name.empty() || value.empty()) {
      usageError("'" + option + "' expects NAME=VALUE, got '" + part + "'",
                 "for example '" + option + "N=4096'");
      return false;
    }
    pairs.emplace_back(name.str(), value.str());
  }
  return true;
}

template <typename T>
static bool parseNumber(llvm::StringRef option, llvm::StringRef text,
                        T &result) {
  if (!text.getAsInteger(0, result))
    return true;
  usageError("'" + option + "' expects a number that is not negative, got '" +
                 text + "'",
             "for example '" + option + "4'");
  return false;
}

std::optional<Options> cli::parseCommandLine(llvm::ArrayRef<const char *> args,
                                             int &exitCode) {
  exitCode = UsageError;
  Options options;
  if (!args.empty() && llvm::StringRef(args.front()) == "run") {
    options.command = Command::Run;
    args = args.drop_front();
  }
  bool isRun = options.command == Command::Run;
  Visibility visibility(isRun ? RunVisible : CompileVisible);

  TilecOptTable table;
  unsigned missingIndex = 0, missingCount = 0;
  InputArgList list =
      table.ParseArgs(args, missingIndex, missingCount, visibility);
  if (missingCount) {
    usageError(llvm::Twine("'") + list.getArgString(missingIndex) +
                   "' expects a value",
               "'tilec --help' lists the options");
    return std::nullopt;
  }
  if (list.hasArg(OPT_help)) {
    table.printHelp(
        llvm::outs(),
        isRun ? "tilec run [options] FILE [KERNEL]" : "tilec [options] FILE",
        isRun ? runOverview : compileOverview, false, false, visibility);
    exitCode = Success;
    return std::nullopt;
  }
  if (list.hasArg(OPT_version)) {
    llvm::outs() << "tilec " << TILEC_VERSION << " (LLVM "
                 << LLVM_VERSION_STRING << ")\n";
    exitCode = Success;
    return std::nullopt;
  }
  for (const Arg *unknown : list.filtered(OPT_UNKNOWN)) {
    std::string text = unknown->getAsString(list), nearest;
    // An option of the other command deserves its own message.
    if (table.findExact(text, nearest,
                        Visibility(isRun ? CompileVisible : RunVisible)))
      usageError("'" + text + "' is not an option of 'tilec" +
                     (isRun ? " run'" : "'"),
                 isRun ? "it belongs to 'tilec FILE'"
                       : "it belongs to 'tilec run FILE'");
    else if (table.findNearest(text, nearest, visibility) <= 2)
      usageError("unknown option '" + text + "'",
                 "did you mean '" + nearest + "'?");
    else
      usageError("unknown option '" + text + "'",
                 "'tilec --help' lists the options");
    return std::nullopt;
  }

  std::vector<std::string> inputs = list.getAllArgValues(OPT_INPUT);
  if (list.hasArg(OPT_list_passes)) {
    options.listPasses = true;
    exitCode = Success;
    return options;
  }
  if (inputs.empty()) {
    usageError("no file given", isRun ? "tilec run FILE [KERNEL]"
                                      : "tilec FILE; 'tilec --help' says more");
    return std::nullopt;
  }
  if (inputs.size() > (isRun ? 2u : 1u)) {
    usageError("unexpected argument '" + llvm::Twine(inputs.back()) + "'",
               isRun ? "tilec run FILE [KERNEL]" : "tilec FILE");
    return std::nullopt;
  }
  options.file = inputs[0];
  options.kernel = isRun ? (inputs.size() == 2 ? inputs[1] : "")
                         : list.getLastArgValue(OPT_kernel).str();

  for (const Arg *arg : list) {
    llvm::StringRef value = arg->getNumValues() ? arg->getValue() : "";
    switch (arg->getOption().getUnaliasedOption().getID()) {
    case OPT_define:
      if (!parsePairs("-D ", value, true, options.defines))
        return std::nullopt;
      break;
    case OPT_size:
      if (!parsePairs("--size=", value, false, options.defines))
        return std::nullopt;
      break;
    case OPT_schedule:
      if (!parsePairs("--schedule=", value, false, options.schedule))
        return std::nullopt;
      break;
    case OPT_arg:
      if (!parsePairs("--arg=", value, true, options.args))
        return std::nullopt;
      break;
    case OPT_out:
      if (!parsePairs("--out=", value, true, options.outs))
        return std::nullopt;
      break;
    case OPT_seed:
      if (!parseNumber("--seed=", value, options.seed))
        return std::nullopt;
      break;
    case OPT_repeat:
      if (!parseNumber("--repeat=", value, options.repeat))
        return std::nullopt;
      break;
    case OPT_threads:
      if (!parseNumber("--threads=", value, options.threads))
        return std::nullopt;
      break;
    default:
      break;
    }
  }
  options.repeat = std::max(options.repeat, 1u);
  options.includePaths = list.getAllArgValues(OPT_include_path);
  options.target = list.getLastArgValue(OPT_target, "cpu").str();
  constexpr llvm::StringLiteral targets[] = {"cpu", "sm_80", "sm_86", "sm_89",
                                             "sm_90a"};
  if (!llvm::is_contained(targets, options.target)) {
    usageError("unknown target '" + llvm::Twine(options.target) + "'",
               "the targets are: " + llvm::join(llvm::ArrayRef(targets), ", "));
    return std::nullopt;
  }
  if (const Arg *arg = list.getLastArg(OPT_emit)) {
    std::optional<Stage> stage =
        llvm::StringSwitch<std::optional<Stage>>(arg->getValue())
            .Case("ast", Stage::AST)
            .Case("source", Stage::Source)
            .Case("typed", Stage::Typed)
            .Case("tile", Stage::Tile)
            .Case("llvm", Stage::LLVM)
            .Default(std::nullopt);
    if (!stage) {
      usageError(llvm::Twine("unknown stage '") + arg->getValue() + "'",
                 "the stages are: ast, source, typed, tile, llvm");
      return std::nullopt;
    }
    options.emit = *stage;
  }
  if (options.target != "cpu" && (isRun || options.emit == Stage::LLVM)) {
    usageError("nothing can be generated for '" + llvm::Twine(options.target) +
                   "' yet",
               "its stages up to --emit=tile can be shown; to run, leave out "
               "--target");
    return std::nullopt;
  }
  if (const Arg *arg = list.getLastArg(OPT_diagnostics)) {
    llvm::StringRef format = arg->getValue();
    if (format != "text" && format != "json") {
      usageError("unknown message format '" + format + "'",
                 "the formats are: text, json");
      return std::nullopt;
    }
    options.jsonDiagnostics = format == "json";
  }
  options.output = list.getLastArgValue(OPT_output).str();
  options.printAfter = list.getLastArgValue(OPT_print_after).str();
  options.stopAfter = list.getLastArgValue(OPT_stop_after).str();
  options.remarks = list.getLastArgValue(OPT_remarks).str();
  options.check = list.hasArg(OPT_check);
  options.checked = !list.hasArg(OPT_unchecked);
  options.quiet = list.hasArg(OPT_quiet);
  exitCode = Success;
  return options;
}
