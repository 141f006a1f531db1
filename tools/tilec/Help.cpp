//===- Help.cpp - tilec --help ----------------------------------*- C++ -*-===//
//
// The texts for someone who has never seen tilec, and the list of options,
// wrapped.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/OptionTable.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using namespace tilec::cli;

static constexpr llvm::StringLiteral compileText =
    R"(tilec - compiles array kernels written as operations on tiles

  tilec FILE.tile [options]               check a program, or show a stage of it
  tilec run FILE.tile [KERNEL] [options]  run a kernel; see 'tilec run --help'

A FIRST KERNEL
  A kernel names the axes of its arrays and says what one tile of the result is.
  There are no threads, pointers or masks, and any extent will do. In add.tile:

    kernel vector_add(X: f32[N], Y: f32[N], Z: out f32[N]) {
      grid n in tile(N)
      Z[n] = X[n] + Y[n]
    }

  tilec add.tile                             check it; silence means all is well
  tilec run add.tile --size N=1000 --check   run it on random arrays
  tilec add.tile --emit=tile                 see what the compiler makes of it

  The tutorial and the rules of the language are in docs/language.md; kernels to
  read and to import are in examples/ and std/.

WHAT A STAGE IS
  A program goes through these forms on its way to machine code:

    ast      the syntax tree of the file
    source   the file again, laid out anew
    typed    each kernel with all types and axes, functions put in their places
    tile     each kernel in MLIR, in tilec's dialect of tiles; passes expand
             attention and split loops here (--list-passes, --stop-after)
    llvm     LLVM IR for this machine

  From 'typed' on, compile-time parameters need values (-D, or a default);
  passes and 'llvm' also need the extents of axes that are used whole (--size).
)";

static constexpr llvm::StringLiteral runText =
    R"(tilec run - compiles a kernel, runs it on arrays and sums up the outputs

  tilec run FILE.tile [KERNEL] [options]

  Arguments that are not given are made: arrays are filled with random numbers,
  scalars take their defaults. Extents come from --size and from the arrays that
  are read. Outputs start as NaN, so that what is never written shows; 'add'
  parameters start at 0.

EXAMPLES
  tilec run rows.tile softmax --size M=512,N=1000 --check
      on random arrays; compare with a slow evaluation
  tilec run rows.tile softmax --arg X=x.npy --out Y=y.npy
      on an array that numpy.save wrote; numpy.load reads y.npy
  tilec run rows.tile scale --size M=2,N=8 --arg X=iota --arg factor=0.5
  tilec run rows.tile softmax --size M=4096,N=4096 --repeat 20
      print the median time of 20 runs
)";

void cli::printWrapped(llvm::raw_ostream &os, llvm::StringRef text,
                       unsigned column, unsigned at) {
  constexpr unsigned width = 79;
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  os.indent(column - at);
  at = column;
  for (llvm::StringRef word : words) {
    bool isFirst = at == column;
    if (!isFirst && at + 1 + word.size() > width) {
      os << '\n';
      os.indent(column);
      at = column;
      isFirst = true;
    }
    os << (isFirst ? "" : " ") << word;
    at += static_cast<unsigned>(word.size()) + (isFirst ? 0 : 1);
  }
  os << '\n';
}

static void printOption(llvm::raw_ostream &os, const OptionTable &table,
                        llvm::opt::OptSpecifier id) {
  constexpr unsigned column = 24;
  std::string name = table.getOptionPrefixedName(id).rtrim('=').str();
  if (const char *metavar = table.getOptionMetaVar(id))
    name += llvm::Twine(" ").concat(metavar).str();
  os << "  " << name;
  unsigned at = 2 + static_cast<unsigned>(name.size());
  if (at + 2 > column) {
    os << '\n';
    at = 0;
  }
  printWrapped(os, table.getOptionHelpText(id), column, at);
}

void cli::printHelp(llvm::raw_ostream &os, bool isRun) {
  os << (isRun ? runText : compileText);
  OptionTable table;
  unsigned visibility = isRun ? RunVisible : CompileVisible;
  unsigned lastGroup = 0;
  // The groups are in the order of Options.td because its definitions are.
  for (unsigned group : {OPT_G_stages, OPT_G_program, OPT_G_arguments,
                         OPT_G_run, OPT_G_passes, OPT_G_messages})
    for (unsigned id = 1; id <= table.getNumOptions(); ++id) {
      if (table.getOptionGroupID(id) != group || !table.getOptionHelpText(id) ||
          !table.getOption(id).hasVisibilityFlag(visibility))
        continue;
      if (lastGroup != group)
        os << '\n' << table.getOptionHelpText(group) << '\n';
      lastGroup = group;
      printOption(os, table, id);
    }
  os << "\nA value may also follow '=', as in --size=N=1000. Exit status: 0 "
        "success, 1 an\nerror in the program or its arguments, 2 a wrong "
        "command line, 3 an internal\nerror.\n";
}
