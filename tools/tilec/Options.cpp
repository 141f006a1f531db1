//===- Options.cpp - The command line, parsed -------------------*- C++ -*-===//
//
// Options.td declares the options; this file turns them into a struct and says
// what is wrong with a command line.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/Options.h"
#include "lib/Compiler/Pipelines.h"
#include "lib/Compiler/Version.h"
#include "lib/Support/Diagnostics.h"
#include "tools/tilec/OptionTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Support/Regex.h"

using namespace tilec;
using namespace tilec::cli;
using namespace llvm::opt;

#define OPTTABLE_STR_TABLE_CODE
#include "tools/tilec/Options.inc"
#undef OPTTABLE_STR_TABLE_CODE
#define OPTTABLE_PREFIXES_TABLE_CODE
#include "tools/tilec/Options.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

static constexpr OptTable::Info infoTable[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "tools/tilec/Options.inc"
#undef OPTION
};

OptionTable::OptionTable()
    : GenericOptTable(OptionStrTable, OptionPrefixesTable, infoTable) {}

/// What the emulator runs code for, if nothing else is asked for.
static constexpr llvm::StringLiteral emulatorDefault = "sm_90a";

namespace {
/// Fills an Options from a list of arguments. Functions return false after
/// printing a usage error.
class OptionParser {
public:
  explicit OptionParser(Command command) {
    options.command = command;
    if (command == Command::Bench)
      options.repeat = 21;
    if (command == Command::Check) {
      options.target = emulatorDefault.str();
      options.emulated = true;
    }
  }

  bool checkKnown(const InputArgList &list);
  bool parseInputs(const InputArgList &list);
  bool parseValue(unsigned id, llvm::StringRef value);
  bool checkCombinations(const InputArgList &list);

  OptionTable table;
  Options options;

private:
  bool fail(const llvm::Twine &message, const llvm::Twine &help);
  /// Splits at the first '='; false after an error that quotes `example`.
  bool splitPair(llvm::StringRef option, llvm::StringRef text,
                 llvm::StringRef example, llvm::StringRef &name,
                 llvm::StringRef &value);
  bool parseNumbers(llvm::StringRef option, llvm::StringRef text,
                    llvm::StringRef example, int64_t min, int64_t max,
                    Named<int64_t> &result);
  template <typename T>
  bool parseNumber(llvm::StringRef option, llvm::StringRef text, T min, T max,
                   T &result);
  bool parseTrial(llvm::StringRef text);
  bool parseArg(llvm::StringRef text);
  bool parseOut(llvm::StringRef text);
  bool parseStage(llvm::StringRef text);
  bool parseTarget(llvm::StringRef text);
  bool parsePass(llvm::StringRef text, bool allowAll, std::string &result);

  bool isOptionOf(Command command, llvm::StringRef name) const;
  /// "tilec run FILE.tile [KERNEL] [options]".
  std::string usage() const;
  /// "'tilec run --help'".
  std::string helpCommand() const;
};
} // namespace

llvm::StringRef cli::commandName(Command command) {
  switch (command) {
  case Command::Compile:
    return "tilec";
  case Command::Run:
    return "tilec run";
  case Command::Bench:
    return "tilec bench";
  case Command::Check:
    return "tilec check";
  }
  llvm_unreachable("unknown command");
}

OptionVisibility cli::visibilityOf(Command command) {
  switch (command) {
  case Command::Compile:
    return CompileVisible;
  case Command::Run:
    return RunVisible;
  case Command::Bench:
    return BenchVisible;
  case Command::Check:
    return CheckVisible;
  }
  llvm_unreachable("unknown command");
}

std::string OptionParser::usage() const {
  return (commandName(options.command) + " FILE.tile " +
          (options.command == Command::Compile ? "[options]"
                                               : "[KERNEL] [options]"))
      .str();
}

std::string OptionParser::helpCommand() const {
  return ("'" + commandName(options.command) + " --help'").str();
}

bool OptionParser::fail(const llvm::Twine &message, const llvm::Twine &help) {
  llvm::errs() << "tilec: error: " << message << "\n  help: " << help << '\n';
  return false;
}

