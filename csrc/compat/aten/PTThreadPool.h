#pragma once

#include <aten/parallel/Parallel.h>
#include <c10/util/thread_name.h>
#include <csrc/compat/c10/core/thread_pool.h>

namespace at {

/// A pool of a program's own, whose threads are set up for parallel loops.
class PTThreadPool : public c10::ThreadPool {
 public:
  explicit PTThreadPool(int pool_size, int numa_node_id = -1)
      : c10::ThreadPool(pool_size, numa_node_id, [] {
          c10::setThreadName("PTThreadPool");
          at::init_num_threads();
        }) {}
};

} // namespace at
