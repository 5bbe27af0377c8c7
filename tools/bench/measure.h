// Timing for the benchmarks of this folder: processor time of one thread, one line a case, as tools/bench/compare reads
// it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

/// Processor time of this thread: what other processes take does not count.
inline double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

/// Median over samples of the time of one call; each sample runs for about two milliseconds.
inline double measure(const std::function<void()>& call) {
  int64_t count = 1;
  double took = 0;
  while (took < 1e6) {
    count *= 2;
    const double start = now();
    for (int64_t i = 0; i < count; ++i) {
      call();
    }
    took = now() - start;
  }
  std::vector<double> samples;
  for (int s = 0; s < 9; ++s) {
    const double start = now();
    for (int64_t i = 0; i < count; ++i) {
      call();
    }
    samples.push_back((now() - start) / static_cast<double>(count));
  }
  std::nth_element(samples.begin(), samples.begin() + 4, samples.end());
  return samples[4];
}

using Cases = std::vector<std::pair<std::string, std::function<void()>>>;

/// Prints name and nanoseconds of each.
inline void report(const Cases& cases) {
  for (const auto& [name, call] : cases) {
    std::printf("%-22s %10.1f\n", name.c_str(), measure(call));
    std::fflush(stdout);
  }
}