/// The candidate that `text` may have been meant to be, or the whole list.
static std::string suggest(llvm::StringRef text, llvm::StringRef what,
                           llvm::ArrayRef<llvm::StringRef> candidates) {
  llvm::StringRef nearest = nearestName(text, candidates);
  if (!nearest.empty())
    return ("did you mean '" + nearest + "'?").str();
  return ("the " + what + " are: " + llvm::join(candidates, ", ")).str();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static constexpr int64_t maxTileSize = 1 << 20; // As in the language.

/// "a whole number from 1 to 64". The limits of a type are called by a power of
/// two, which says more than nineteen digits.
template <typename T> static std::string describeRange(T min, T max) {
  std::string text = "a whole number from " + std::to_string(min) + " to ";
  if (max == std::numeric_limits<T>::max())
    return text + "2^" + std::to_string(std::numeric_limits<T>::digits) +
           " - 1";
  return text + std::to_string(max);
}

bool OptionParser::splitPair(llvm::StringRef option, llvm::StringRef text,
                             llvm::StringRef example, llvm::StringRef &name,
                             llvm::StringRef &value) {
  std::tie(name, value) = text.split('=');
  name = name.trim();
  value = value.trim();
  if (!name.empty() && !value.empty())
    return true;
  return fail("'" + option + "' expects NAME=VALUE, got '" + text + "'",
              "for example " + option + " " + example);
}

bool OptionParser::parseNumbers(llvm::StringRef option, llvm::StringRef text,
                                llvm::StringRef example, int64_t min,
                                int64_t max, Named<int64_t> &result) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  for (llvm::StringRef part : parts) {
    llvm::StringRef name, value;
    if (!splitPair(option, part, example, name, value))
      return false;
    std::optional<int64_t> number = parseInteger<int64_t>(value);
    if (!number || *number < min || *number > max)
      return fail("'" + option + "' expects " + describeRange(min, max) +
                      " for '" + name + "', got '" + value + "'",
                  "for example " + option + " " + example);
    result.emplace_back(name.str(), *number);
  }
  return true;
}

template <typename T>
bool OptionParser::parseNumber(llvm::StringRef option, llvm::StringRef text,
                               T min, T max, T &result) {
  std::optional<T> number = parseInteger<T>(text);
  if (!number || *number < min || *number > max)
    return fail("'" + option + "' expects " + describeRange(min, max) +
                    ", got '" + text + "'",
                "for example " + option + " 4");
  result = *number;
  return true;
}

bool OptionParser::parseTrial(llvm::StringRef text) {
  ScheduleTrial trial;
  trial.text = text.str();
  if (!parseNumbers("--try", text, "m=64,n=128", 1, maxTileSize,
                    trial.schedule))
    return false;
  options.trials.push_back(std::move(trial));
  return true;
}

bool OptionParser::parseArg(llvm::StringRef text) {
  llvm::StringRef name, value;
  if (!splitPair("--arg", text, "X=iota", name, value))
    return false;
  std::optional<ArgumentSpec> spec = parseArgumentSpec(value);
  if (!spec)
    return fail("'--arg' cannot make '" + name + "' from '" + value + "'",
                argumentSpecHelp);
  options.args.emplace_back(name.str(), std::move(*spec));
  return true;
}

bool OptionParser::parseOut(llvm::StringRef text) {
  llvm::StringRef name, path;
  if (!splitPair("--out", text, "Y=y.npy", name, path))
    return false;
  for (const auto &[other, otherPath] : options.outs)
    if (otherPath == path && other != name)
      return fail("'" + llvm::Twine(other) + "' and '" + name +
                      "' cannot both be written to '" + path + "'",
                  "name two files");
  options.outs.emplace_back(name.str(), path.str());
  return true;
}

bool OptionParser::parseStage(llvm::StringRef text) {
  std::optional<Stage> stage = llvm::StringSwitch<std::optional<Stage>>(text)
                                   .Case("ast", Stage::AST)
                                   .Case("source", Stage::Source)
                                   .Case("typed", Stage::Typed)
                                   .Case("tile", Stage::Tile)
                                   .Case("llvm", Stage::LLVM)
                                   .Case("tilegpu", Stage::TileGPU)
                                   .Case("cuda", Stage::CUDA)
                                   .Case("ptx", Stage::PTX)
                                   .Case("cubin", Stage::Cubin)
                                   .Case("header", Stage::Header)
                                   .Default(std::nullopt);
  if (!stage)
    return fail("unknown stage '" + text + "'",
                suggest(text, "stages",
                        {"ast", "source", "typed", "tile", "llvm", "tilegpu",
                         "cuda", "ptx", "cubin"}));
  options.emit = *stage;
  return true;
}

