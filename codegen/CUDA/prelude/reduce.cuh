// Reductions of pairs.

// A value and its lane along an axis; a lane below 0 stands for nothing.
template <typename T> struct Candidate {
  T value;
  int place;
};

// Replaces the best pair by another one if that is greater. A NaN is greater
// than everything; of equals the first lane wins.
template <typename T>
DEVICE void keep_greatest(T &best, int &place, T value, int lane) {
  bool above = value > best || (value != value && best == best);
  bool below = value < best || (value == value && best != best);
  if (lane >= 0 && (place < 0 || above || (!below && lane < place))) {
    best = value;
    place = lane;
  }
}

// The same for the least; a NaN is less than everything.
template <typename T>
DEVICE void keep_least(T &best, int &place, T value, int lane) {
  bool above = value > best || (value == value && best != best);
  bool below = value < best || (value != value && best == best);
  if (lane >= 0 && (place < 0 || below || (!above && lane < place))) {
    best = value;
    place = lane;
  }
}
