//===- ReportTest.cpp - What the emulator finds wrong ---------------------===//

#include "lib/Emulator/Report.h"
#include <catch2/catch.hpp>
#include <set>
#include <thread>

using namespace tilec::emulator;

namespace {

Participant at(unsigned line, int thread) {
  Participant result;
  result.location = {line, 1, line / 10, 2};
  result.instruction = "st.shared.u32";
  result.block = {1, 2, 0};
  result.thread = thread;
  result.role = "writes";
  return result;
}

Report race(unsigned first, unsigned second) {
  Report report;
  report.kind = ReportKind::SharedRace;
  report.message = "two writes without order";
  report.participants = {at(first, 3), at(second, 40)};
  return report;
}

} // namespace

TEST_CASE("kinds have names of their own", "[report]") {
  std::set<std::string> names;
  for (unsigned kind = 0; kind <= unsigned(ReportKind::StepLimit); ++kind)
    names.insert(nameOf(ReportKind(kind)).str());
  CHECK(names.size() == unsigned(ReportKind::StepLimit) + 1);
  CHECK(names.count("unknown") == 0);
  CHECK(nameOf(ReportKind::MissingProxyFence) == "missing-proxy-fence");
}

TEST_CASE("reports of the same places are counted", "[report]") {
  Reporter reporter;
  CHECK(reporter.empty());
  reporter.add(race(10, 20));
  reporter.add(race(10, 20));
  reporter.add(race(20, 10));
  reporter.add(race(10, 30));
  Report other = race(10, 20);
  other.kind = ReportKind::GlobalRace;
  reporter.add(other);
  other.participants.clear();
  reporter.add(other);
  CHECK_FALSE(reporter.empty());
  std::vector<Report> reports = reporter.take();
  REQUIRE(reports.size() == 4);
  CHECK(reports[0].count == 3);
  CHECK(reports[1].count == 1);
  CHECK(reports[2].kind == ReportKind::GlobalRace);
  CHECK(reporter.empty());
  // What was taken is forgotten.
  reporter.add(race(10, 20));
  CHECK(reporter.take().size() == 1);
}

TEST_CASE("threads report side by side", "[report]") {
  Reporter reporter;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i != 4; ++i)
    threads.emplace_back([&] {
      for (unsigned line = 0; line != 100; ++line)
        reporter.add(race(line, line + 1));
    });
  for (std::thread &thread : threads)
    thread.join();
  std::vector<Report> reports = reporter.take();
  CHECK(reports.size() == 100);
  for (const Report &report : reports)
    CHECK(report.count == 4);
}

TEST_CASE("reports as text", "[report]") {
  ptx::Module module;
  module.name = "k.ptx";
  module.files = {"", "k.tile"};
  Report report = race(70, 90);
  report.buffer = "shared memory at 64";
  report.remedy = "synchronize between them";
  report.count = 7;
  CHECK(format(report, module) ==
        "shared-race: two writes without order\n"
        "  k.tile:7: thread 3 of block (1, 2, 0) writes: st.shared.u32, line "
        "70 of k.ptx\n"
        "  k.tile:9: thread 40 of block (1, 2, 0) writes: st.shared.u32, line "
        "90 of k.ptx\n"
        "  in shared memory at 64\n"
        "  found 7 times\n"
        "  synchronize between them\n");
  // A file that has no name, no thread, no instruction.
  Report bare;
  bare.kind = ReportKind::Deadlock;
  bare.message = "nobody goes on";
  bare.participants.emplace_back();
  bare.participants[0].location.file = 9;
  CHECK(format(bare, module) == "deadlock: nobody goes on\n"
                                "  block (0, 0, 0)\n");
}
