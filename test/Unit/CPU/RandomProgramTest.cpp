//===- RandomProgramTest.cpp - Random tile programs, interpreted *- C++ -*-===//
//
// Fusion, buffers in place, destinations offered early, shared slots: each is
// right alone, and wrong together if one of them misjudges when a tile is last
// used. Random programs, with loops that carry tiles and branches that choose
// them, find such cases. Each is also interpreted, op by op, by plain loops; as
// all elements are i32, which wraps, the results must be equal.
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"

#include "llvm/ADT/StringExtras.h"

#include <catch2/catch.hpp>

using namespace tilec;
using namespace tilec::test;

namespace {

constexpr int rows = 8, columns = 12, slices = 3;

/// A tile of integers: a matrix of either orientation, or a vector.
struct Tile {
  int m = 0, n = 0; // n = 0: a vector of m.
  std::vector<int32_t> data;

  Tile() = default;
  Tile(int m, int n) : m(m), n(n), data(m * std::max(n, 1)) {}
  bool sameShape(const Tile &other) const {
    return m == other.m && n == other.n;
  }
  std::string type() const {
    return "tensor<" + std::to_string(m) +
           (n ? "x" + std::to_string(n) : std::string()) + "xi32>";
  }
};

/// One op: its text with operands as $0, $1, ..., and what it computes.
struct Op {
  enum Kind { Plain, For, If, Load, Store } kind = Plain;
  std::string text;
  std::vector<int> operands;
  Tile shape; // Of the result.
  std::function<void(const std::vector<const Tile *> &, Tile &)> compute;
  int result = -1;
  // For and If.
  std::vector<Op> bodies[2];
  std::vector<int> results, arguments, yields[2];
  int trips = 0;
  /// The loop: its own number, or for If the one of the loop in whose even
  /// iterations the first branch is taken; -1 if the flag decides.
  int loop = -1;
  int slice = 0; // Load and Store.
  std::string array;
};

int32_t wrap(int64_t x) { return int32_t(uint32_t(uint64_t(x))); }

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}

  std::vector<Op> program() {
    std::vector<Op> ops;
    std::vector<int> visible;
    for (int i = 0; i < 2; ++i)
      load(ops, visible, "X");
    load(ops, visible, "Y");
    fillBlock(ops, visible, 12, 0);
    // What is stored to an out argument may be computed in its place.
    for (const char *array : {"P", "Q"})
      for (int tries = 0; tries < 50; ++tries) {
        int value = pick(visible);
        if (tile(value).m != rows || tile(value).n != columns)
          continue;
        ops.push_back(store(array, 0, value));
        break;
      }
    return ops;
  }

  int numValues() const { return int(shapes.size()); }
  const Tile &tile(int value) const { return shapes[value]; }

private:
  int below(int n) { return int(random() % unsigned(n)); }
  int pick(const std::vector<int> &from) { return from[below(from.size())]; }
  int make(Tile shape) {
    shape.data.clear();
    shapes.push_back(shape);
    return int(shapes.size()) - 1;
  }

  void load(std::vector<Op> &ops, std::vector<int> &visible,
            const std::string &array) {
    Op op;
    op.kind = Op::Load;
    op.array = array;
    op.slice = below(slices);
    op.shape = Tile(rows, columns);
    op.result = make(op.shape);
    visible.push_back(op.result);
    ops.push_back(op);
  }

  Op store(const std::string &array, int slice, int value) {
    Op op;
    op.kind = Op::Store;
    op.array = array;
    op.slice = slice;
    op.operands = {value};
    return op;
  }

  void fillBlock(std::vector<Op> &ops, std::vector<int> &visible, int count,
                 int depth) {
    for (int i = 0; i < count; ++i) {
      int choice = below(depth < 2 ? 14 : 11);
      if (choice >= 12)
        addLoop(ops, visible, depth);
      else if (choice == 11)
        addBranch(ops, visible, depth);
      else if (choice == 10)
        load(ops, visible, "Y");
      else if (choice == 9)
        addStore(ops, visible);
      else
        addPlain(ops, visible);
    }
  }

  void addStore(std::vector<Op> &ops, const std::vector<int> &visible) {
    int value = pick(visible);
    if (tile(value).m != rows || tile(value).n != columns)
      return;
    if (below(3))
      ops.push_back(store("Y", below(slices), value));
    else
      ops.push_back(store(below(2) ? "P" : "Q", 0, value));
  }

  void addPlain(std::vector<Op> &ops, std::vector<int> &visible);
  void addLoop(std::vector<Op> &ops, std::vector<int> &visible, int depth);
  void addBranch(std::vector<Op> &ops, std::vector<int> &visible, int depth);

  std::mt19937 random;
  std::vector<Tile> shapes;
  std::vector<int> openLoops;
  int numLoops = 0;
};

