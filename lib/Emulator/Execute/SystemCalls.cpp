//===- SystemCalls.cpp - Functions that the system provides ---------------===//

#include "lib/Emulator/Execute/SystemCalls.h"
#include "lib/Emulator/Machine/Machine.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cstdio>
#include <cstring>

namespace tilec::emulator {

SystemCall systemCallNamed(llvm::StringRef name) {
  return llvm::StringSwitch<SystemCall>(name)
      .Case("vprintf", SystemCall::Print)
      .Case("__assertfail", SystemCall::AssertFail)
      .Default(SystemCall::None);
}

namespace {

using Load = llvm::function_ref<bool(uint64_t, void *, unsigned)>;

constexpr size_t longestString = size_t(64) * 1024;

std::string loadString(uint64_t address, Load load) {
  std::string result;
  char c = 0;
  while (result.size() < longestString &&
         load(address + result.size(), &c, 1) && c)
    result += c;
  return result;
}

// The arguments of printf as the compiler packs them: promoted as in C, each at
// a multiple of its size.
class Arguments {
public:
  Arguments(uint64_t address, Load load) : next(address), load(load) {}

  uint64_t take(unsigned bytes) {
    next = llvm::alignTo(next, bytes);
    uint64_t value = 0;
    load(next, &value, bytes);
    next += bytes;
    return value;
  }

private:
  uint64_t next;
  Load load;
};

template <typename T>
std::string print(const std::string &conversion, T value) {
  int length = std::snprintf(nullptr, 0, conversion.c_str(), value);
  if (length < 0)
    return "";
  std::string result(size_t(length) + 1, 0);
  std::snprintf(result.data(), result.size(), conversion.c_str(), value);
  result.pop_back();
  return result;
}

// One conversion, "%-8.3f", from its '%' on; moves `at` past it.
std::string convert(const std::string &format, size_t &at, Arguments &arguments,
                    Load load) {
  size_t begin = at++;
  std::string spec = "%";
  constexpr int widest = 4096;
  auto digits = [&] {
    int value = 0;
    while (at < format.size() && format[at] >= '0' && format[at] <= '9')
      value = std::min(widest, value * 10 + (format[at++] - '0'));
    return value;
  };
  while (at < format.size() && std::strchr("-+ #0", format[at]))
    spec += format[at++];
  for (bool isPrecision : {false, true}) {
    if (isPrecision) {
      if (at == format.size() || format[at] != '.')
        continue;
      spec += '.';
      ++at;
    }
    if (at < format.size() && format[at] == '*') {
      ++at;
      int value = int(uint32_t(arguments.take(4)));
      value = std::max(-widest, std::min(widest, value));
      if (isPrecision && value < 0)
        spec.pop_back(); // As if it were not there.
      else
        spec += std::to_string(value);
    } else if (int value = digits(); value || isPrecision) {
      spec += std::to_string(value);
    }
  }
  unsigned bytes = 4;
  while (at < format.size() && std::strchr("hljztL", format[at])) {
    if (std::strchr("ljzt", format[at]))
      bytes = 8;
    if (format[at] == 'h')
      spec += 'h';
    ++at;
  }
  if (at == format.size())
    return format.substr(begin);
  char letter = format[at++];
  switch (letter) {
  case '%':
    return "%";
  case 'd':
  case 'i': {
    uint64_t value = arguments.take(bytes);
    if (bytes == 8)
      return print(spec + "lld", static_cast<long long>(value));
    return print(spec + "d", int(uint32_t(value)));
  }
  case 'u':
  case 'o':
  case 'x':
  case 'X': {
    uint64_t value = arguments.take(bytes);
    if (bytes == 8)
      return print(spec + "ll" + letter,
                   static_cast<unsigned long long>(value));
    return print(spec + letter, unsigned(value));
  }
  case 'c':
    return print(spec + "c", int(arguments.take(4)));
  case 'p':
    return print(spec + "p", reinterpret_cast<void *>(arguments.take(8)));
  case 's':
    return print(spec + "s", loadString(arguments.take(8), load).c_str());
  case 'a':
  case 'A':
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G': {
    uint64_t bits = arguments.take(8);
    double value;
    std::memcpy(&value, &bits, 8);
    return print(spec + letter, value);
  }
  default:
    return format.substr(begin, at - begin);
  }
}

} // namespace

std::string formatPrinted(uint64_t address, uint64_t buffer, Load load) {
  std::string format = loadString(address, load), result;
  Arguments arguments(buffer, load);
  for (size_t i = 0; i < format.size();)
    if (format[i] == '%')
      result += convert(format, i, arguments, load);
    else
      result += format[i++];
  return result;
}

uint64_t runSystemCall(SystemCall call, Warp &warp, unsigned lane,
                       const Instruction &at, const uint64_t *arguments) {
  Launch &launch = warp.block.cluster.launch;
  auto load = [&](uint64_t address, void *to, unsigned bytes) {
    Place place = warp.find(lane, ptx::Space::Generic, address, bytes);
    if (place.data)
      std::memcpy(to, place.data, bytes);
    return place.data != nullptr;
  };
  switch (call) {
  case SystemCall::None:
    return 0;
  case SystemCall::Print: {
    std::string text = formatPrinted(arguments[0], arguments[1], load);
    if (launch.print) {
      std::lock_guard lock(launch.printing);
      launch.print(text);
    }
    return 1;
  }
  case SystemCall::AssertFail: {
    std::string message = "assertion '" + loadString(arguments[0], load) +
                          "' failed at " + loadString(arguments[1], load) +
                          ":" + std::to_string(arguments[2]) + " in '" +
                          loadString(arguments[3], load) + "'";
    warp.report(ReportKind::AssertFailed, lane, at, std::move(message));
    launch.isStopped = true;
    return 0;
  }
  }
  return 0;
}

} // namespace tilec::emulator
