//===- Options.td - The command line of tilec -------------*- tablegen -*-===//
//
// One option per definition; the visibility says which commands take it. The
// help texts are wrapped when they are printed.
//
//===----------------------------------------------------------------------===//

include "llvm/Option/OptParser.td"

def CompileVisible : OptionVisibility;
def RunVisible : OptionVisibility;
def BenchVisible : OptionVisibility;
def CheckVisible : OptionVisibility;

class All {
  list<OptionVisibility> Visibility = [CompileVisible, RunVisible, BenchVisible,
                                       CheckVisible];
}
class Runs {
  list<OptionVisibility> Visibility = [RunVisible, BenchVisible, CheckVisible];
}
class RunOrBench { list<OptionVisibility> Visibility = [RunVisible, BenchVisible]; }
class RunOrCheck { list<OptionVisibility> Visibility = [RunVisible, CheckVisible]; }
class BenchOrCheck {
  list<OptionVisibility> Visibility = [BenchVisible, CheckVisible];
}
class CompileOnly { list<OptionVisibility> Visibility = [CompileVisible]; }
class RunOnly { list<OptionVisibility> Visibility = [RunVisible]; }
class BenchOnly { list<OptionVisibility> Visibility = [BenchVisible]; }
class CheckOnly { list<OptionVisibility> Visibility = [CheckVisible]; }

class F<string name, string help> : Flag<["--"], name>, HelpText<help>;
// `--name=value`; the spelling `--name value` is an alias without a help line.
class V<string name, string metavar, string help>
    : Joined<["--"], name # "=">, HelpText<help>, MetaVarName<metavar>;
class VS<string name, Option joined>
    : Separate<["--"], name>, Alias<joined>;

// Stages.
def G_stages : OptionGroup<"stages">, HelpText<"STAGES">;
def emit : V<"emit", "STAGE",
    "Print a stage: ast, source, typed, tile, llvm, or for a GPU tilegpu, "
    "cuda, ptx, cubin, or header: one for C and C++ that holds the cubin and "
    "launches it without tilec">, CompileOnly,
    Group<G_stages>;
def emit_s : VS<"emit", emit>, CompileOnly;
def output : JoinedOrSeparate<["-"], "o">, MetaVarName<"FILE">, CompileOnly,
    Group<G_stages>, HelpText<"Write the stage to FILE, whole or not at all">;

// What to compile.
def G_program : OptionGroup<"program">, HelpText<"PROGRAM">;
def kernel : V<"kernel", "NAME", "The kernel to compile, run or measure; needed "
    "where the file has several and one is wanted">, All, Group<G_program>;
def kernel_s : VS<"kernel", kernel>, All;
def size : V<"size", "NAME=N,...", "Extents of dimensions, e.g. --size "
    "M=4096,N=100">, All, Group<G_program>;
def size_s : VS<"size", size>, All;
def define : JoinedOrSeparate<["-"], "D">, MetaVarName<"NAME=VALUE">, All,
    Group<G_program>,
    HelpText<"The value of a compile-time parameter (a number, a type, true, "
             "false, or the name of a function), or an extent: -D T=bf16, "
             "-D mask=causal, -D N=128">;
def schedule : V<"schedule", "NAME=N,...", "Sizes of tiles, e.g. --schedule "
    "m=64,n=128; kv is the tile of keys of an attention. They change the speed, "
    "and results only by the order of additions">, All, Group<G_program>;
def schedule_s : VS<"schedule", schedule>, All;
def try_schedule : V<"try", "NAME=N,...", "Measure these sizes of tiles too, on "
    "top of those of --schedule; may be given several times. The schedules are "
    "compiled at the same time and take turns in the measurement">, BenchOnly,
    Group<G_program>;
def try_schedule_s : VS<"try", try_schedule>, BenchOnly;
def include_path : JoinedOrSeparate<["-"], "I">, MetaVarName<"FOLDER">, All,
    Group<G_program>,
    HelpText<"Look for imported files here too (std is always found)">;
def target : V<"target", "NAME", "What to compile for: cpu (the default), "
    "a GPU: sm_80, sm_86, sm_89, sm_90a, or emulator, which runs the code for "
    "sm_90a on the host and looks for races; emulator:sm_80 that for another "
    "GPU. 'tilec check' takes a GPU, sm_90a if none is given">, All,
    Group<G_program>;