void Generator::addPlain(std::vector<Op> &ops, std::vector<int> &visible) {
  Op op;
  int x = pick(visible), y = pick(visible);
  const Tile &a = tile(x), &b = tile(y);
  op.operands = {x};
  op.shape = Tile(a.m, a.n);
  switch (below(7)) {
  case 0: { // Two tiles of one shape, or one tile twice.
    if (!a.sameShape(b))
      y = x;
    op.operands = {x, y};
    int kind = below(4);
    const char *names[] = {"addi", "subi", "muli", "maxsi"};
    op.text = std::string("arith.") + names[kind] + " $0, $1 : " + a.type();
    op.compute = [kind](auto in, Tile &out) {
      for (size_t i = 0; i < out.data.size(); ++i) {
        int64_t u = in[0]->data[i], v = in[1]->data[i];
        out.data[i] = wrap(kind == 0   ? u + v
                           : kind == 1 ? u - v
                           : kind == 2 ? u * v
                                       : std::max(u, v));
      }
    };
    break;
  }
  case 1: { // A broadcast of a vector.
    if (a.n)
      return;
    int axis = below(2);
    int other = a.m == rows ? columns : rows;
    op.shape = axis == 0 ? Tile(a.m, other) : Tile(other, a.m);
    op.text = "tile.broadcast $0 dims [" + std::to_string(axis) +
              "] : " + a.type() + " -> " + op.shape.type();
    op.compute = [axis](auto in, Tile &out) {
      for (int i = 0; i < out.m; ++i)
        for (int j = 0; j < out.n; ++j)
          out.data[i * out.n + j] = in[0]->data[axis == 0 ? i : j];
    };
    break;
  }
  case 2: { // A transposition.
    if (!a.n)
      return;
    op.shape = Tile(a.n, a.m);
    op.text = "tile.broadcast $0 dims [1, 0] : " + a.type() + " -> " +
              op.shape.type();
    op.compute = [](auto in, Tile &out) {
      for (int i = 0; i < out.m; ++i)
        for (int j = 0; j < out.n; ++j)
          out.data[i * out.n + j] = in[0]->data[j * out.m + i];
    };
    break;
  }
  case 3: { // A reduction of a matrix.
    if (!a.n)
      return;
    int axis = below(2);
    bool isMax = below(2);
    op.shape = Tile(axis == 0 ? a.n : a.m, 0);
    op.text = std::string("tile.reduce ") + (isMax ? "max" : "sum") +
              " $0 axes [" + std::to_string(axis) + "] : " + a.type() + " -> " +
              op.shape.type();
    op.compute = [axis, isMax](auto in, Tile &out) {
      for (int i = 0; i < out.m; ++i) {
        int64_t total = isMax ? INT32_MIN : 0;
        for (int j = 0; j < (axis == 0 ? in[0]->m : in[0]->n); ++j) {
          int64_t lane =
              in[0]->data[axis == 0 ? j * in[0]->n + i : i * in[0]->n + j];
          total = isMax ? std::max(total, lane) : total + lane;
        }
        out.data[i] = wrap(total);
      }
    };
    break;
  }
  case 4: { // A running sum.
    int axis = a.n ? below(2) : 0;
    op.text =
        "tile.scan sum $0 axis " + std::to_string(axis) + " : " + a.type();
    op.compute = [axis](auto in, Tile &out) {
      int n = std::max(out.n, 1), step = axis == 0 ? n : 1;
      for (int i = 0; i < out.m; ++i)
        for (int j = 0; j < n; ++j) {
          bool first = axis == 0 ? i == 0 : j == 0;
          int at = i * n + j;
          out.data[at] = wrap(int64_t(in[0]->data[at]) +
                              (first ? 0 : out.data[at - step]));
        }
    };
    break;
  }
  case 5: { // A product of matrices.
    if (!a.n || !b.n || (a.n != b.m && a.n != b.n))
      return;
    int i = a.n == b.m ? 0 : 1; // The axis of b that is contracted.
    op.operands = {x, y};
    op.shape = Tile(a.m, i == 0 ? b.n : b.m);
    op.text = "tile.dot $0, $1 contract [1] x [" + std::to_string(i) +
              "] batch [] x [] precision ieee : " + a.type() + ", " + b.type() +
              " -> " + op.shape.type();
    op.compute = [i](auto in, Tile &out) {
      for (int r = 0; r < out.m; ++r)
        for (int c = 0; c < out.n; ++c) {
          uint32_t sum = 0;
          for (int k = 0; k < in[0]->n; ++k)
            sum +=
                uint32_t(in[0]->data[r * in[0]->n + k]) *
                uint32_t(
                    in[1]->data[i == 0 ? k * in[1]->n + c : c * in[1]->n + k]);
          out.data[r * out.n + c] = int32_t(sum);
        }
    };
    break;
  }
  default: { // A choice lane by lane; its i1 may end up in memory.
    if (!a.sameShape(b))
      return;
    op.operands = {x, y};
    std::string bools = a.type();
    bools.replace(bools.find("i32"), 3, "i1");
    op.text = "arith.cmpi slt, $0, $1 : " + a.type() +
              "\n  $R = arith.select $T, $1, $0 : " + bools + ", " + a.type();
    op.compute = [](auto in, Tile &out) {
      for (size_t i = 0; i < out.data.size(); ++i)
        out.data[i] = std::max(in[0]->data[i], in[1]->data[i]);
    };
  }
  }
  op.result = make(op.shape);
  visible.push_back(op.result);
  ops.push_back(op);
}

