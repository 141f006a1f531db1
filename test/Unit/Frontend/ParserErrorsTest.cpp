//===- ParserErrorsTest.cpp - Every message, where it belongs ---*- C++ -*-===//
//
// One row a mistake: the text, and all the messages it must give, each with its
// line, column and remedy. That there are no others is part of the test: one
// mistake is reported once.
//
//===----------------------------------------------------------------------===//

#include "Parsing.h"
#include <vector>

using namespace tilec;
using namespace tilec::test;

namespace {

/// "line:column: message" or "line:column: message | remedy" of every error.
std::vector<std::string> errorsOf(const Parsed &parsed) {
  std::vector<std::string> list;
  for (const auto &diagnostic : parsed.diags.all()) {
    LineColumn at = parsed.sources.getLineColumn(diagnostic->range.begin);
    std::string text = std::to_string(at.line) + ":" +
                       std::to_string(at.column) + ": " + diagnostic->message;
    if (!diagnostic->help.empty())
      text += " | " + diagnostic->help;
    list.push_back(text);
  }
  return list;
}

using Errors = std::vector<std::string>;

/// The remedy where an expression is missing.
std::string writeValue() {
  return " | write a value: a number, a name, a call, or an expression in "
         "parentheses";
}

void check(const std::string &text, const Errors &expected) {
  INFO(text);
  Parsed parsed(text);
  REQUIRE(errorsOf(parsed) == expected);
  REQUIRE(parsed.ok == expected.empty());
}

/// The same for a statement, which is line 2 of a kernel.
void checkStmt(const std::string &text, const Errors &expected) {
  check("kernel k(A: f32[M], y: out f32) {\n" + text + "\n}\n", expected);
}

} // namespace

TEST_CASE("mistakes in expressions", "[errors]") {
  checkStmt("x = (1 + 2", {"2:11: expected ')' to close '(', found '}' on the "
                           "next line"});
  checkStmt("x = f(1, 2\ny = 3", {"2:11: expected ',' or ')' in the arguments "
                                  "of 'f', found 'y' on the next line"});
  checkStmt("x = A[1)", {"2:8: expected ',' or ']' in the subscripts of 'A', "
                         "found ')'"});
  checkStmt("x = 1)", {"2:6: unexpected ')': no bracket is open here"});
  checkStmt("x =", {"2:4: expected an expression, found '}' on the next line" +
                    writeValue()});
  checkStmt("x = 1 +", {"2:8: expected an expression, found '}' on the next "
                        "line" +
                        writeValue()});
  checkStmt("x = 1 + * 2",
            {"2:9: expected an expression, found '*'" + writeValue()});
  checkStmt("x = y ** 2", {"2:7: there is no operator '**' | write pow(x, y), "
                           "or x * x for a square"});
  checkStmt("x = y << 2",
            {"2:7: there is no operator '<<' | there are no "
             "operators on bits; multiply or divide by a power of "
             "two"});
  checkStmt("x = a and b or not c", {"2:7: unexpected 'and' | write '&&'",
                                     "2:13: unexpected 'or' | write '||'",
                                     "2:16: unexpected 'not' | write '!'"});
  checkStmt("x = a & b", {"2:7: unexpected '&' | logical and is '&&'"});
  checkStmt("x = a ^ b",
            {"2:7: unexpected '^' | there are no operators on bits"});
  checkStmt("x = A @ B",
            {"2:7: unexpected '@' | a matrix product is written dot(a, b)"});
  checkStmt("x = A.T", {"2:6: unexpected '.' | values have no members; the "
                        "extent of a dimension is its name, and a number needs "
                        "a digit before its point"});
  checkStmt("x = .5", {"2:5: unexpected '.' | values have no members; the "
                       "extent of a dimension is its name, and a number needs "
                       "a digit before its point"});
  checkStmt("x = c ? a : b",
            {"2:7: unexpected '?' | a choice is written where(condition, a, "
             "b)"});
  checkStmt("x = f(c ? a : b, 1)",
            {"2:9: unexpected '?' | a choice is written where(condition, a, "
             "b)"});
  checkStmt("x = a if c else b",
            {"2:7: expected end of line, found keyword 'if' | to choose a "
             "value, write 'where(condition, a, b)'"});
  checkStmt("x = if c { 1 }",
            {"2:5: expected an expression, found keyword 'if' | to choose a "
             "value, write where(condition, a, b)"});
  checkStmt("x = a < b < c < d",
            {"2:11: comparisons do not chain | join two comparisons with '&&', "
             "such as 'a < b && b < c'"});
  checkStmt("x = sum<k + 1>(A)",
            {"2:14: comparisons do not chain | in 'sum<...>(...)' stand names "
             "of axes, integers, types, 'true' or 'false', no expressions"});
  checkStmt("x = sum<>(A)", {"2:8: expected an argument in '<>' | leave the "
                             "'<>' out, or name an axis"});
  checkStmt("x = +a", {"2:5: there is no unary '+' | remove it"});
  checkStmt("x = (1, 2)",
            {"2:7: expected ')' to close '(', found ',' | there are no tuples; "
             "assign several values as 'a, b = ...'"});
  checkStmt("x = 'abc'", {"2:5: unexpected ''' | a string is written in double "
                          "quotes"});
  checkStmt("x = True && False",
            {"2:5: unknown name 'True' | did you mean 'true'?",
             "2:13: unknown name 'False' | did you mean 'false'?"});
  checkStmt("x = in + 1", {"2:5: expected an expression, found keyword 'in' | "
                           "'in' is reserved; if it is meant as a name, choose "
                           "another, such as 'in_'"});
  checkStmt("x = tile(M)",
            {"2:5: expected an expression, found keyword 'tile' | 'tile(X)' "
             "stands after 'in', as in 'for k in tile(K) { ... }'"});
  checkStmt("x = 9223372036854775808",
            {"2:5: integer '9223372036854775808' does not fit in 64 bits with "
             "a sign | the largest is 9223372036854775807; a float has a "
             "point, such as '1.0e30'"});
  checkStmt("x = 1e999", {"2:5: number '1e999' is larger than any f64 | "
                          "infinity is written 'inf'"});
  // A mistake deep within brackets is one mistake.
  checkStmt("x = f((a b), g(c,\n d), (e))\nz = 1",
            {"2:10: expected ')' to close '(', found 'b'"});
}

