//===- IntegerTest.cpp - Integer arithmetic ---------------------*- C++ -*-===//
//
// Division and remainder floor, everything wraps, division by zero is zero.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/Harness.h"

#include <cmath>

using namespace tilec;
using namespace tilec::test;

static constexpr Layout row = Layout::RowMajor;

static int64_t floorDiv(int64_t a, int64_t b) {
  if (b == -1) // The one quotient that overflows wraps.
    return int64_t(0 - uint64_t(a));
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
static int64_t floorMod(int64_t a, int64_t b) {
  return b == -1
             ? 0
             : int64_t(uint64_t(a) - uint64_t(floorDiv(a, b)) * uint64_t(b));
}

static std::vector<int64_t> pairsOf(DType dtype, bool second) {
  IntegerRange range = integerRange(dtype);
  std::vector<int64_t> values = {
      range.min, range.min + 1, range.max,    0, 1, 2, 3, 7,
      100,       range.max / 2, range.max / 3};
  if (range.min < 0)
    for (int64_t x : {-1, -2, -3, -7, -100})
      values.push_back(x);
  std::vector<int64_t> result;
  for (int64_t a : values)
    for (int64_t b : values)
      result.push_back(second ? b : a);
  return result;
}

TEST_CASE("integers: arithmetic of every type", "[integer]") {
  for (DType dtype :
       {DType::I64, DType::I32, DType::I16, DType::I8, DType::U8}) {
    bool is64 = dtype == DType::I64;
    Launch launch("integer.tile", "arithmetic",
                  {{"T", dtypeName(dtype).str()}, {"S", is64 ? "i64" : "i32"}});
    std::vector<int64_t> x = pairsOf(dtype, false), y = pairsOf(dtype, true);
    auto N = int64_t(x.size());
    Tensor &X = launch.in("X", {N}), &Y = launch.in("Y", {N});
    for (int64_t i = 0; i < N; ++i) {
      X.view().setInt({i}, x[size_t(i)]);
      Y.view().setInt({i}, y[size_t(i)]);
    }
    X.refresh(), Y.refresh();
    auto wrap = [&](uint64_t v) {
      return is64 ? int64_t(v) : int64_t(int32_t(v));
    };
    using U = uint64_t;
    std::vector<
        std::pair<const char *, std::function<int64_t(int64_t, int64_t)>>>
        oracles = {
            {"add_", [&](int64_t a, int64_t b) { return wrap(U(a) + U(b)); }},
            {"sub_", [&](int64_t a, int64_t b) { return wrap(U(a) - U(b)); }},
            {"mul_", [&](int64_t a, int64_t b) { return wrap(U(a) * U(b)); }},
            {"div_",
             [&](int64_t a, int64_t b) {
               return b ? wrap(U(floorDiv(a, b))) : 0;
             }},
            {"mod_",
             [&](int64_t a, int64_t b) { return b ? floorMod(a, b) : 0; }},
            {"neg_", [&](int64_t a, int64_t) { return wrap(0 - U(a)); }},
            {"abs_",
             [&](int64_t a, int64_t) { return a < 0 ? wrap(0 - U(a)) : a; }},
            {"min_", [&](int64_t a, int64_t b) { return std::min(a, b); }},
            {"max_", [&](int64_t a, int64_t b) { return std::max(a, b); }},
            {"lt", [&](int64_t a, int64_t b) { return int64_t(a < b); }},
            {"eq", [&](int64_t a, int64_t b) { return int64_t(a == b); }}};
    std::vector<Tensor *> results;
    for (auto &[name, oracle] : oracles)
      results.push_back(&launch.out(name, {N}));
    launch.run();
    for (size_t k = 0; k < oracles.size(); ++k)
      for (int64_t i = 0; i < N; ++i) {
        int64_t a = x[size_t(i)], b = y[size_t(i)];
        int64_t got = results[k]->view().getInt({i}),
                want = oracles[k].second(a, b);
        if (got != want)
          FAIL_CHECK(dtypeName(dtype).str()
                     << " " << oracles[k].first << " of " << a << " and " << b
                     << ": got " << got << ", expected " << want);
      }
  }
}

TEST_CASE("integers: division by constants", "[integer]") {
  Launch launch("integer.tile", "by_constants");
  std::vector<int64_t> values;
  for (int64_t x = -70; x <= 70; ++x)
    values.push_back(x);
  for (int64_t x : {INT32_MIN, INT32_MIN + 1, INT32_MAX, INT32_MAX - 1})
    values.push_back(x);
  auto N = int64_t(values.size());
  Tensor &X = launch.in("X", {N}), &Z = launch.in("Z", {N});
  for (int64_t i = 0; i < N; ++i) {
    X.view().setInt({i}, values[size_t(i)]);
    Z.view().setInt({i}, values[size_t(i)] * 3000000001);
  }
  X.refresh(), Z.refresh();
  struct Case {
    const char *name;
    bool wide;
    int64_t divisor;
    bool isMod;
  };
  const Case cases[] = {{"d2", false, 2, false},   {"m2", false, 2, true},
                        {"d3", false, 3, false},   {"m3", false, 3, true},
                        {"d_2", false, -2, false}, {"m_2", false, -2, true},
                        {"d_7", true, -7, false},  {"m_7", true, -7, true},
                        {"d64", true, 64, false},  {"m64", true, 64, true},
                        {"d_1", false, -1, false}, {"m1", false, 1, true}};
  std::vector<Tensor *> results;
  for (const Case &c : cases)
    results.push_back(&launch.out(c.name, {N}));
  launch.run();
  for (size_t k = 0; k < std::size(cases); ++k)
    for (int64_t i = 0; i < N; ++i) {
      const Case &c = cases[k];
      int64_t a = (c.wide ? Z : X).view().getInt({i});
      int64_t want = c.isMod ? floorMod(a, c.divisor) : floorDiv(a, c.divisor);
      if (!c.wide)
        want = int32_t(want);
      int64_t got = results[k]->view().getInt({i});
      if (got != want)
        FAIL_CHECK(c.name << " of " << a << ": got " << got << ", expected "
                          << want);
    }
}

TEST_CASE("integers: division by zero gives zero and a report", "[integer]") {
  for (bool checked : {true, false}) {
    Launch launch("integer.tile", "by_zero");
    launch.checked = checked;
    Tensor &X = launch.in("X", {77}, row, integers(-50, 50));
    Tensor &Y = launch.in("Y", {77}, row, integers(-1, 2));
    Y.set({5}, 0);
    Tensor &D = launch.out("D", {77}), &R = launch.out("R", {77});
    std::string report = launch.runReporting();
    CHECK(report.empty() == !checked);
    expectExact(D,
                [&](Index i) { return Y(i[0]) == 0 ? 0 : X(i[0]) * Y(i[0]); });
    expectExact(R, [](Index) { return 0.0; });
    Y.fill(-3);
    launch.run();
    expectExact(D, [&](Index i) { return std::floor(X(i[0]) / -3); });
  }
}

TEST_CASE("integers: positions before the first", "[integer]") {
  for (int64_t n0 : {0, 30, 1000}) {
    Launch launch("integer.tile", "positions");
    launch.scalarInt("n0", n0);
    Tensor &q = launch.out("q", {77}), &r = launch.out("r", {77});
    launch.run();
    expectExact(q, [&](Index i) { return std::floor(double(i[0] - n0) / 4); });
    expectExact(r, [&](Index i) {
      double x = double(i[0] - n0);
      return x - 4 * std::floor(x / 4);
    });
  }
}

TEST_CASE("integers: mixed with floats and one another", "[integer]") {
  Launch launch("integer.tile", "mixed");
  Tensor &X = launch.in("X", {77}, row, integers(-100, 100));
  Tensor &Z = launch.in("Z", {77}, row, integers(-100, 100));
  Tensor &W = launch.in("W", {77}, row, integers(-128, 128));
  Tensor &F = launch.in("F", {77});
  Tensor &D = launch.in("D", {77});
  Z.setInt({0}, int64_t(1) << 40);
  Tensor &a = launch.out("a", {77}), &b = launch.out("b", {77}),
         &c = launch.out("c", {77}), &d = launch.out("d", {77}),
         &e = launch.out("e", {77});
  launch.run();
  expectClose(a, [&](Index i) { return X(i[0]) / F(i[0]) + 1; });
  expectClose(b, [&](Index i) { return Z(i[0]) * D(i[0]) - 0.5; });
  expectClose(c, [&](Index i) { return std::sqrt(std::fabs(W(i[0]))); });
  expectExact(d, [&](Index i) { return X(i[0]) + Z(i[0]) * W(i[0]); });
  expectExact(e, [&](Index i) { return X(i[0]) * 0.5; });
}