void Generator::addLoop(std::vector<Op> &ops, std::vector<int> &visible,
                        int depth) {
  Op op;
  op.kind = Op::For;
  op.trips = below(4);
  op.loop = numLoops++;
  std::vector<int> inside = visible;
  for (int i = 1 + below(3); i > 0; --i) {
    int init = pick(visible);
    op.operands.push_back(init);
    op.arguments.push_back(make(tile(init)));
    inside.push_back(op.arguments.back());
  }
  openLoops.push_back(op.loop);
  fillBlock(op.bodies[0], inside, 2 + below(5), depth + 1);
  openLoops.pop_back();
  // Often only what is carried already, so that tiles change places.
  const std::vector<int> &candidates = below(3) ? inside : op.arguments;
  for (int argument : op.arguments) {
    int value = argument;
    for (int tries = 0; tries < 20; ++tries) {
      int candidate = pick(candidates);
      if (tile(candidate).sameShape(tile(argument)))
        value = candidate;
    }
    op.yields[0].push_back(value);
    op.results.push_back(make(tile(argument)));
  }
  visible.insert(visible.end(), op.results.begin(), op.results.end());
  ops.push_back(op);
}

void Generator::addBranch(std::vector<Op> &ops, std::vector<int> &visible,
                          int depth) {
  Op op;
  op.kind = Op::If;
  if (!openLoops.empty() && below(2))
    op.loop = pick(openLoops);
  std::vector<int> inside[2] = {visible, visible};
  for (int side : {0, 1})
    fillBlock(op.bodies[side], inside[side], 1 + below(3), depth + 1);
  for (int i = 1 + below(2); i > 0; --i) {
    int first = pick(inside[0]);
    std::vector<int> fitting;
    for (int candidate : inside[1])
      if (tile(candidate).sameShape(tile(first)))
        fitting.push_back(candidate);
    if (fitting.empty())
      continue;
    op.yields[0].push_back(first);
    op.yields[1].push_back(pick(fitting));
    op.results.push_back(make(tile(first)));
  }
  visible.insert(visible.end(), op.results.begin(), op.results.end());
  ops.push_back(op);
}

