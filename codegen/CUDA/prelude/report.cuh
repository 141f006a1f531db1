// Reports to the host, which gives the kernel an area of memory for them. It is
// of words of 8 bytes: four say how many bytes of printed values there are, how
// many values were to be printed, how many bytes there may be, and the word
// where they begin. Then come nine words for each place that can report: how
// often something failed there, and the first four indices with their extents.

DEVICE unsigned long long count_failure(long long *reports, int site) {
  return atomicAdd((unsigned long long *)reports + 4 + 9 * site, 1ull);
}

// Something failed at a place.
DEVICE void report_failure(long long *reports, int site) {
  count_failure(reports, site);
}

// An index was out of range.
DEVICE void report_index(long long *reports, int site, long long index,
                         long long extent) {
  int place = (int)min(count_failure(reports, site), 4ull);
  if (place < 4) {
    reports[4 + 9 * site + 2 * place + 1] = index;
    reports[4 + 9 * site + 2 * place + 2] = extent;
  }
}

// Where to put a value that is printed, behind its head; null if there is no
// room for its words.
DEVICE long long *begin_print(long long *reports, int site, int value,
                              int words) {
  unsigned long long *taken = (unsigned long long *)reports;
  atomicAdd(taken + 1, 1ull);
  unsigned long long begin = *(volatile unsigned long long *)taken, seen;
  do {
    seen = begin;
    if (seen + 8ull * words > reports[2])
      return nullptr;
    begin = atomicCAS(taken, seen, seen + 8ull * words);
  } while (begin != seen);
  long long *line = reports + reports[3] + begin / 8;
  line[0] = site;
  line[1] = value;
  line[2] = blockIdx.x;
  return line + 3;
}
