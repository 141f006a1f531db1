//===- Findings.cpp - Races in words --------------------------------------===//

#include "lib/Emulator/Race/Findings.h"

namespace tilec::emulator {

static bool isOpcode(const Party &party, llvm::StringRef opcode) {
  return party.instruction && party.instruction->opcode() == opcode;
}

static bool has(const Party &party, llvm::StringRef piece) {
  return party.instruction && party.instruction->has(piece);
}

/// The end of a block, which takes its shared memory along.
static bool isEnd(const Party &party) {
  return isOpcode(party, "ret") || isOpcode(party, "exit");
}

/// "a tensor copy", "a thread".
static std::string nounOf(const Party &party) {
  if (!party.isAsync)
    return "a thread";
  if (isOpcode(party, "wgmma"))
    return "a wgmma";
  if (isOpcode(party, "st") || isOpcode(party, "red"))
    return "an asynchronous store";
  bool isReduction = has(party, "reduce");
  if (has(party, "tensor"))
    return isReduction ? "a tensor reduction" : "a tensor copy";
  if (has(party, "bulk"))
    return isReduction ? "a bulk reduction" : "a bulk copy";
  if (isOpcode(party, "cp"))
    return "a cp.async";
  return "an asynchronous operation";
}

static std::string roleOf(const Party &party) {
  if (isEnd(party))
    return "is the last of its block";
  const char *verb = party.isUpdate  ? "updates"
                     : party.isWrite ? "writes"
                                     : "reads";
  if (party.isAsync)
    return std::string(verb) + ", asynchronously";
  return party.isStrong ? std::string(verb) + ", atomically" : verb;
}

/// How one waits for an operation: for all of it, or its reads.
static std::string waitFor(const Party &party) {
  if (isOpcode(party, "wgmma"))
    return "wait with wgmma.commit_group and wgmma.wait_group";
  if (has(party, "bulk_group"))
    return party.isWrite ? "wait with cp.async.bulk.commit_group and "
                           "cp.async.bulk.wait_group 0"
                         : "wait with cp.async.bulk.commit_group and "
                           "cp.async.bulk.wait_group.read 0";
  if (isOpcode(party, "cp") && !has(party, "bulk"))
    return "wait with cp.async.commit_group and cp.async.wait_group (and a "
           "barrier, if other threads copied)";
  return "wait for the phase of the mbarrier that it completes";
}

static Participant participant(const Party &party) {
  Participant result;
  if (party.instruction) {
    result.location = party.instruction->location;
    result.instruction = party.instruction->name();
  }
  result.block = party.block;
  result.thread = int(party.thread);
  result.role = roleOf(party);
  return result;
}

static Report begin(const Finding &finding, ReportKind kind) {
  Report report;
  report.kind = kind;
  report.buffer = finding.buffer;
  report.participants.push_back(participant(finding.later));
  return report;
}

/// How blocks that share no cluster are ordered: what comes after the earlier
/// access, and before the later one.
static std::string orderBlocks(const Finding &finding) {
  const Party &earlier = finding.earlier, &later = finding.later;
  std::string first = earlier.isAsync ? waitFor(earlier) + ", then "
                      : later.isAsync && earlier.isWrite
                          ? "fence.proxy.async by each thread that wrote, then "
                          : "";
  return "blocks are ordered by atomics alone: after " +
         std::string(earlier.isWrite ? "writing" : "reading") + ", " + first +
         "__threadfence() and an atomic; before " +
         (later.isWrite ? "writing" : "reading") +
         ", an atomic that sees it and __threadfence()";
}

/// Neither is known to be an operation that is under way.
static void describeRace(const Finding &finding, llvm::StringRef space,
                         Report &report) {
  const Party &earlier = finding.earlier, &later = finding.later;
  bool sameCluster = earlier.cluster == later.cluster;
  bool sameBlock = sameCluster && earlier.rank == later.rank;
  if (isEnd(earlier) || isEnd(later)) {
    report.message = "shared memory of a block is used by another block of the "
                     "cluster, and nothing keeps the block from ending before";
    report.remedy = "put barrier.cluster (arrive.release, wait.acquire) at the "
                    "end of all blocks";
    return;
  }
  if (has(later, "nc") && earlier.isWrite) {
    report.message = "ld.global.nc reads memory that the same launch wrote, "
                     "through a cache that does not see that";
    report.remedy = "load without .nc (no __ldg, no const __restrict__)";
    return;
  }
  if (later.isAsync && !earlier.isAsync) {
    if (!later.isWrite) {
      report.message = nounOf(later) + " reads " + space.str() +
                       " memory that a thread writes, and nothing orders them";
      report.remedy = "after writing, fence.proxy.async by each thread that "
                      "wrote, then a barrier with the thread that starts it";
    } else {
      report.message = nounOf(later) + " overwrites " + space.str() +
                       " memory that a thread may still " +
                       (earlier.isWrite ? "write" : "read");
      report.remedy = "have the threads that use the memory arrive on an "
                      "mbarrier, or a barrier, for which the thread that "
                      "starts the copy waits first";
    }
    if (!sameCluster)
      report.remedy = orderBlocks(finding);
    return;
  }
  const char *what = earlier.isWrite && later.isWrite
                         ? "write the same bytes of "
                         : "use the same bytes of ";
  if (earlier.isStrong && later.isStrong) {
    report.message = "threads update the same bytes of " + space.str() +
                     " memory atomically, but with a scope that does not "
                     "include the other";
    report.remedy = sameBlock ? "use the scope .cta or a wider one"
                              : "use a wider scope: .cluster for blocks of a "
                                "cluster, .gpu for all blocks";
    return;
  }
  report.message = std::string(earlier.isAsync ? "asynchronous operations "
                                               : "two threads ") +
                   what + space.str() +
                   " memory, one of them writes, and nothing orders them";
  if (earlier.isWrite && later.isWrite)
    report.message = std::string(earlier.isAsync ? "asynchronous operations "
                                                 : "two threads ") +
                     what + space.str() + " memory, and nothing orders them";
  if (earlier.isStrong != later.isStrong && !earlier.isAsync)
    report.remedy =
        sameBlock ? "put a barrier between them, __syncthreads() for example, "
                    "or make both accesses atomic"
                  : "make both accesses atomic, or order them: release after "
                    "the first, acquire before the second";
  else if (!sameCluster)
    report.remedy = orderBlocks(finding);
  else if (!sameBlock)
    report.remedy =
        "put barrier.cluster (arrive.release, wait.acquire) between them";
  else if (earlier.thread / 32 == later.thread / 32)
    report.remedy = "put __syncwarp() between them: the lanes of a warp have "
                    "no order of their own";
  else
    report.remedy = "put __syncthreads(), or another barrier in which both "
                    "threads take part, between them";
}

Report describe(const Finding &finding) {
  const Party &earlier = finding.earlier, &later = finding.later;
  std::string space = finding.isShared ? "shared" : "global";
  Report report;
  if (finding.relation == Relation::NotFenced) {
    report = begin(finding, ReportKind::MissingProxyFence);
    report.message = nounOf(later) +
                     (later.isWrite ? " overwrites " : " reads ") + space +
                     " memory that " + nounOf(earlier) +
                     " wrote by another path, without a proxy fence between";
    report.remedy = "fence.proxy.async after writing, by the thread that "
                    "wrote, before the barrier or atomic that orders the two";
  } else if (finding.relation == Relation::NotLoaded) {
    report = begin(finding, ReportKind::OverwrittenInFlight);
    report.message =
        nounOf(later) + " overwrites " + space +
        " memory before a load is known to have read it: a barrier does not "
        "wait for loads whose values nobody has used";
    report.remedy = "use the values that were loaded, in each thread, before "
                    "the barrier after which the copy is started";
  } else if (earlier.isAsync && earlier.cluster == later.cluster &&
             !isEnd(later)) {
    bool isRead = earlier.isWrite && !later.isWrite;
    report = begin(finding, isRead ? ReportKind::ReadInFlight
                                   : ReportKind::OverwrittenInFlight);
    report.message = space + " memory is " + (isRead ? "read" : "overwritten") +
                     " while " + nounOf(earlier) + " may still " +
                     (earlier.isWrite ? "write" : "read") + " it";
    report.remedy =
        waitFor(earlier) + " before " + (isRead ? "reading" : "writing");
  } else {
    report = begin(finding, finding.isShared ? ReportKind::SharedRace
                                             : ReportKind::GlobalRace);
    describeRace(finding, space, report);
  }
  report.participants.push_back(participant(earlier));
  return report;
}

Report describeUninitialized(const Finding &finding) {
  Report report = begin(finding, ReportKind::Uninitialized);
  report.message =
      nounOf(finding.later) + " reads shared memory that nobody has written";
  report.remedy = "write all that is read, zeros for what is beyond the data; "
                  "and check strides, offsets and the sizes of copies";
  return report;
}

Report describeNotBegun(const Finding &finding) {
  Report report = begin(finding, ReportKind::SharedRace);
  report.message = nounOf(finding.later) +
                   " uses shared memory of another block of the cluster, which "
                   "may not have begun";
  report.remedy = "put barrier.cluster (arrive.release, wait.acquire) at the "
                  "beginning of all blocks";
  return report;
}

} // namespace tilec::emulator