bool OptionParser::parseTarget(llvm::StringRef text) {
  constexpr llvm::StringRef targets[] = {"cpu",   "sm_80",  "sm_86",
                                         "sm_89", "sm_90a", "emulator"};
  llvm::StringRef name = text;
  bool isEmulator = name.consume_front("emulator");
  // What follows names a GPU.
  bool isKnown = isEmulator ? name.empty() || name.consume_front(":")
                            : llvm::is_contained(targets, name);
  if (isEmulator && name.empty())
    name = text.ends_with(":") ? "" : emulatorDefault;
  if (isEmulator)
    isKnown &= name.starts_with("sm_") && llvm::is_contained(targets, name);
  if (!isKnown)
    return fail("unknown target '" + text + "'",
                isEmulator ? "for example emulator:sm_80"
                           : suggest(text, "targets", targets));
  if (options.command == Command::Check && name == "cpu")
    return fail("'tilec check' runs the code for a GPU, on the emulator",
                "leave out --target, or name a GPU, e.g. --target=sm_80; "
                "'tilec run --check' compares the target cpu with the "
                "reference");
  if (options.command == Command::Bench && isEmulator)
    return fail("the emulator tells nothing about speed",
                "use --target=" + name +
                    " on a machine that has the GPU, or "
                    "'tilec check --counters'");
  options.target = name.str();
  options.emulated = isEmulator || options.command == Command::Check;
  return true;
}

bool OptionParser::parsePass(llvm::StringRef text, bool allowAll,
                             std::string &result) {
  llvm::SmallVector<llvm::StringRef> names;
  // The target may be given later on the command line.
  for (llvm::StringRef target : {"cpu", "sm_90a"})
    for (const PipelineStep &step : pipelineFor(target))
      if (!llvm::is_contained(names, step.name))
        names.push_back(step.name);
  if (allowAll)
    names.push_back("all");
  if (!llvm::is_contained(names, text))
    return fail("unknown pass '" + text + "'", suggest(text, "passes", names));
  result = text.str();
  return true;
}

bool OptionParser::parseValue(unsigned id, llvm::StringRef value) {
  std::string error;
  switch (id) {
  case OPT_define: {
    llvm::StringRef name, text;
    if (!splitPair("-D", value, "D=128", name, text))
      return false;
    options.defines.emplace_back(name.str(), text.str());
    return true;
  }
  case OPT_size:
    return parseNumbers("--size", value, "M=4096,N=100", 0,
                        std::numeric_limits<int64_t>::max(), options.sizes);
  case OPT_schedule:
    return parseNumbers("--schedule", value, "m=64,n=128", 1, maxTileSize,
                        options.schedule);
  case OPT_try_schedule:
    return parseTrial(value);
  case OPT_arg:
    return parseArg(value);
  case OPT_out:
    return parseOut(value);
  case OPT_seed:
    return parseNumber<uint64_t>(
        "--seed", value, 0, std::numeric_limits<uint64_t>::max(), options.seed);
  case OPT_seeds:
    return parseNumber<unsigned>("--seeds", value, 1, 1000000, options.seeds);
  case OPT_ptx:
    options.ptx = value.str();
    return !value.empty() ||
           fail("'--ptx' expects a folder", "for example --ptx .");
  case OPT_repeat:
    return parseNumber<unsigned>("--repeat", value, 1, 1000000000,
                                 options.repeat);
  case OPT_threads:
    return parseNumber<unsigned>("--threads", value, 0, 65536, options.threads);
  case OPT_target:
    return parseTarget(value);
  case OPT_emit:
    return parseStage(value);
  case OPT_print_after:
    return parsePass(value, /*allowAll=*/true, options.printAfter);
  case OPT_stop_after:
    return parsePass(value, /*allowAll=*/false, options.stopAfter);
  case OPT_remarks:
    options.remarks = value.str();
    return !value.empty() && llvm::Regex(value).isValid(error)
               ? true
               : fail("'--remarks' expects a regular expression, got '" +
                          value + "'" + (error.empty() ? "" : ": " + error),
                      "for example --remarks split");
  case OPT_diagnostics:
    if (value != "text" && value != "json")
      return fail("unknown format of messages '" + value + "'",
                  "the formats are: text, json");
    options.jsonDiagnostics = value == "json";
    return true;
  case OPT_output:
    options.output = value.str();
    return !value.empty() || fail("'-o' expects a file", "for example -o x.ll");
  case OPT_kernel:
    options.kernel = value.str();
    return true;
  case OPT_include_path:
    options.includePaths.push_back(value.str());
    return true;
  default:
    return true; // A flag.
  }
}

