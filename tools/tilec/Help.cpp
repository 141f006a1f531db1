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
  tilec bench FILE.tile [KERNEL] [options]
                                          measure one; 'tilec bench --help'
  tilec check FILE.tile [KERNEL] [options]
                                          look for races; 'tilec check --help'

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

static constexpr llvm::StringLiteral benchText =
    R"(tilec bench - compiles a kernel and measures how fast it is

  tilec bench FILE.tile [KERNEL] [options]

  Arguments are made as for 'tilec run', but on a GPU large arrays repeat a
  block of random numbers, so that gigabytes take no time to make. Results are
  not looked at: 'tilec run --check' does that.

WHAT IS MEASURED
  time      On a GPU by its own clock, of launches that were prepared; before
            each, more is written than the second-level cache holds. On the cpu
            that of a whole launch. The median, the smallest and the greatest.
  bytes     Each input read once and each output written once; what the kernel
            adds to or changes in place, both. On a GPU a copy of arrays that
            move as many bytes takes turns with the kernel: its time divided by
            the kernel's is 'of copy'.
  FLOP      For kernels with 'dot' 2 for each product of elements, over all
            loops; for attention 2 (D + E) for each pair of a query and a key.
            Masks and conditions are not looked into, so that a causal mask
            counts as none. Nothing else counts, nor do products that a kernel
            repeats for tiles of other axes.
  launch    On a GPU the time of the host for one launch, not waiting for the
            kernel: prepared, and direct, when the arguments are checked too.

EXAMPLES
  tilec bench std/norms.tile rmsnorm -D T=bf16 --size M=32768,N=4096 \
      --target=sm_90a
  tilec bench std/matmul.tile matmul -D T=bf16 --size M=4096,N=4096,K=4096 \
      --target=sm_90a --try m=128,n=256 --try m=64,n=256,warps=8
)";

static constexpr llvm::StringLiteral checkText =
    R"(tilec check - runs kernels on an emulator of a GPU and looks for races

  tilec check FILE.tile [KERNEL] [options]

  The code for a GPU, as NVRTC makes it, is run on this machine: all threads of
  all blocks, in an order that is drawn anew for each run, with asynchronous
  copies and products that finish as early or as late as they may. No GPU is
  needed, NVRTC is. Without a KERNEL all of the file are checked.

WHAT IS FOUND
  Accesses that nothing orders, to shared and to global memory; data used
  before a copy or product is done, or overwritten while it is under way; fences
  that are missing; shared memory that nobody wrote; accesses outside of all
  arrays; threads that wait for each other for ever; and results that are not
  those of the reference. Each is a message at the line of the program, with the
  instructions that take part. docs/emulator.md has more.

WHAT IS RUN
  Arguments are made as for 'tilec run'. Extents that are not given are chosen:
  small, with a whole and a partial tile along each axis, once as multiples of
  16 and once odd, as these compile to different code.

EXAMPLES
  tilec check std/norms.tile
      all kernels of the file
  tilec check std/matmul.tile matmul -D T=bf16 --seeds 20
      one, for another type and in more orders
  tilec check rows.tile softmax --size M=3,N=5000 --counters
      at extents of your own; instructions, traffic and bank conflicts
)";

static llvm::StringRef introductionOf(Command command) {
  switch (command) {
  case Command::Compile:
    return compileText;
  case Command::Run:
    return runText;
  case Command::Bench:
    return benchText;
  case Command::Check:
    return checkText;
  }
  llvm_unreachable("unknown command");
}

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

void cli::printHelp(llvm::raw_ostream &os, Command command) {
  os << introductionOf(command);
  OptionTable table;
  unsigned visibility = visibilityOf(command);
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