TEST_CASE("mistakes in calls, subscripts and lambdas", "[errors]") {
  checkStmt("x = f(a = 1, 2)",
            {"2:14: expected 'name = value', found an argument without a name "
             "| arguments without a name come before those with one"});
  checkStmt("x = f(a = 1, a = 2)", {"2:14: argument 'a' is given twice"});
  checkStmt("x = f(A[0] = 1)",
            {"2:12: '=' is assignment | use '==' to compare"});
  checkStmt("x = f(,)",
            {"2:7: expected an expression, found ','" + writeValue()});
  checkStmt("x = A[]", {"2:7: expected a subscript, found ']' | leave the "
                        "brackets out for the whole of 'A'"});
  checkStmt("x = A[1:3, :2, 4]",
            {"2:7: a subscript cannot be a slice | ':' alone is a whole axis; "
             "part of one is a tile variable or positions, such as 'i + 1'",
             "2:12: a subscript cannot be a slice | ':' alone is a whole axis; "
             "part of one is a tile variable or positions, such as 'i + 1'"});
  checkStmt("x = A[i][j]", {"2:9: a tensor is subscripted once | write all "
                            "subscripts in one pair of brackets: 'A[i, j]'"});
  checkStmt("x = f(i)[j]", {"2:9: the result of a call cannot be subscripted | "
                            "subscript the tensors it is computed from"});
  checkStmt("x = f(|| 1)", {"2:7: expected the parameters of a lambda between "
                            "'|' and '|' | such as '|q, kv| q >= kv'"});
  checkStmt("x = f(|q, q| 1)", {"2:11: two parameters are named 'q'"});
  checkStmt("x = f(|q kv| 1)", {"2:10: expected ',' or '|' in the parameters "
                                "of a lambda, found 'kv'"});
  checkStmt("x = f(|q: f32| 1)",
            {"2:8: the parameters of a lambda have no types | they follow from "
             "where it is used; write only the name"});
  checkStmt("x = lambda q: q", {"2:5: unexpected 'lambda' | a lambda is "
                                "written '|x| x + 1'"});
  checkStmt("x = f32()", {"2:9: expected the value to convert, found ')'"});
  checkStmt("x = f32(1, 2)", {"2:10: expected ')' to close a conversion, found "
                              "','"});
  checkStmt("x = f32[m]", {"2:5: a type is not a value | write 'zeros "
                           "f32[...]' or 'full f32[...] value'"});
  checkStmt("x = full f32[m]", {"2:16: expected the value of every element, "
                                "found end of line | such as 'full f32[m] "
                                "-inf'"});
  checkStmt("x = zeros", {"2:10: expected a type, found '}' on the next line | "
                          "the types are " +
                          listDTypes()});
}

