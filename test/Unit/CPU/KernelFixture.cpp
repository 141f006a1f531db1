//===- KernelFixture.cpp - Compiles and runs kernels in tests ---*- C++ -*-===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"

#include "dialects/Tile/IR/Tile.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

namespace tilec::test {

static mlir::MLIRContext &context() {
  static mlir::MLIRContext *ctx = [] {
    mlir::DialectRegistry registry;
    cpu::registerCPUDialects(registry);
    return new mlir::MLIRContext(registry,
                                 mlir::MLIRContext::Threading::DISABLED);
  }();
  return *ctx;
}

cpu::CompileOptions Kernel::defaultOptions() {
  cpu::CompileOptions options;
  options.verifyPasses = true;
  return options;
}

Kernel::Kernel(const std::string &text, cpu::CompileOptions options) {
  std::string messages;
  mlir::ScopedDiagnosticHandler collect(&context(),
                                        [&](mlir::Diagnostic &diagnostic) {
                                          messages += diagnostic.str() + "\n";
                                          return mlir::success();
                                        });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  INFO(text);
  INFO(messages);
  REQUIRE(module);
  auto kernels = module->getOps<mlir::tile::KernelOp>();
  REQUIRE(!kernels.empty());
  std::string name = (*kernels.begin()).getName().str();
  auto result = cpu::compile(*module, name, options);
  if (!result)
    FAIL(llvm::toString(result.takeError()));
  compiled = std::move(*result);
  reports.print = [this](llvm::StringRef line) {
    printed.push_back(line.str());
  };
}

void Kernel::run(llvm::ArrayRef<cpu::Argument> arguments, unsigned threads) {
  cpu::RunOptions options;
  options.threads = threads;
  if (llvm::Error error = compiled->run(arguments, reports, options))
    FAIL(llvm::toString(std::move(error)));
}

std::string fill(std::string text,
                 const std::map<std::string, std::string> &values) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '$') {
      result += text[i++];
      continue;
    }
    size_t end = i + 1;
    while (end < text.size() && std::isalnum(text[end]))
      ++end;
    auto found = values.find(text.substr(i + 1, end - i - 1));
    INFO(text.substr(i, end - i));
    REQUIRE(found != values.end());
    result += found->second;
    i = end;
  }
  return result;
}

std::string view(const std::string &name, const std::string &type,
                 const std::string &access, int unit) {
  std::string text = "%" + name + ": !tile.view<" + type + "> {tile.name = \"" +
                     name + "\", tile.access = #tile.access<" + access + ">";
  if (unit >= 0)
    text += ", tile.unit_stride = " + std::to_string(unit) + " : i64";
  return text + "}";
}

} // namespace tilec::test
