#pragma once

#include <csrc/compat/caffe2/core/common.h>

#include <chrono>

namespace caffe2 {

/// Time since it was made or started.
class Timer {
 public:
  using clock = std::chrono::high_resolution_clock;
  using ns = std::chrono::nanoseconds;

  void Start() {
    start_time_ = clock::now();
  }
  float NanoSeconds() {
    return static_cast<float>(std::chrono::duration_cast<ns>(clock::now() - start_time_).count());
  }
  float MilliSeconds() {
    return NanoSeconds() / 1e6f;
  }
  float MicroSeconds() {
    return NanoSeconds() / 1e3f;
  }
  float Seconds() {
    return NanoSeconds() / 1e9f;
  }

 protected:
  clock::time_point start_time_ = clock::now();
};

} // namespace caffe2