TEST_CASE("mistakes in types", "[errors]") {
  checkStmt("x = zeros fp16[m]",
            {"2:11: unknown type 'fp16' | did you mean 'f16'?"});
  checkStmt("x = zeros f33[m]",
            {"2:11: unknown type 'f33' | did you mean 'f32'?"});
  checkStmt("x = zeros Tensor[m]",
            {"2:11: unknown type 'Tensor' | the types are " + listDTypes() +
             "; one that is chosen for each use is declared before the "
             "parameters: '<Tensor: dtype = f32>'"});
  check("kernel k<acc: dtype>() {\nx = zeros ac\n}",
        {"2:11: unknown type 'ac' | did you mean 'acc'?"});
  checkStmt("x = zeros f32[]", {"2:15: expected a dimension, found ']' | leave "
                                "the brackets out for a scalar"});
  checkStmt("x = zeros f32[2 * M, 3]",
            {"2:17: a dimension is a name or an integer, not an expression | "
             "give it a name of its own and relate the two with 'requires', "
             "such as 'requires N == 2 * M'"});
  checkStmt("x = zeros f32[-1]",
            {"2:15: expected a dimension: a name or an integer, found '-'"});
  check("kernel k(A: int[M]) { }",
        {"1:13: 'int' cannot be the type of a tensor | say how wide its "
         "elements are: i64, i32, i16, i8 or u8"});
  for (auto [alias, name] : {std::pair("float", "f32"),
                             {"double", "f64"},
                             {"half", "f16"},
                             {"bfloat16", "bf16"},
                             {"fp8", "f8e4m3"},
                             {"e5m2", "f8e5m2"},
                             {"int32", "i32"},
                             {"uint8", "u8"},
                             {"F32", "f32"}})
    check("kernel k(A: " + std::string(alias) + "[M]) { }",
          {"1:13: unknown type '" + std::string(alias) + "' | did you mean '" +
           name + "'?"});
}

TEST_CASE("mistakes in statements", "[errors]") {
  checkStmt("x = 1; y = 2;",
            {"2:6: unexpected ';' | a statement ends with its line; begin a "
             "new line here",
             "2:13: unexpected ';' | a statement ends with its line; remove "
             "the ';'"});
  checkStmt("x = 1 y = 2",
            {"2:7: expected end of line, found 'y' | begin a new "
             "line for the next statement"});
  checkStmt("x := 1", {"2:3: unexpected ':=' | a variable is defined and "
                       "assigned with '='"});
  checkStmt("let x = 1",
            {"2:1: unexpected 'let' | a variable is defined by its first "
             "assignment, and takes the type of the value; remove 'let'"});
  checkStmt("f32 x = 1",
            {"2:1: unexpected 'f32' | a variable is defined by its first "
             "assignment, and takes the type of the value; remove 'f32'"});
  checkStmt("x: f32 = 1",
            {"2:2: a variable is defined without a type | it takes the type of "
             "its value; convert the value to choose another: 'x = f32(...)'"});
  checkStmt("x = y = 1", {"2:7: an assignment is not an expression | write one "
                          "line for each variable; to compare, use '=='"});
  checkStmt("x, y = 1, 2", {"2:9: expected end of line, found ',' | one value "
                            "is assigned, write one line for each variable"});
  checkStmt("x, y += 1",
            {"2:6: '+=' takes one target, found 2 | write one line for each"});
  checkStmt("x, y", {"2:5: expected '=' after the targets of an assignment, "
                     "found '}' on the next line"});
  checkStmt("f(x) = 1",
            {"2:1: cannot assign to this expression | on the left stands a "
             "variable or a parameter with subscripts, such as 'x' or 'C[m, "
             "n]'"});
  checkStmt("x == 1", {"2:1: the value of this expression is not used | '==' "
                       "compares; use '=' to assign"});
  checkStmt("x++", {"2:2: there is no operator '++' | write 'x += 1'"});
  checkStmt("add = 1", {"2:1: expected an expression, found keyword 'add' | "
                        "'add' is reserved; if it is meant as a name, choose "
                        "another, such as 'add_'"});
  checkStmt("int = 1", {"2:1: expected an expression, found type 'int' | 'int' "
                        "is reserved; choose another name, such as 'int_'"});
  checkStmt("return x", {"2:1: there is no 'return' | a kernel stores its "
                         "results in 'out' parameters",
                         "2:8: the value of this expression is not used | "
                         "assign it to a variable or an 'out' parameter"});
  checkStmt("return", {"2:1: there is no 'return' | a kernel stores its "
                       "results in 'out' parameters"});
  checkStmt("while x { y = ) }\nz = 1",
            {"2:1: there is no 'while' | a loop has a known range: 'for i in n "
             "{ ... }', with 'if' to leave iterations out",
             "2:15: expected an expression, found ')'" + writeValue()});
  checkStmt("for k in tile(K) {\n  break\n}",
            {"3:3: there is no 'break' | to leave iterations out, write 'for x "
             "in tile(X) if condition { ... }'"});
  checkStmt("# comment\nx = 1",
            {"2:1: unexpected '#' | a comment begins with '//'"});
  checkStmt("x = 1 + \\\n 2", {"2:9: unexpected '\\' | a line continues within "
                               "brackets, and after an operator or a comma"});
  checkStmt("x = 1 \\\n + 2", {"2:7: unexpected '\\' | a line continues within "
                               "brackets, and after an operator or a comma"});
}

