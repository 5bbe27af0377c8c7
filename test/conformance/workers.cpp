#include "workers.h"

#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>

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

// A worker's stream is a sequence of records; kCaseDone closes a case.
struct Record {
  uint32_t case_index;
  uint8_t part;
  uint8_t status;
  uint32_t text_size;
};
constexpr uint8_t kCaseDone = 255;
constexpr uint32_t kNoCase = UINT32_MAX;
constexpr int kMaxJobs = 64;

/// Shared between all processes: who works on what.
struct Board {
  std::atomic<uint32_t> next_case;
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

void send(int fd, uint32_t case_index, uint8_t part, Status status, const std::string& text) {
  const Record record{case_index, part, static_cast<uint8_t>(status), static_cast<uint32_t>(text.size())};
  std::string message(reinterpret_cast<const char*>(&record), sizeof record);
  message += text;
  write_all(fd, message.data(), message.size());
}

/// After an illegal access on a GPU every further call fails, in this process.
bool is_lost(c10::Device device) {
  if (device.is_cpu()) {
    return false;
  }
  try {
    c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index() < 0 ? 0 : device.index());
    return false;
  } catch (const std::exception&) {
    return true;
  }
}

[[noreturn]] void work(
    Board& board, int slot, int fd, const std::vector<const Case*>& cases, c10::Device device, bool quiet) {
  if (quiet) {
    const int null = ::open("/dev/null", O_WRONLY);
    if (null >= 0) {
      ::dup2(null, STDERR_FILENO);
    }
  }
  at::set_num_threads(1); // the corpus was recorded with one thread, and the workers share the cores
  for (;;) {
    const uint32_t index = board.next_case.fetch_add(1);
    if (index >= cases.size()) {
      break;
    }
    board.slots[slot].started_ns = now_ns();
    board.slots[slot].current = index;
    bool failed = false;
    for (const Verdict& verdict : replay(*cases[index], device)) {
      send(fd, index, static_cast<uint8_t>(verdict.part), verdict.status, verdict.why);
      failed = failed || verdict.status == Status::Failed;
    }
    if (failed && is_lost(device)) {
      ::_exit(4); // the next cases get a worker with a device
    }
    send(fd, index, kCaseDone, Status::Passed, "");
    board.slots[slot].current = kNoCase;
  }
  ::_exit(0); // destructors of the library's statics are not what is tested here
}

volatile std::sig_atomic_t asked_to_stop = 0;

class Pool {
 public:
  Pool(
      const std::vector<const Case*>& cases,
      c10::Device device,
      const WorkerOptions& options,
      const std::function<void(size_t, const Verdict&)>& report)
      : cases_(cases), device_(device), options_(options), report_(report) {
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

  /// Whether all cases were replayed.
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
    std::vector<Part> reported; // parts of the case in hand that have their verdict
    uint32_t done_case = kNoCase;
    bool timed_out = false;
  };

  void start(size_t slot) {
    int ends[2];
    if (::pipe(ends) != 0) {
      throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
    }
    board_->slots[slot].current = kNoCase;
    const pid_t pid = ::fork();
    if (pid < 0) {
      throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
    }
    if (pid == 0) {
      std::signal(SIGTERM, SIG_DFL);
      ::close(ends[0]);
      work(*board_, static_cast<int>(slot), ends[1], cases_, device_, options_.quiet);
    }
    ::close(ends[1]);
    workers_[slot] = Worker{pid, ends[0], {}, {}, kNoCase, false};
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
      if (record.part == kCaseDone) {
        worker.done_case = record.case_index;
        worker.reported.clear();
      } else {
        const Part part = static_cast<Part>(record.part);
        worker.reported.push_back(part);
        report_(
            record.case_index,
            {part, static_cast<Status>(record.status), worker.buffer.substr(at + sizeof record, record.text_size)});
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
      return;
    }

    const uint32_t index = board_->slots[slot].current;
    if (index != kNoCase && index != worker.done_case) {
      std::string why = WIFSIGNALED(status) ? "crashed with signal " + std::to_string(WTERMSIG(status))
                                            : "exited with status " + std::to_string(WEXITSTATUS(status));
      if (worker.timed_out) {
        why = "did not end within " + std::to_string(options_.case_seconds) + " s";
      }
      for (const Part part : cases_[index]->parts) {
        if (std::find(worker.reported.begin(), worker.reported.end(), part) == worker.reported.end()) {
          report_(index, {part, Status::Failed, why});
        }
      }
    } else if (++deaths_without_case_ > kMaxJobs) {
      throw std::runtime_error("the workers die before they take up a case");
    }
    start(slot);
  }

  void kill_late_ones() {
    for (size_t slot = 0; slot < workers_.size(); ++slot) {
      Worker& worker = workers_[slot];
      if (worker.fd < 0 || worker.timed_out || board_->slots[slot].current == kNoCase) {
        continue;
      }
      const double seconds = static_cast<double>(now_ns() - board_->slots[slot].started_ns) * 1e-9;
      if (seconds < options_.case_seconds) {
        continue;
      }
      worker.timed_out = true;
      ::kill(worker.pid, SIGKILL);
    }
  }

  const std::vector<const Case*>& cases_;
  c10::Device device_;
  const WorkerOptions& options_;
  const std::function<void(size_t, const Verdict&)>& report_;
  Board* board_ = nullptr;
  std::vector<Worker> workers_;
  int deaths_without_case_ = 0;
};

} // namespace

bool replay_in_workers(
    const std::vector<const Case*>& cases,
    c10::Device device,
    const WorkerOptions& options,
    const std::function<void(size_t, const Verdict&)>& report) {
  return Pool(cases, device, options, report).run();
}

} // namespace conformance
