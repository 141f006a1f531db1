//===- AsyncStores.cpp - st.async, red.async ------------------------------===//
//
// A thread writes registers to shared memory of a block of its cluster, and an
// mbarrier there is told of the bytes. Values are those at issue.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Async/BulkCopies.h"
#include <cstring>

namespace tilec::emulator {

namespace {

struct StoreDetails : Details {
  AddressOperand to, barrier;
  llvm::SmallVector<Slot, 4> values;
  ptx::Type type = ptx::Type::None;
  std::optional<ReduceOperation> reduction;
};

void runStoreOfLane(Warp &warp, unsigned lane, const Instruction &at) {
  const auto &details = at.as<StoreDetails>();
  Cluster &cluster = warp.block.cluster;
  unsigned elementBytes = ptx::bytesOf(details.type);
  unsigned bytes = elementBytes * unsigned(details.values.size());
  Issuer issuer = {&warp, lane, &at};
  Place to = warp.resolve(lane, ptx::Space::Shared, details.to.of(warp, lane),
                          bytes, bytes, /*isWrite=*/true, at);
  Place barrier = resolveBarrier(warp, lane, at, ptx::Space::Shared,
                                 details.barrier.of(warp, lane));
  if (!to.data || !barrier.data)
    return;
  if (blockOf(cluster, to.address) != blockOf(cluster, barrier.address)) {
    warp.report(ReportKind::BadOperand, lane, at,
                "the destination and its mbarrier are in shared memory of "
                "different blocks");
    return;
  }
  if (!barrierOf(barrier, issuer))
    return;
  std::array<char, 16> data = {};
  for (unsigned i = 0; i < details.values.size(); ++i)
    std::memcpy(&data[size_t(i) * elementBytes],
                &warp.values(details.values[i])[lane], elementBytes);
  AsyncOperation operation;
  if (Detector *detector = cluster.detector()) {
    operation = detector->start(warp.thread(lane), Proxy::Generic, at,
                                Completion::Store);
    if (details.reduction)
      detector->reduce(operation, to.address, bytes);
    else
      detector->write(operation, to.address, bytes);
  }
  cluster.enqueue({[&cluster, &details, issuer, operation, to, data, bytes,
                    barrier = barrier.address] {
                     if (details.reduction)
                       reduceElements(*details.reduction, details.type, to.data,
                                      data.data(), bytes);
                     else
                       std::memcpy(to.data, data.data(), bytes);
                     completeTransactions(cluster, barrier, bytes, &operation,
                                          issuer);
                     cluster.wrote();
                   },
                   "st.async"});
}

Outcome runStore(Warp &warp, const Instruction &at, LaneMask lanes) {
  forEachLane(lanes, [&](unsigned lane) { runStoreOfLane(warp, lane, at); });
  return Outcome::Next;
}

llvm::Error decodeOperands(Decoder &decoder, const ptx::Instruction &from,
                           Instruction &to, unsigned width,
                           std::shared_ptr<StoreDetails> details) {
  to.execute = &runStore;
  OperandReader operands(decoder, from, to);
  if (llvm::Error error = operands.address(details->to))
    return error;
  const ptx::Operand *value = nullptr;
  if (llvm::Error error = operands.take(value))
    return error;
  bool isVector = value->kind == ptx::Operand::Kind::Vector;
  for (const ptx::Operand &element :
       isVector ? llvm::ArrayRef<ptx::Operand>(value->elements)
                : llvm::ArrayRef<ptx::Operand>(*value)) {
    llvm::Expected<Slot> slot = decoder.value(from, element, details->type);
    if (!slot)
      return slot.takeError();
    to.slots.push_back(*slot);
    details->values.push_back(*slot);
  }
  if (details->values.size() != width)
    return decoder.malformed(from, "wrong number of values");
  if (llvm::Error error = operands.address(details->barrier))
    return error;
  to.details = std::move(details);
  return operands.finish();
}

} // namespace

llvm::Error decodeAsyncStore(Decoder &decoder, const ptx::Instruction &from,
                             Instruction &to) {
  Pieces pieces(from);
  pieces.take("async");
  pieces.take("weak");
  pieces.take("shared::cluster");
  pieces.take("mbarrier::complete_tx::bytes");
  unsigned width = pieces.take("v4") ? 4 : pieces.take("v2") ? 2 : 1;
  auto details = std::make_shared<StoreDetails>();
  details->type = pieces.takeType();
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  unsigned bits = ptx::bitsOf(details->type);
  if ((bits != 32 && bits != 64) || bits * width > 128)
    return decoder.unsupported(from, "no such type");
  return decodeOperands(decoder, from, to, width, std::move(details));
}

llvm::Error decodeAsyncReduction(Decoder &decoder, const ptx::Instruction &from,
                                 Instruction &to) {
  Pieces pieces(from);
  pieces.take("async");
  pieces.take("relaxed");
  pieces.take("cluster");
  pieces.take("shared::cluster");
  pieces.take("mbarrier::complete_tx::bytes");
  auto details = std::make_shared<StoreDetails>();
  for (const std::string &piece : from.pieces)
    if (auto operation = reduceOperation(piece)) {
      details->reduction = operation;
      pieces.take(piece);
      break;
    }
  details->type = pieces.takeType();
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  if (!details->reduction || ptx::isFloat(details->type) ||
      !isReducible(*details->reduction, details->type))
    return decoder.unsupported(from, "no such reduction");
  return decodeOperands(decoder, from, to, /*width=*/1, std::move(details));
}

} // namespace tilec::emulator