TEST_CASE("mistakes in blocks and loops", "[errors]") {
  checkStmt("if x = 3 { y = 1 }",
            {"2:6: '=' is assignment | use '==' to compare"});
  checkStmt("if x y = 1", {"2:6: expected '{' to begin a block, found 'y'"});
  checkStmt("for k in tile(K):\n  x = 1\ny = 2",
            {"2:17: expected '{' to begin a block, found ':' | a block is "
             "written in braces: '{ ... }'"});
  checkStmt(
      "for k of K { x = ] }",
      {"2:7: expected 'in' after the loop variable 'k', found 'of' | such "
       "as 'k in tile(M)'",
       "2:18: expected an expression, found ']'" + writeValue()});
  checkStmt("for in in K { }",
            {"2:5: expected the name of a loop variable, found keyword 'in' | "
             "'in' is reserved; choose another name, such as 'in_'"});
  checkStmt("for k in tile K { }", {"2:15: expected '(' after 'tile', found "
                                    "'K'"});
  checkStmt("for k in tile(K, 1, 2) { }",
            {"2:19: expected ')' after the size of the tile, found ','"});
  checkStmt(
      "for k in 0..K { }",
      {"2:11: unexpected '..' | to count from 0 to n - 1, write 'for i in "
       "n'; a whole axis is written ':'"});
  checkStmt("else { x = 1 }", {"2:1: 'else' without 'if' | it follows the '}' "
                               "that ends the block of an 'if'"});
  checkStmt("if a { } elif b { }",
            {"2:10: unknown keyword 'elif' | write 'else if'"});
  checkStmt("{ x = 1 }", {"2:1: a block cannot stand alone | it belongs to "
                          "'for', 'if' or 'else'"});
  check("kernel k() {\n  for x in X {\n    y = 1\n\nkernel l() {\n  y = )\n}\n",
        {"3:10: expected '}' to close the block, found keyword 'kernel' on the "
         "next line",
         "6:7: expected an expression, found ')'" + writeValue()});
  check("kernel k() {\n  x = 1\n", {"2:8: expected '}' to close the block, "
                                    "found end of file"});
  check("kernel k() { x = 1 }}\n",
        {"1:21: unexpected '}': no block is open here"});
}