//===----------------------------------------------------------------------===//
// The command line as a whole
//===----------------------------------------------------------------------===//

/// Also of names that are too short for LLVM's search.
bool OptionParser::isOptionOf(Command command, llvm::StringRef name) const {
  for (unsigned id = 1; id <= table.getNumOptions(); ++id)
    if (table.getOption(id).hasVisibilityFlag(visibilityOf(command)) &&
        llvm::StringRef(table.getOptionPrefixedName(id)).rtrim('=') == name)
      return true;
  return false;
}

bool OptionParser::checkKnown(const InputArgList &list) {
  for (const Arg *unknown : list.filtered(OPT_UNKNOWN)) {
    std::string text = unknown->getAsString(list), nearest;
    std::string name = llvm::StringRef(text).split('=').first.str();
    // An option of another command deserves its own message.
    std::string owners;
    for (Command other :
         {Command::Compile, Command::Run, Command::Bench, Command::Check})
      if (isOptionOf(other, name))
        owners += (owners.empty() ? "'" : " and '") +
                  std::string(commandName(other)) + " FILE'";
    if (!owners.empty())
      return fail("'" + name + "' is not an option of '" +
                      commandName(options.command) + "'",
                  "it belongs to " + owners);
    if (table.findNearest(text, nearest,
                          Visibility(visibilityOf(options.command))) <= 2)
      return fail("unknown option '" + text + "'",
                  "did you mean '" + nearest + "'?");
    return fail("unknown option '" + text + "'",
                helpCommand() + " lists the options");
  }
  return true;
}

bool OptionParser::parseInputs(const InputArgList &list) {
  std::vector<std::string> inputs = list.getAllArgValues(OPT_INPUT);
  if (inputs.empty())
    return fail("no file given", usage() + "; " + helpCommand() + " says more");
  bool takesKernel = options.command != Command::Compile;
  if (!takesKernel && inputs.size() > 1)
    for (llvm::StringRef command : {"run", "bench", "check"})
      if (llvm::is_contained(inputs, command))
        return fail("'" + command + "' comes first",
                    "tilec " + command + " FILE.tile [KERNEL] [options]");
  if (inputs.size() > (takesKernel ? 2u : 1u))
    return fail("unexpected argument '" + llvm::Twine(inputs.back()) + "'",
                usage());
  options.file = inputs[0];
  if (inputs.size() == 2) {
    if (!options.kernel.empty() && options.kernel != inputs[1])
      return fail("two kernels are given, '" + llvm::Twine(inputs[1]) +
                      "' and '" + options.kernel + "'",
                  "name one");
    options.kernel = inputs[1];
  }
  return true;
}