/// Writes the program as text.
class Printer {
public:
  explicit Printer(const Generator &generator) : generator(generator) {}

  std::string kernel(const std::vector<Op> &ops) {
    std::string type = std::to_string(slices) + "x" + std::to_string(rows) +
                       "x" + std::to_string(columns) + "xi32";
    std::string out = std::to_string(1) + "x" + type.substr(type.find('x') + 1);
    std::string text =
        "tile.kernel @random(" + view("X", type, "in", 2) + ", " +
        view("Y", type, "inout", 2) + ", " + view("P", out, "out", 2) + ", " +
        view("Q", out, "out", 2) + ", %flag: i1 {tile.name = \"flag\"}) {\n";
    for (int i = 0; i < 4; ++i)
      text += "  %c" + std::to_string(i) + " = arith.constant " +
              std::to_string(i) + " : index\n";
    print(text, ops);
    return text + "  tile.return\n}\n";
  }

private:
  static std::string name(int value) { return "%v" + std::to_string(value); }
  std::string names(const std::vector<int> &values) {
    std::string text;
    for (int value : values)
      text += (text.empty() ? "" : ", ") + name(value);
    return text;
  }
  std::string types(const std::vector<int> &values) {
    std::string text;
    for (int value : values)
      text += (text.empty() ? "" : ", ") + generator.tile(value).type();
    return text;
  }

  void print(std::string &text, const std::vector<Op> &ops) {
    for (const Op &op : ops)
      print(text, op);
  }

  void print(std::string &text, const Op &op) {
    std::string type =
        std::to_string(op.array == "P" || op.array == "Q" ? 1 : slices) + "x" +
        std::to_string(rows) + "x" + std::to_string(columns) + "xi32";
    std::string tile = type.substr(type.find('x') + 1);
    std::string place = "%" + op.array + "[%c" + std::to_string(op.slice) +
                        ", %c0, %c0] dims [1, 2] ";
    switch (op.kind) {
    case Op::Load:
      text += "  " + name(op.result) + " = tile.load " + place +
              "pad zero : !tile.view<" + type + "> -> tensor<" + tile + ">\n";
      return;
    case Op::Store:
      text += "  tile.store " + name(op.operands[0]) + ", " + place +
              ": tensor<" + tile + ">, !tile.view<" + type + ">\n";
      return;
    case Op::Plain: {
      bool two = op.text.find("$R") != std::string::npos;
      std::string temporary = "%t" + std::to_string(op.result);
      text += "  " + (two ? temporary : name(op.result)) + " = " +
              fill(op.text, {{"0", name(op.operands[0])},
                             {"1", name(op.operands.back())},
                             {"R", name(op.result)},
                             {"T", temporary}}) +
              "\n";
      return;
    }
    case Op::For: {
      std::string carried;
      for (size_t i = 0; i < op.arguments.size(); ++i)
        carried += (i ? ", " : "") + name(op.arguments[i]) + " = " +
                   name(op.operands[i]);
      text += "  " + names(op.results) + " = scf.for %i" +
              std::to_string(op.loop) + " = %c0 to %c" +
              std::to_string(op.trips) + " step %c1 iter_args(" + carried +
              ") -> (" + types(op.results) + ") {\n";
      print(text, op.bodies[0]);
      text += "  scf.yield " + names(op.yields[0]) + " : " + types(op.results) +
              "\n  }\n";
      return;
    }
    case Op::If: {
      std::string condition = "%flag";
      if (op.loop >= 0) {
        std::string number = std::to_string(numConditions++);
        condition = "%even" + number;
        text += "  %rest" + number + " = arith.remui %i" +
                std::to_string(op.loop) + ", %c2 : index\n  " + condition +
                " = arith.cmpi eq, %rest" + number + ", %c0 : index\n";
      }
      text += "  ";
      if (!op.results.empty())
        text += names(op.results) + " = ";
      text += "scf.if " + condition + " ";
      if (!op.results.empty())
        text += "-> (" + types(op.results) + ") ";
      for (int side : {0, 1}) {
        text += side ? " else {\n" : "{\n";
        print(text, op.bodies[side]);
        if (!op.results.empty())
          text += "  scf.yield " + names(op.yields[side]) + " : " +
                  types(op.results) + "\n";
        text += "  }";
      }
      text += "\n";
    }
    }
  }

