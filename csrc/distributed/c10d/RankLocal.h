// RankLocal: one object for each rank, where the ranks of a program are threads of one process.
#pragma once

#include <aten/observe/record_function.h>
#include <autograd/graph_task.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

namespace c10d {

/// T must have a default constructor.
template <typename T>
class RankLocal {
 public:
  RankLocal() = delete;

  /// That of the calling thread; within a backward pass that of the thread which called for it, wherever nodes run.
  /// Made when it is first asked for; lives as long as the process.
  static T& get() {
    const auto* pass = torch::autograd::outermost_graph_task();
    const uint64_t thread = pass != nullptr ? pass->caller_thread_ : at::RecordFunction::currentThreadId();
    All& all = objects();
    const std::lock_guard lock(all.mutex);
    return all.by_thread[thread];
  }

  /// What `find` returns for the first object for which that is true; else a value of its default.
  template <typename F>
  static auto find_across_all(F&& find) -> decltype(find(std::declval<T&>())) {
    All& all = objects();
    const std::lock_guard lock(all.mutex);
    for (auto& [thread, object] : all.by_thread) {
      if (auto found = find(object)) {
        return found;
      }
    }
    return {};
  }

 private:
  struct All {
    std::mutex mutex;
    std::map<uint64_t, T> by_thread; // nodes stay where they are
  };
  static All& objects() {
    static All& all = *new All();
    return all;
  }
};

} // namespace c10d
