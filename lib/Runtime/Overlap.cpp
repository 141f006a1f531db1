//===- Overlap.cpp - Do two views share memory? -----------------*- C++ -*-===//
//
// Both questions become one: is there a choice of 0 <= x[k] <= bound[k] with
// sum of coefficient[k] * x[k] = target? The search goes from the largest
// coefficient to the smallest and cuts a branch when
//
//   * what is left is more than the remaining terms can add up to, which bounds
//     each x[k] from both sides; or
//   * what is left is no multiple of the remaining coefficients' greatest
//   common
//     divisor, which fixes each x[k] modulo something.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/Overlap.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <utility>

using namespace tilec;

namespace {

// Strides, extents and addresses have 64 bits each, and byteExtent has checked
// their products, so sums of a few dozen of them fit 128 bits with room.
using Wide = __int128;

struct Term {
  Wide coefficient; // positive
  Wide bound;       // at least 1
};

Wide gcd(Wide a, Wide b) {
  while (b != 0)
    a = std::exchange(b, a % b);
  return a;
}

/// The inverse of `value` modulo `modulus`; they are coprime.
Wide inverseModulo(Wide value, Wide modulus) {
  Wide previous = modulus, current = value % modulus;
  Wide previousFactor = 0, factor = 1;
  while (current != 0) {
    Wide quotient = previous / current;
    previous = std::exchange(current, previous - quotient * current);
    previousFactor = std::exchange(factor, previousFactor - quotient * factor);
  }
  return previousFactor < 0 ? previousFactor + modulus : previousFactor;
}

class BoundedEquation {
public:
  explicit BoundedEquation(unsigned budget) : budget(budget) {}

  /// Adds a variable from 0 to `bound`.
  void addTerm(Wide coefficient, Wide bound) {
    assert(coefficient >= 0 &&
           "change the sign by counting from the other end");
    if (coefficient != 0 && bound > 0)
      terms.push_back({coefficient, bound});
  }

  /// Adds a constant to the side of the target.
  void addToTarget(Wide value) { target += value; }

  /// Whether there is a solution, or the budget ran out.
  bool maySolve() {
    normalize();
    return search(0, target);
  }

private:
  void normalize() {
    llvm::sort(terms, [](const Term &a, const Term &b) {
      return a.coefficient > b.coefficient;
    });
    // Variables with the same coefficient add up to one, with a longer range.
    llvm::SmallVector<Term, 16> merged;
    for (const Term &term : terms) {
      if (!merged.empty() && merged.back().coefficient == term.coefficient)
        merged.back().bound += term.bound;
      else
        merged.push_back(term);
    }
    terms = std::move(merged);
    reach.assign(terms.size() + 1, 0);
    divisor.assign(terms.size() + 1, 0);
    for (size_t k = terms.size(); k-- > 0;) {
      reach[k] = reach[k + 1] + terms[k].coefficient * terms[k].bound;
      divisor[k] = gcd(terms[k].coefficient, divisor[k + 1]);
    }
  }

  bool search(size_t k, Wide rest) {
    if (rest < 0 || rest > reach[k])
      return false;
    if (k == terms.size())
      return true; // the reach is 0, so the rest is
    if (rest % divisor[k] != 0)
      return false;
    if (budget == 0)
      return true;
    --budget;

    // The smaller terms must be able to make up the difference, and to hit it:
    // coefficient * x = rest (mod divisor of the smaller terms).
    Wide coefficient = terms[k].coefficient;
    Wide low = rest > reach[k + 1]
                   ? (rest - reach[k + 1] + coefficient - 1) / coefficient
                   : 0;
    Wide high = std::min(terms[k].bound, rest / coefficient);
    Wide step = 1;
    if (divisor[k + 1] != 0) {
      step = divisor[k + 1] / divisor[k];
      Wide residue = (rest / divisor[k]) % step *
                     inverseModulo(coefficient / divisor[k], step) % step;
      low += (residue - low % step + step) % step;
    }
    // The largest x first: it leaves the least to the smaller terms.
    for (Wide x = high - (high - low) % step; low <= high && x >= low;
         x -= step) {
      if (search(k + 1, rest - coefficient * x))
        return true;
      if (budget == 0)
        return true;
    }
    return false;
  }

  unsigned budget;
  Wide target = 0;
  llvm::SmallVector<Term, 16> terms;
  llvm::SmallVector<Wide, 17> reach;   // the most that terms k... add up to
  llvm::SmallVector<Wide, 17> divisor; // of the coefficients of terms k...
};

Wide magnitude(Wide value) { return value < 0 ? -value : value; }

} // namespace

bool tilec::mayOverlap(const TensorView &a, const TensorView &b,
                       unsigned budget) {
  if (a.isEmpty() || b.isEmpty())
    return false;
  std::optional<ByteExtent> extentA = byteExtent(a), extentB = byteExtent(b);
  assert(extentA && extentB && "a view was not verified");
  Wide lowA =
      static_cast<Wide>(reinterpret_cast<uintptr_t>(a.data)) + extentA->low;
  Wide lowB =
      static_cast<Wide>(reinterpret_cast<uintptr_t>(b.data)) + extentB->low;
  if (lowA >= lowB + extentB->size() || lowB >= lowA + extentA->size())
    return false;

  // Counted from each view's lowest address all strides are positive. Moving
  // b's side over and counting its indices from their ends, with b's highest
  // byte as the origin, makes all coefficients positive:
  //   lowA + sum of |sA| i + byteA = highB - sum of |sB| j' - byteB'
  BoundedEquation equation(budget);
  for (const TensorView *view : {&a, &b}) {
    Wide bytes = byteSize(view->dtype);
    for (auto [extent, stride] : llvm::zip_equal(view->shape, view->strides))
      equation.addTerm(magnitude(stride) * bytes, extent - 1);
    equation.addTerm(1, bytes - 1);
  }
  equation.addToTarget(lowB + extentB->size() - 1 - lowA);
  return equation.maySolve();
}

bool tilec::selfOverlaps(const TensorView &view, unsigned budget) {
  if (view.isEmpty())
    return false;
  llvm::SmallVector<Term, 8> dims;
  for (auto [extent, stride] : llvm::zip_equal(view.shape, view.strides)) {
    if (extent == 1)
      continue;
    if (stride == 0)
      return true;
    dims.push_back({magnitude(stride), extent - 1});
  }
  llvm::sort(dims, [](const Term &a, const Term &b) {
    return a.coefficient > b.coefficient;
  });

  // Two indices with one address differ by some d with sum of stride * d = 0
  // and |d[k]| <= extent[k] - 1. Either d or -d has a positive leading entry,
  // so it is enough to look for d[0] = ... = d[k-1] = 0 and d[k] >= 1, for each
  // k. With d[k] = 1 + x and d[j] = y[j] - bound[j] for j > k, both x and y
  // start at 0 and the rest of the constants are the target.
  for (size_t k = 0; k < dims.size(); ++k) {
    BoundedEquation equation(budget);
    equation.addTerm(dims[k].coefficient, dims[k].bound - 1);
    equation.addToTarget(-dims[k].coefficient);
    for (const Term &smaller : llvm::drop_begin(dims, k + 1)) {
      equation.addTerm(smaller.coefficient, 2 * smaller.bound);
      equation.addToTarget(smaller.coefficient * smaller.bound);
    }
    if (equation.maySolve())
      return true;
  }
  return false;
}