TEST_CASE("grids and schedules have their places", "[errors]") {
  checkStmt("x = 1\ngrid m in M",
            {"3:1: 'grid' must be the first statement of a kernel | move it "
             "up: what follows the grid is done once for each of its tiles"});
  checkStmt("grid m in M\ngrid n in N",
            {"3:1: a kernel has at most one grid | write all its variables in "
             "one 'grid', separated by commas"});
  checkStmt("if a {\n  grid m in M\n}",
            {"3:3: 'grid' must be in the outermost block of a kernel | it is "
             "the kernel's first statement; within it, loop with 'for'"});
  checkStmt("grid m in M { x = ) }",
            {"2:13: a grid has no block of its own | remove the braces: all "
             "that follows the grid is its body",
             "2:19: expected an expression, found ')'" + writeValue()});
  checkStmt("schedule { m = 1 }\nschedule { n = 1 }",
            {"3:1: a kernel has at most one schedule | write all of it in one "
             "block"});
  checkStmt("if a {\n  schedule { m = 1 }\n}",
            {"3:3: a schedule must be in the outermost block of a kernel"});
  checkStmt("schedule { m = 1, m = 2 }",
            {"2:19: 'm' occurs twice in one schedule"});
  checkStmt("schedule { m = -1\n n 3\n k = 4 j = 5 }",
            {"2:16: expected an integer, a name, 'true' or 'false' for 'm', "
             "found '-'",
             "3:4: expected '=' after 'n', found '3'",
             "4:8: expected ',', a new line or '}' after a schedule entry, "
             "found 'j'"});
  check(
      "schedule { m = 1 }\nkernel k() { x = ) }",
      {"1:10: expected the name of a kernel, found '{' | outside of a kernel, "
       "write 'schedule kernel_name for sm_90a { ... }'",
       "2:18: expected an expression, found ')'" + writeValue()});
  check("schedule k { m = 1 }\n",
        {"1:12: expected keyword 'for' and a target such as 'sm_90a', found "
         "'{'"});
  check("schedule k for sm_90a { m = 1\nkernel l() { }",
        {"1:30: expected '}' to close the schedule, found keyword 'kernel' on "
         "the next line"});
  checkStmt("schedule = 3",
            {"2:10: expected '{' to begin the schedule, found '='"});
}

TEST_CASE("mistakes in declarations", "[errors]") {
  check("kernal k() { }", {"1:1: expected a declaration, found 'kernal' | did "
                           "you mean 'kernel'?"});
  check("def f(x):\n  return x\nkernel k() { x = ) }",
        {"1:1: expected a declaration, found 'def' | a function is written 'fn "
         "name(x: f32) -> f32 { ... }'",
         "3:18: expected an expression, found ')'" + writeValue()});
  check("x = 1\n", {"1:1: expected a declaration, found 'x' | a file holds "
                    "'import', 'fn', 'kernel' and 'schedule'"});
  check("grid m in M\n",
        {"1:1: expected a declaration, found keyword 'grid' | statements stand "
         "within a kernel: 'kernel name(...) { ... }'"});
  check("import a.tile\nimport\nimport \"\"\nkernel k() { x = ) }",
        {"1:8: expected the file in double quotes, found 'a' | such as 'import "
         "\"softmax.tile\"'",
         "2:7: expected the file in double quotes, found keyword 'import' on "
         "the next line | such as 'import \"softmax.tile\"'",
         "3:8: expected the name of a file, found an empty string",
         "4:18: expected an expression, found ')'" + writeValue()});
  check("kernel for() { }",
        {"1:8: expected the name of the kernel, found keyword 'for' | 'for' is "
         "reserved; choose another name, such as 'for_'"});
  check("kernel k { x = ) }",
        {"1:10: expected '(' to begin the parameters, found '{'",
         "1:16: expected an expression, found ')'" + writeValue()});
  check("kernel k(out C: f32[M], A, B: f32[M] C: f32[M]) { }",
        {"1:10: 'out' before the name of a parameter | write it before the "
         "type: 'C: out ...'",
         "1:26: expected ':' and a type after the parameter 'A', found ',' | "
         "such as 'A: bf16[M, K]'",
         "1:38: expected ',' or ')' in the parameters, found 'C'"});
  check("kernel k(A: f32[M] out) { }",
        {"1:20: expected ',' or ')' in the parameters, found keyword 'out'"});
  check("kernel k(A: f32[M]) -> f32 { }",
        {"1:21: a kernel has no result type | give it an 'out' parameter, such "
         "as 'C: out f32[M, N]'"});
  check("kernel k(A: f32[M]) requires M = 2 { }",
        {"1:32: '=' is assignment | use '==' to compare"});
  check("kernel k<n: f32>() { }\nkernel l<T: type, b>() { }\nkernel m<>() { }",
        {"1:13: expected the kind of a compile-time parameter: 'bool', 'int', "
         "'dtype' or 'fn(...) -> ...', found 'f32' | a value of type f32 is "
         "given at run time: move it to the parameters in round brackets",
         "2:13: expected the kind of a compile-time parameter: 'bool', 'int', "
         "'dtype' or 'fn(...) -> ...', found 'type' | did you mean 'dtype'?",
         "2:20: expected ':' and 'bool', 'int', 'dtype' or 'fn(...) -> ...' "
         "after 'b', found '>' | such as 'b: int'",
         "3:10: expected a compile-time parameter, found '>' | leave the '<>' "
         "out"});
  check("kernel k<s: fn(x: f32) -> f32>() { }",
        {"1:16: the parameters of a function type have no names | write only "
         "the types, such as 'fn(f32, int) -> f32'"});
}