  const Generator &generator;
  int numConditions = 0;
};

/// Computes the program by plain loops.
class Interpreter {
public:
  Interpreter(int values, bool flag) : values(values), flag(flag) {}

  void run(const std::vector<Op> &ops) {
    for (const Op &op : ops)
      run(op);
  }

  std::map<std::string, std::vector<int32_t>> arrays;

private:
  void run(const Op &op) {
    constexpr int size = rows * columns;
    switch (op.kind) {
    case Op::Load: {
      auto from = arrays[op.array].begin() + op.slice * size;
      values[op.result] = op.shape;
      values[op.result].data.assign(from, from + size);
      return;
    }
    case Op::Store:
      std::copy(values[op.operands[0]].data.begin(),
                values[op.operands[0]].data.end(),
                arrays[op.array].begin() + op.slice * size);
      return;
    case Op::Plain: {
      std::vector<const Tile *> in;
      for (int operand : op.operands)
        in.push_back(&values[operand]);
      Tile out(op.shape.m, op.shape.n);
      op.compute(in, out);
      values[op.result] = out;
      return;
    }
    case Op::For: {
      std::vector<int> from = op.operands;
      for (int trip = 0; trip < op.trips; ++trip) {
        trips[op.loop] = trip;
        assign(op.arguments, from);
        run(op.bodies[0]);
        from = op.yields[0];
      }
      assign(op.results, from);
      return;
    }
    case Op::If: {
      bool first = op.loop < 0 ? flag : trips[op.loop] % 2 == 0;
      run(op.bodies[first ? 0 : 1]);
      assign(op.results, op.yields[first ? 0 : 1]);
    }
    }
  }

  /// All at once: one of `from` may be one of `to`.
  void assign(const std::vector<int> &to, const std::vector<int> &from) {
    std::vector<Tile> copies;
    for (int value : from)
      copies.push_back(values[value]);
    for (size_t i = 0; i < to.size(); ++i)
      values[to[i]] = copies[i];
  }

  std::vector<Tile> values;
  std::map<int, int> trips; // Of the loops that are running.
  bool flag;
};

void checkProgram(unsigned seed) {
  Generator generator(seed);
  std::vector<Op> ops = generator.program();
  std::string text = Printer(generator).kernel(ops);
  INFO("seed " << seed << "\n" << text);
  Kernel kernel(text);
  for (bool flag : {false, true}) {
    Tensor<int32_t> x({slices, rows, columns}), y({slices, rows, columns});
    Tensor<int32_t> p({1, rows, columns}), q({1, rows, columns});
    x.randomIntegers(seed, -9, 9);
    y.randomIntegers(seed + 1, -9, 9);
    Interpreter interpreter(generator.numValues(), flag);
    std::pair<const char *, Tensor<int32_t> *> arrays[] = {
        {"X", &x}, {"Y", &y}, {"P", &p}, {"Q", &q}};
    for (auto [name, tensor] : arrays)
      interpreter.arrays[name].assign(tensor->data(),
                                      tensor->data() + tensor->size);
    interpreter.run(ops);
    kernel.run({x.argument(), y.argument(), p.argument(), q.argument(),
                cpu::Argument::integer(flag)});
    for (auto [name, tensor] : arrays) {
      INFO(name << " with flag " << flag);
      REQUIRE(tensor->guardsIntact());
      REQUIRE(
          std::vector<int32_t>(tensor->data(), tensor->data() + tensor->size) ==
          interpreter.arrays[name]);
    }
  }
}

} // namespace

TEST_CASE("random programs compute what an interpreter computes", "[cpu]") {
  unsigned count = 60, first = 0;
  // For a longer search: TILEC_RANDOM_PROGRAMS=FIRST,COUNT.
  if (const char *range = std::getenv("TILEC_RANDOM_PROGRAMS")) {
    auto [begin, number] = llvm::StringRef(range).split(',');
    REQUIRE(llvm::to_integer(begin, first));
    REQUIRE(llvm::to_integer(number, count));
  }
  for (unsigned seed = first; seed < first + count; ++seed)
    checkProgram(seed);
}
