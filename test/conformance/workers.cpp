#include "workers.h"

#include <ATen/Parallel.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>

namespace conformance {

namespace {

// A worker's stream is a sequence of records; one of part kTaskDone closes a task.
struct Record {
  uint32_t task;
  uint32_t part;
  uint32_t status;
  uint32_t text_size;
};
constexpr uint32_t kTaskDone = UINT32_MAX;
constexpr uint32_t kNoTask = UINT32_MAX;
constexpr int kMaxJobs = 64;

/// Shared between all processes: who works on what.
struct Board {
  std::atomic<uint32_t> next_task;
  struct Slot {
    std::atomic<uint32_t> current;
    std::atomic<int64_t> started_ns;
  } slots[kMaxJobs];
};

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void write_all(int fd, const void* data, size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::write(fd, at, size);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      ::_exit(3); // the parent is gone
    }
    at += n;
    size -= static_cast<size_t>(n);
  }
}

void send(int fd, uint32_t task, const Message& message) {
  const Record record{task, message.part, message.status, static_cast<uint32_t>(message.text.size())};
  std::string bytes(reinterpret_cast<const char*>(&record), sizeof record);
  bytes += message.text;
  write_all(fd, bytes.data(), bytes.size());
}

[[noreturn]] void work_on(Board& board, int slot, int fd, const Work& work, const WorkerOptions& options) {
  if (options.quiet) {
    const int null = ::open("/dev/null", O_WRONLY);
    if (null >= 0) {
      ::dup2(null, STDERR_FILENO);
    }
  }
  at::set_num_threads(1); // what was recorded was recorded with one thread, and the workers share the cores
  do {
    const uint32_t task = board.next_task.fetch_add(1);
    if (task >= work.tasks) {
      break;
    }
    board.slots[slot].started_ns = now_ns();
    board.slots[slot].current = task;
    if (!work.run(task, [&](const Message& message) { send(fd, task, message); })) {
      ::_exit(4); // the next tasks get another worker
    }
    send(fd, task, {kTaskDone, 0, {}});
    board.slots[slot].current = kNoTask;
  } while (!options.one_task_each);
  ::_exit(0); // destructors of the library's statics are not what is tested here
}

volatile std::sig_atomic_t asked_to_stop = 0;

class Pool {
 public:
  Pool(const Work& work, const WorkerOptions& options) : work_(work), options_(options) {
    void* shared = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
      throw std::runtime_error(std::string("mmap: ") + std::strerror(errno));
    }
    board_ = new (shared) Board();
    workers_.resize(std::min(std::max(options.jobs, 1), kMaxJobs));
    for (size_t slot = 0; slot < workers_.size(); ++slot) {
      start(slot);
    }
  }

  ~Pool() {
    ::munmap(board_, sizeof(Board));
  }

  /// Whether all tasks were done.
  bool run() {
    std::signal(SIGTERM, [](int) { asked_to_stop = 1; });
    for (;;) {
      if (asked_to_stop != 0) {
        stop();
        return false;
      }
      std::vector<pollfd> fds;
      std::vector<size_t> slots;
      for (size_t slot = 0; slot < workers_.size(); ++slot) {
        if (workers_[slot].fd < 0) {
          continue;
        }
        fds.push_back({workers_[slot].fd, POLLIN, 0});
        slots.push_back(slot);
      }
      if (fds.empty()) {
        return true;
      }
      ::poll(fds.data(), fds.size(), /*milliseconds=*/200);
      for (size_t i = 0; i < fds.size(); ++i) {
        if (fds[i].revents != 0) {
          receive(slots[i]);
        }
      }
      kill_late_ones();
    }
  }

 private:
  struct Worker {
    pid_t pid = -1;
    int fd = -1;
    std::string buffer;
    std::vector<uint32_t> reported; // parts of the task in hand that have been told of
    uint32_t done_task = kNoTask;
    bool timed_out = false;
  };

  void start(size_t slot) {
    int ends[2];
    if (::pipe(ends) != 0) {
      throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
    }
    board_->slots[slot].current = kNoTask;
    const pid_t pid = ::fork();
    if (pid < 0) {
      throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
    }
    if (pid == 0) {
      std::signal(SIGTERM, SIG_DFL);
      ::close(ends[0]);
      work_on(*board_, static_cast<int>(slot), ends[1], work_, options_);
    }
    ::close(ends[1]);
    workers_[slot] = Worker{pid, ends[0], {}, {}, kNoTask, false};
  }

  void stop() {
    for (const Worker& worker : workers_) {
      if (worker.fd < 0) {
        continue;
      }
      ::kill(worker.pid, SIGKILL);
      ::waitpid(worker.pid, nullptr, 0);
    }
  }

  void receive(size_t slot) {
    Worker& worker = workers_[slot];
    char chunk[65536];
    const ssize_t n = ::read(worker.fd, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) {
      return;
    }
    if (n > 0) {
      worker.buffer.append(chunk, static_cast<size_t>(n));
      take_records(worker);
      return;
    }
    finish(slot);
  }

  void take_records(Worker& worker) {
    size_t at = 0;
    Record record;
    while (worker.buffer.size() - at >= sizeof record) {
      std::memcpy(&record, worker.buffer.data() + at, sizeof record);
      if (worker.buffer.size() - at < sizeof record + record.text_size) {
        break;
      }
      if (record.part == kTaskDone) {
        worker.done_task = record.task;
        worker.reported.clear();
      } else {
        worker.reported.push_back(record.part);
        work_.report(
            record.task, {record.part, record.status, worker.buffer.substr(at + sizeof record, record.text_size)});
      }
      at += sizeof record + record.text_size;
    }
    worker.buffer.erase(0, at);
  }

  /// The worker closed its stream: it is through, or it died and another takes its place.
  void finish(size_t slot) {
    Worker& worker = workers_[slot];
    ::close(worker.fd);
    worker.fd = -1;
    int status = 0;
    ::waitpid(worker.pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      if (options_.one_task_each && board_->next_task < work_.tasks) {
        start(slot);
      }
      return;
    }

    const uint32_t task = board_->slots[slot].current;
    if (task != kNoTask && task != worker.done_task) {
      std::string why = WIFSIGNALED(status) ? "crashed with signal " + std::to_string(WTERMSIG(status))
                                            : "exited with status " + std::to_string(WEXITSTATUS(status));
      if (worker.timed_out) {
        why = "did not end within " + std::to_string(options_.task_seconds) + " s";
      }
      work_.died(task, worker.reported, why);
    } else if (++deaths_without_task_ > kMaxJobs) {
      throw std::runtime_error("the workers die before they take up a task");
    }
    start(slot);
  }

  void kill_late_ones() {
    for (size_t slot = 0; slot < workers_.size(); ++slot) {
      Worker& worker = workers_[slot];
      if (worker.fd < 0 || worker.timed_out || board_->slots[slot].current == kNoTask) {
        continue;
      }
      const double seconds = static_cast<double>(now_ns() - board_->slots[slot].started_ns) * 1e-9;
      if (seconds < options_.task_seconds) {
        continue;
      }
      worker.timed_out = true;
      ::kill(worker.pid, SIGKILL);
    }
  }

  const Work& work_;
  const WorkerOptions& options_;
  Board* board_ = nullptr;
  std::vector<Worker> workers_;
  int deaths_without_task_ = 0;
};

} // namespace

bool run_in_workers(const Work& work, const WorkerOptions& options) {
  return Pool(work, options).run();
}

} // namespace conformance
