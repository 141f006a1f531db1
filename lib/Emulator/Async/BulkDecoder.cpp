//===- BulkDecoder.cpp - What cp.async.bulk and cp.reduce say -------------===//

#include "lib/Emulator/Async/BulkCopies.h"

namespace tilec::emulator {

namespace {

Outcome runCommit(Warp &warp, const Instruction &, LaneMask lanes) {
  forEachLane(lanes,
              [&](unsigned lane) { copiesOf(warp, lane).bulk.commit(); });
  return Outcome::Next;
}

template <bool reads>
Outcome runWait(Warp &warp, const Instruction &at, LaneMask lanes) {
  return waitForGroups(warp, at, lanes, /*isBulk=*/true, reads);
}

/// The kind by the two spaces, of which the destination is the first.
llvm::Error takeKind(Decoder &decoder, Pieces &pieces,
                     const ptx::Instruction &from, BulkDetails &details) {
  llvm::StringRef to, source;
  for (const std::string &piece : from.pieces)
    if (piece == "global" || llvm::StringRef(piece).starts_with("shared"))
      (to.empty() ? to : source) = piece;
  auto isShared = [](llvm::StringRef space) {
    return space.starts_with("shared");
  };
  pieces.take(to);
  pieces.take(source);
  if (isShared(to) && source == "global")
    details.kind = BulkKind::Load;
  else if (to == "shared::cluster" && source == "shared::cta")
    details.kind = BulkKind::Exchange;
  else if (to == "global" && isShared(source))
    details.kind = BulkKind::Store;
  else
    return decoder.unsupported(from, "no such copy");
  bool isStore = details.kind == BulkKind::Store;
  if (!pieces.take(isStore ? "bulk_group" : "mbarrier::complete_tx::bytes"))
    return decoder.unsupported(from, isStore
                                         ? ".bulk_group is missing"
                                         : ".mbarrier::complete_tx::bytes is "
                                           "missing");
  return llvm::Error::success();
}

/// What follows the addresses: .multicast's mask and a cache policy.
llvm::Error takeRest(OperandReader &operands, BulkDetails &details,
                     bool isMulticast, bool hasPolicy) {
  if (isMulticast)
    if (llvm::Error error = operands.value(details.blocks, ptx::Type::U16))
      return error;
  if (llvm::Error error = operands.cachePolicy(hasPolicy))
    return error;
  return operands.finish();
}

llvm::Error decodeLine(Decoder &decoder, Pieces &pieces,
                       const ptx::Instruction &from, Instruction &to,
                       std::shared_ptr<BulkDetails> details) {
  if (details->kind != BulkKind::Prefetch)
    if (llvm::Error error = takeKind(decoder, pieces, from, *details))
      return error;
  bool isMulticast = pieces.take("multicast::cluster");
  bool hasPolicy = pieces.take("L2::cache_hint");
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  if (isMulticast && details->kind != BulkKind::Load)
    return decoder.unsupported(from, "only loads have .multicast");

  to.execute = &runBulkLine;
  OperandReader operands(decoder, from, to);
  if (details->kind != BulkKind::Prefetch)
    if (llvm::Error error = operands.address(details->to))
      return error;
  if (llvm::Error error = operands.address(details->from))
    return error;
  if (llvm::Error error = operands.value(details->bytes, ptx::Type::U32))
    return error;
  if (details->kind == BulkKind::Load || details->kind == BulkKind::Exchange)
    if (llvm::Error error = operands.address(details->barrier))
      return error;
  if (llvm::Error error = takeRest(operands, *details, isMulticast, hasPolicy))
    return error;
  to.details = std::move(details);
  return llvm::Error::success();
}

llvm::Error decodeTensor(Decoder &decoder, Pieces &pieces,
                         const ptx::Instruction &from, Instruction &to,
                         std::shared_ptr<BulkDetails> details) {
  for (unsigned rank = 1; rank <= maxTensorRank; ++rank)
    if (pieces.take(std::to_string(rank) + "d"))
      details->rank = rank;
  if (details->rank == 0)
    return decoder.unsupported(from, "a tensor has 1 to 5 dimensions");
  for (const std::string &piece : from.pieces)
    if (llvm::StringRef(piece).starts_with("im2col") ||
        llvm::StringRef(piece).starts_with("tile::"))
      return decoder.unsupported(from, "boxes are copied in .tile mode only");
  pieces.take("tile");
  if (details->kind != BulkKind::Prefetch)
    if (llvm::Error error = takeKind(decoder, pieces, from, *details))
      return error;
  bool isMulticast = pieces.take("multicast::cluster");
  bool hasPolicy = pieces.take("L2::cache_hint");
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  bool isStore = details->kind == BulkKind::Store;
  if (details->kind == BulkKind::Exchange || (details->reduction && !isStore))
    return decoder.unsupported(from, "a tensor is in global memory");
  if (isMulticast && details->kind != BulkKind::Load)
    return decoder.unsupported(from, "only loads have .multicast");

  to.execute = &runBulkTensor;
  OperandReader operands(decoder, from, to);
  if (details->kind == BulkKind::Load)
    if (llvm::Error error = operands.address(details->to))
      return error;
  if (llvm::Error error = operands.tensor(isStore ? details->to : details->from,
                                          details->coordinates))
    return error;
  if (details->coordinates.size() != details->rank)
    return decoder.malformed(from, "the number of coordinates is not that of "
                                   "the dimensions");
  if (isStore)
    if (llvm::Error error = operands.address(details->from))
      return error;
  if (details->kind == BulkKind::Load)
    if (llvm::Error error = operands.address(details->barrier))
      return error;
  if (llvm::Error error = takeRest(operands, *details, isMulticast, hasPolicy))
    return error;
  to.details = std::move(details);
  return llvm::Error::success();
}

} // namespace

llvm::Error decodeBulkCopy(Decoder &decoder, Pieces &pieces,
                           const ptx::Instruction &from, Instruction &to) {
  if (pieces.take("commit_group")) {
    to.execute = &runCommit;
    return pieces.finish(decoder);
  }
  if (pieces.take("wait_group")) {
    to.execute = pieces.take("read") ? &runWait<true> : &runWait<false>;
    if (llvm::Error error = pieces.finish(decoder))
      return error;
    OperandReader operands(decoder, from, to);
    if (llvm::Error error = operands.number(to.flags))
      return error;
    return operands.finish();
  }
  auto details = std::make_shared<BulkDetails>();
  if (pieces.take("prefetch")) {
    details->kind = BulkKind::Prefetch;
    if (!pieces.take("L2") || !pieces.take("global"))
      return decoder.unsupported(from, "it fetches .global to .L2 only");
  }
  return pieces.take("tensor")
             ? decodeTensor(decoder, pieces, from, to, std::move(details))
             : decodeLine(decoder, pieces, from, to, std::move(details));
}

llvm::Error decodeBulkReduction(Decoder &decoder, Pieces &pieces,
                                const ptx::Instruction &from, Instruction &to) {
  auto details = std::make_shared<BulkDetails>();
  for (const std::string &piece : from.pieces)
    if (auto operation = reduceOperation(piece)) {
      details->reduction = operation;
      pieces.take(piece);
      break;
    }
  if (!details->reduction)
    return decoder.unsupported(from, "no such reduction");
  if (pieces.take("tensor"))
    return decodeTensor(decoder, pieces, from, to, std::move(details));
  details->type = pieces.takeType();
  bool keepsSubnormals = pieces.take("noftz");
  bool isHalf =
      details->type == ptx::Type::F16 || details->type == ptx::Type::BF16;
  if (!isReducible(*details->reduction, details->type) ||
      (isHalf && *details->reduction == ReduceOperation::Add) !=
          keepsSubnormals)
    return decoder.unsupported(from, "no such reduction of this type");
  BulkDetails &made = *details;
  if (llvm::Error error =
          decodeLine(decoder, pieces, from, to, std::move(details)))
    return error;
  if (made.kind == BulkKind::Load)
    return decoder.unsupported(from, "it reduces from shared memory only");
  return llvm::Error::success();
}

} // namespace tilec::emulator