def target_s : VS<"target", target>, All;
def unchecked : F<"unchecked", "Do not report indices out of range, divisions "
    "by zero and the like; they still give 0 and do no harm">, All,
    Group<G_program>;

def no_cache : F<"no-cache", "Compile for a GPU even if the folder of compiled "
    "kernels has the code, and do not keep it. The folder is TILEC_CACHE_DIR, "
    "or else tilec in the user's folder of caches">, All, Group<G_program>;

// Arguments of a run.
def G_arguments : OptionGroup<"arguments">, HelpText<"ARGUMENTS">;
def arg : V<"arg", "NAME=WHAT", "What an argument is: a number, a path that "
    "ends in .npy, or zeros, ones, iota (0, 1, 2, ...), normal, uniform(LO,HI) "
    "or randint(LO,HI), HI excluded; bounds may be dimensions. The default is "
    "normal for floats, and for integers what the kernel can use as an index">,
    Runs, Group<G_arguments>;
def arg_s : VS<"arg", arg>, Runs;
def out : V<"out", "NAME=FILE.npy", "Write an output to a file that "
    "numpy.load reads">, RunOnly, Group<G_arguments>;
def out_s : VS<"out", out>, RunOnly;
def seed : V<"seed", "N", "Other random arguments; the same N gives the same "
    "numbers (default 0). On the emulator also another order of what happens at "
    "the same time">, Runs, Group<G_arguments>;
def seed_s : VS<"seed", seed>, Runs;

// The run.
def G_run : OptionGroup<"run">, HelpText<"RUN">;
def check : F<"check", "Compare the outputs with a slow evaluation in double "
    "precision that shares nothing with the compiler">, RunOnly, Group<G_run>;
def repeat : V<"repeat", "N", "Run N times, each from the same arguments, and "
    "print the median time (default 1, for tilec bench 21)">, RunOrBench,
    Group<G_run>;
def repeat_s : VS<"repeat", repeat>, RunOrBench;
def seeds : V<"seeds", "N", "Run each case in N orders, with the seeds from "
    "that of --seed on (default 4)">, CheckOnly, Group<G_run>;
def seeds_s : VS<"seeds", seeds>, CheckOnly;
def counters : F<"counters", "Print how many instructions ran and how many "
    "bytes moved">, CheckOnly, Group<G_run>;
def ptx : V<"ptx", "FOLDER", "On the emulator: write the PTX that runs into "
    "FOLDER; messages name its lines">, RunOrCheck, Group<G_run>;
def ptx_s : VS<"ptx", ptx>, RunOrCheck;
def json : F<"json", "Print the figures as JSON">, BenchOrCheck, Group<G_run>;
def threads : V<"threads", "N", "Use N threads of the host (default 0: all "
    "cores)">, Runs, Group<G_run>;
def threads_s : VS<"threads", threads>, Runs;

// Passes.
def G_passes : OptionGroup<"passes">, HelpText<"PASSES">;
def list_passes : F<"list-passes", "List the passes on the tile stage in the "
    "order they run, and why in this order">, CompileOnly, Group<G_passes>;
def print_after : V<"print-after", "PASS", "Print the tile stage to standard "
    "error after a pass, or after each with 'all'">, All, Group<G_passes>;
def print_after_s : VS<"print-after", print_after>, All;
def stop_after : V<"stop-after", "PASS", "Print the tile stage as it is after "
    "a pass">, CompileOnly, Group<G_passes>;
def stop_after_s : VS<"stop-after", stop_after>, CompileOnly;
def remarks : V<"remarks", "REGEX", "Show what passes whose names match did or "
    "could not do, e.g. --remarks split">, All, Group<G_passes>;
def remarks_s : VS<"remarks", remarks>, All;

// Messages.
def G_messages : OptionGroup<"messages">, HelpText<"MESSAGES">;
def quiet : F<"quiet", "No summary and no progress, errors only">, RunOrCheck,
    Group<G_messages>;
def diagnostics : V<"diagnostics", "FORMAT", "How messages about the program "
    "are printed: text, or json, which is one array">, All,
    Group<G_messages>;
def diagnostics_s : VS<"diagnostics", diagnostics>, All;
def help : F<"help", "Print this help">, All, Group<G_messages>;
def help_short : Flag<["-"], "h">, Alias<help>, All;
def version : F<"version", "Print the version">, CompileOnly,
    Group<G_messages>;
