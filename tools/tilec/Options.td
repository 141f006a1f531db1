//===- Options.td - The command line of tilec -------------*- tablegen -*-===//
//
// One option per definition; the visibility says which commands take it.
//
//===----------------------------------------------------------------------===//

include "llvm/Option/OptParser.td"

def CompileVisible : OptionVisibility;
def RunVisible : OptionVisibility;

class Both { list<OptionVisibility> Visibility = [CompileVisible, RunVisible]; }
class CompileOnly { list<OptionVisibility> Visibility = [CompileVisible]; }
class RunOnly { list<OptionVisibility> Visibility = [RunVisible]; }

class F<string name, string help> : Flag<["--"], name>, HelpText<help>;
// `--name=value`; the spelling `--name value` is an alias without a help line.
class V<string name, string metavar, string help>
    : Joined<["--"], name # "=">, HelpText<help>, MetaVarName<metavar>;
class VS<string name, Option joined>
    : Separate<["--"], name>, Alias<joined>;

// Program.
def G_program : OptionGroup<"program">, HelpText<"PROGRAM">;
def define : JoinedOrSeparate<["-"], "D">, MetaVarName<"NAME=VALUE">, Both,
    Group<G_program>,
    HelpText<"Bind a dimension or a compile-time parameter, e.g. -D D=128, "
             "-D T=bf16, -D mask=causal">;
def include_path : JoinedOrSeparate<["-"], "I">, MetaVarName<"FOLDER">, Both,
    Group<G_program>,
    HelpText<"Look for imported files here too (std is always found)">;
def schedule : V<"schedule", "NAME=VALUE,...",
    "Override entries of the schedule, e.g. m=64,n=128">, Both,
    Group<G_program>;
def schedule_s : VS<"schedule", schedule>, Both;
def target : V<"target", "NAME", "What to compile for: cpu (default); sm_80, sm_86, "
    "sm_89, sm_90a for stages up to tile">, Both,
    Group<G_program>;
def target_s : VS<"target", target>, Both;
def kernel : V<"kernel", "NAME", "The kernel to compile; needed if the file "
    "has several and the stage is of one kernel">, CompileOnly,
    Group<G_program>;
def kernel_s : VS<"kernel", kernel>, CompileOnly;

// Stages.
def G_stages : OptionGroup<"stages">, HelpText<"STAGES">;
def emit : V<"emit", "STAGE",
    "Print a stage: ast, source, typed, tile, llvm">, CompileOnly,
    Group<G_stages>;
def emit_s : VS<"emit", emit>, CompileOnly;
def output : JoinedOrSeparate<["-"], "o">, MetaVarName<"FILE">, CompileOnly,
    Group<G_stages>, HelpText<"Write to FILE instead of standard output">;
def print_after : V<"print-after", "PASS",
    "Print the IR to standard error after a pass ('all': after each)">, Both,
    Group<G_stages>;
def print_after_s : VS<"print-after", print_after>, Both;
def stop_after : V<"stop-after", "PASS",
    "Stop after a pass and print the IR">, CompileOnly, Group<G_stages>;
def stop_after_s : VS<"stop-after", stop_after>, CompileOnly;
def list_passes : F<"list-passes", "List the passes in the order they run">,
    CompileOnly, Group<G_stages>;

// Run.
def G_run : OptionGroup<"run">, HelpText<"RUN">;
def size : V<"size", "NAME=N,...", "Extents of dimensions, e.g. "
    "M=4096,N=4096">, Both, Group<G_run>;
def size_s : VS<"size", size>, Both;
def arg : V<"arg", "NAME=WHAT",
    "The value of an argument: a number, FILE.npy, or zeros, ones, iota, "
    "normal, uniform(lo,hi), randint(lo,hi); the default is random">,
    RunOnly, Group<G_run>;
def arg_s : VS<"arg", arg>, RunOnly;
def out : V<"out", "NAME=FILE.npy", "Write an output to a file">, RunOnly,
    Group<G_run>;
def out_s : VS<"out", out>, RunOnly;
def seed : V<"seed", "N", "Seed of the random arguments (default 0)">,
    RunOnly, Group<G_run>;
def seed_s : VS<"seed", seed>, RunOnly;
def check : F<"check", "Compare with a reference evaluation in double "
    "precision">, RunOnly, Group<G_run>;
def unchecked : F<"unchecked", "Leave out the reports of indices out of range "
    "(such reads still give 0)">, Both, Group<G_run>;
def repeat : V<"repeat", "N", "Run N times and print the median time">,
    RunOnly, Group<G_run>;
def repeat_s : VS<"repeat", repeat>, RunOnly;
def threads : V<"threads", "N", "Use N threads (default: all cores)">, RunOnly,
    Group<G_run>;
def threads_s : VS<"threads", threads>, RunOnly;
def quiet : F<"quiet", "Print errors only">, RunOnly, Group<G_run>;

// Messages.
def G_messages : OptionGroup<"messages">, HelpText<"MESSAGES">;
def diagnostics : V<"diagnostics", "FORMAT",
    "How messages are printed: text or json">, Both, Group<G_messages>;
def diagnostics_s : VS<"diagnostics", diagnostics>, Both;
def remarks : V<"remarks", "REGEX",
    "Show optimization remarks of passes whose name matches">, Both,
    Group<G_messages>;
def remarks_s : VS<"remarks", remarks>, Both;
def help : F<"help", "Print this help">, Both, Group<G_messages>;
def help_short : Flag<["-"], "h">, Alias<help>, Both;
def version : F<"version", "Print the version">, CompileOnly,
    Group<G_messages>;