TEST_CASE("mistakes in functions", "[errors]") {
  check("fn f(x: f32) { x }",
        {"1:14: expected '->' and the type of the result, found '{' | such as "
         "'fn f(...) -> f32 { ... }'"});
  check("fn f(x) -> f32 { x }",
        {"1:7: expected ':' and a type after the parameter 'x', found ')' | "
         "such as 'x: f32'"});
  check("fn f(x: f32[M], y: out f32, z: f32 = 1) -> f32[M] { x }",
        {"1:9: a parameter of a function is a scalar, it has no dimensions | "
         "write 'f32'; functions apply to every element of a tile",
         "1:20: a function cannot have 'out' parameters | its result is the "
         "value of its last expression",
         "1:36: a parameter of a function has no default value",
         "1:44: the result of a function is a scalar, it has no dimensions | "
         "write 'f32'; functions apply to every element of a tile"});
  check("fn f(x: f32) -> f32 = x",
        {"1:21: expected '{' to begin a block, found '=' | write '{ ... }' "
         "instead of '= ...'"});
  check("fn f(x: f32) -> f32 {\n}",
        {"2:1: function 'f' has no value | the last line of a function is its "
         "value, such as 'x * 2'"});
  check("fn f(x: f32) -> f32 {\n  y = x\n}",
        {"2:3: expected the value of function 'f' in its last line, found an "
         "assignment | the last line of a function is its value, such as 'x * "
         "2'"});
  check(
      "fn f(x: f32) -> f32 {\n  return x\n}",
      {"2:3: there is no 'return' | the last line of a function is its value; "
       "remove 'return'"});
  check("fn f(x: f32) -> f32 {\n  if a { x }\n}",
        {"2:3: function 'f' has no value where this condition is false | add "
         "an 'else' that ends in a value"});
  check("fn f(x: f32) -> f32 {\n  if a { x } else { y = 1 }\n}",
        {"2:21: expected the value of function 'f' in its last line, found an "
         "assignment | the last line of a function is its value, such as 'x * "
         "2'"});
  check("fn f(x: f32) -> f32 {\n  for i in 3 { x = 1 }\n  x\n}",
        {"2:3: a function cannot hold a loop | it applies to one element; loop "
         "in the kernel"});
}

TEST_CASE("several mistakes are reported in one go", "[errors]") {
  const std::string power = "6:9: there is no operator '**' | write pow(x, y), "
                            "or x * x for a square";
  check(
      R"(kernel a(A: fp16[M]) {
  x = 1 +
}
kernel b() {
  y = (2
  z = 3 **4
}
fn c(x: f32) -> f32 {
  x ? 1 : 2
}
)",
      {"1:13: unknown type 'fp16' | did you mean 'f16'?",
       "2:10: expected an expression, found '}' on the next line" +
           writeValue(),
       "5:9: expected ')' to close '(', found 'z' on the next line", power,
       "9:5: unexpected '?' | a choice is written where(condition, a, b)"});
}

TEST_CASE("errors point back to what they are about", "[errors]") {
  Parsed parsed("kernel k() {\n  x = f(a,\n        b\n  y = 1\n}\n");
  REQUIRE(parsed.messages() ==
          "test.tile:3:10: error: expected ',' or ')' in the arguments of 'f', "
          "found 'y' on the next line\n"
          "        b\n"
          "         ^\n"
          "test.tile:2:8: note: '(' opened here\n"
          "  x = f(a,\n"
          "       ^\n");
}

TEST_CASE("after twenty errors the parser stops", "[errors]") {
  std::string text = "kernel k() {\n";
  for (int i = 0; i < 100; ++i)
    text += "  x = )\n";
  Parsed parsed(text + "}\n");
  REQUIRE(parsed.diags.getNumErrors() == 20);
  REQUIRE(llvm::StringRef(parsed.messages())
              .ends_with("stopped after 20 errors\n"));
}
