// What an emulated device has been asked to do and has not done yet.
//
// Note [Work of the emulated device]
// Work (kernels, copies, what libraries do) is kept until somebody has to see its result: a synchronization, a copy to
// pageable memory, an event or a stream that is asked often enough; or until there is too much of it. Then it is done
// in an order that CUDA allows: each piece comes after the one before it on its stream, after the events that its
// stream waits for, and, as the default stream has it, after or before that of the streams made without
// cudaStreamNonBlocking. TENSOR_EMULATOR_STREAMS says when and in which order:
//   late    nothing is done before somebody waits for it, and then no more than what that needs; the default
//   NUMBER  what is possible next is drawn from this seed, and some is done though nobody waits for it
//   early   each piece at once
// A host that reads too early, memory of the host that is written too early, memory of the device that is used again
// too early (what the caching allocator takes back is overwritten) and streams that do not wait for each other show as
// wrong numbers. No order shows them all: several seeds show more than one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace emulated {

using Task = std::function<void()>;

struct Work;
using WorkPtr = std::shared_ptr<Work>;

struct Work {
  Task task; // empty: only a mark
  std::vector<WorkPtr> after; // what comes first and is not done
  std::vector<WorkPtr> followers; // what has this one in `after`
  std::size_t open = 0; // how many of `after` are not done
  std::uint64_t wanted = 0; // the last call of finish() that needs it
  std::uint64_t done_at = 0; // 0: not done; the later the larger
  int asked = 0; // how often somebody asked whether it is done
};

/// All work of the process. The lock is held while work is done, so the emulated device does one thing at a time.
class Schedule {
 public:
  /// In the order that TENSOR_EMULATOR_STREAMS says.
  static Schedule& get();
  /// Another order for work from now on.
  void set_order(const std::string& order);

  /// For all that follows; recursive for those who read and then add.
  std::recursive_mutex& mutex() {
    return mutex_;
  }
  WorkPtr add(Task task, const std::vector<WorkPtr>& after);
  void finish(const std::vector<WorkPtr>& targets);
  void finish_all();
  /// Whether it is done, to somebody who can wait: after some questions it is.
  bool ask(const WorkPtr& work);
  /// What the first task that failed said. Nothing is done any more from then on, as after a kernel that crashed.
  const std::string& failure() const {
    return failure_;
  }

 private:
  Schedule() = default;
  void run_one(std::size_t index_of_ready);
  void run_until(const std::vector<WorkPtr>& targets);
  std::size_t choose(std::size_t count) {
    return seeded_ ? draw() % count : 0;
  }
  /// The next random number.
  std::uint64_t draw();

  std::recursive_mutex mutex_;
  std::vector<WorkPtr> ready_; // nothing is in its way
  std::size_t waiting_ = 0; // work that is not done
  std::uint64_t calls_ = 0, clock_ = 0, random_state_ = 0;
  bool seeded_ = false, early_ = false;
  std::string failure_;
};

} // namespace emulated