bool OptionParser::checkCombinations(const InputArgList &list) {
  options.check = list.hasArg(OPT_check);
  options.checked = !list.hasArg(OPT_unchecked);
  options.quiet = list.hasArg(OPT_quiet);
  options.cache = !list.hasArg(OPT_no_cache);
  bool isGpu = options.target != "cpu";
  if (isGpu && options.emit == Stage::LLVM)
    return fail("the stage llvm is of the target cpu, not of '" +
                    llvm::Twine(options.target) + "'",
                "use --emit=tilegpu, cuda, ptx, cubin or header, or leave out "
                "--target");
  if (options.emit >= Stage::TileGPU && !isGpu) {
    if (list.hasArg(OPT_target, OPT_target_s))
      return fail("this stage is of GPUs, not of the target cpu",
                  "use --emit=llvm, or --target=sm_90a");
    options.target = "sm_90a";
  }
  options.json = list.hasArg(OPT_json);
  options.counters = list.hasArg(OPT_counters);
  if (options.emulated && options.command == Command::Run &&
      list.hasArg(OPT_repeat))
    return fail("the emulator tells nothing about speed",
                "leave out --repeat, or use --target=" +
                    llvm::Twine(options.target));
  if (!options.ptx.empty() && !options.emulated)
    return fail("'--ptx' is of the emulator, not of the target '" +
                    llvm::Twine(options.target) + "'",
                "use --target=emulator, or 'tilec FILE --emit=ptx'");
  if (options.command == Command::Bench)
    for (const auto &[name, spec] : options.args)
      if (spec.kind == ArgumentSpec::Kind::File)
        return fail("'tilec bench' makes its arrays itself, '" +
                        llvm::Twine(name) + "' cannot be '" + spec.text + "'",
                    "measure with 'tilec run --repeat', or choose numbers, "
                    "e.g. --arg " +
                        llvm::Twine(name) + "=normal");
  if (options.command != Command::Compile)
    return true;
  bool ofFile = options.emit == Stage::AST || options.emit == Stage::Source;
  bool hasPass = !options.printAfter.empty() || !options.stopAfter.empty() ||
                 !options.remarks.empty();
  if (hasPass && (ofFile || options.emit == Stage::Typed))
    return fail("passes run after the stage that --emit asks for",
                "use --emit=tile or --emit=llvm with --print-after, "
                "--stop-after and --remarks");
  if (!options.stopAfter.empty() && options.emit >= Stage::LLVM)
    return fail("'--stop-after' stops before the stage that --emit asks for",
                "leave one of the two out");
  if (ofFile && !options.kernel.empty())
    return fail("this stage is of the whole file, not of kernel '" +
                    llvm::Twine(options.kernel) + "'",
                "leave out --kernel, or use --emit=typed");
  if (!options.output.empty() && options.emit == Stage::Check &&
      options.stopAfter.empty())
    return fail("'-o' is given, but nothing to write",
                "choose a stage, e.g. --emit=tile");
  return true;
}

std::optional<Options> cli::parseCommandLine(llvm::ArrayRef<const char *> args,
                                             int &exitCode) {
  Command command = Command::Compile;
  if (!args.empty())
    command = llvm::StringSwitch<Command>(args.front())
                  .Case("run", Command::Run)
                  .Case("bench", Command::Bench)
                  .Case("check", Command::Check)
                  .Default(Command::Compile);
  if (command != Command::Compile)
    args = args.drop_front();
  OptionParser parser(command);
  unsigned missingIndex = 0, missingCount = 0;
  InputArgList list = parser.table.ParseArgs(args, missingIndex, missingCount,
                                             Visibility(visibilityOf(command)));
  exitCode = Success;
  if (list.hasArg(OPT_help)) {
    printHelp(llvm::outs(), command);
    return std::nullopt;
  }
  if (list.hasArg(OPT_version)) {
    llvm::outs() << "tilec " << versionText << " (LLVM " << LLVM_VERSION_STRING
                 << ")\n";
    return std::nullopt;
  }
  exitCode = UsageError;
  if (missingCount) {
    llvm::errs() << "tilec: error: '" << list.getArgString(missingIndex)
                 << "' expects a value\n  help: '" << commandName(command)
                 << " --help' lists the options\n";
    return std::nullopt;
  }
  if (!parser.checkKnown(list))
    return std::nullopt;
  for (const Arg *arg : list) {
    const Option option = arg->getOption().getUnaliasedOption();
    if (!parser.parseValue(option.getID(),
                           arg->getNumValues() ? arg->getValue() : ""))
      return std::nullopt;
  }
  parser.options.listPasses = list.hasArg(OPT_list_passes);
  if (!parser.options.listPasses && !parser.parseInputs(list))
    return std::nullopt;
  if (!parser.checkCombinations(list))
    return std::nullopt;
  exitCode = Success;
  return std::move(parser.options);
}
