#include "test/fuzz/workers.h"

#include <ATen/Parallel.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>
#include <execinfo.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "test/fuzz/device.h"
#include "test/fuzz/memory_limit.h"

namespace fuzz {

namespace {

constexpr uint64_t kNoCase = UINT64_MAX;
constexpr int kMaxJobs = 16;
constexpr int kDeviceLost = 4; // a worker's exit status: the next cases get a process with a device
constexpr size_t kMaxOperators = 8192;

/// Shared by all processes.
struct Board {
  std::atomic<uint64_t> next_case;
  std::atomic<uint64_t> calls;
  std::atomic<uint64_t> succeeded[kMaxOperators];
  std::atomic<uint64_t> refused[kMaxOperators];
  struct Slot {
    std::atomic<uint64_t> current;
    std::atomic<int64_t> started_ns;
  } slots[kMaxJobs];
};

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void write_all(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      ::_exit(3); // the parent is gone
    }
    done += static_cast<size_t>(n);
  }
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\t') {
      c = ' ';
    }
  }
  return text;
}

/// What the library and the sanitizers print to stderr lands here.
class ErrorLog {
 public:
  ErrorLog() : fd_(::memfd_create("stderr", 0)) {
    if (fd_ < 0) {
      throw std::runtime_error(std::string("memfd_create: ") + std::strerror(errno));
    }
  }
  ~ErrorLog() {
    ::close(fd_);
  }
  ErrorLog(const ErrorLog&) = delete;
  ErrorLog& operator=(const ErrorLog&) = delete;

  int fd() const {
    return fd_;
  }
  /// What was written since the last call.
  std::string take() {
    const off_t size = ::lseek(fd_, 0, SEEK_END);
    if (size <= 0) {
      return {};
    }
    std::string text(static_cast<size_t>(std::min<off_t>(size, 1 << 20)), '\0');
    if (::pread(fd_, text.data(), text.size(), 0) < 0) {
      text.clear();
    }
    if (::ftruncate(fd_, 0) != 0) {
      text.clear();
    }
    ::lseek(fd_, 0, SEEK_SET);
    return text;
  }

 private:
  int fd_;
};

/// The line that tells what a sanitizer saw, or nothing.
std::string sanitizer_line(const std::string& log) {
  for (const char* mark : {"SUMMARY: ", "runtime error: ", "ERROR: AddressSanitizer"}) {
    const size_t at = log.find(mark);
    if (at == std::string::npos) {
      continue;
    }
    const size_t start = log.rfind('\n', at) + 1;
    return log.substr(start, log.find('\n', at) - start);
  }
  return {};
}

#if !C10_ASAN_ENABLED
void on_signal(int number) {
  void* frames[40];
  const int count = ::backtrace(frames, 40);
  ::backtrace_symbols_fd(frames, count, STDERR_FILENO);
  ::signal(number, SIG_DFL);
  ::raise(number);
}

void watch_signals() {
  static char stack[1 << 16];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  ::sigaltstack(&alternative, nullptr);
  void* warm[2];
  ::backtrace(warm, 2); // loads what it needs now, not in the handler
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    ::sigaction(number, &action, nullptr);
  }
}
#else
void watch_signals() {}
#endif

/// Tensors of a call take 512 MiB at most. What containers take beside them is to end in c10::OutOfMemoryError as well.
constexpr size_t kMemory = size_t{1} << 30;

class Worker {
 public:
  Worker(
      Board& board,
      int slot,
      int fd,
      ErrorLog& log,
      const Cases& cases,
      const std::vector<bool>& chosen,
      const Limits& limits)
      : board_(board), slot_(slot), fd_(fd), log_(log), cases_(cases), chosen_(chosen), limits_(limits) {}

  [[noreturn]] void run() {
    ::dup2(log_.fd(), STDERR_FILENO);
    watch_signals();
    std::optional<MemoryLimit> limit;
    if (limits_.device.is_cpu()) { // devices take addresses as they like
      limit.emplace(kMemory);
    }
    at::set_num_threads(1);
    while (board_.calls < limits_.calls) {
      const uint64_t index = board_.next_case.fetch_add(1);
      const size_t op = cases_.operator_of(index);
      if (!chosen_[op]) {
        continue;
      }
      ++board_.calls;
      board_.slots[slot_].started_ns = now_ns();
      board_.slots[slot_].current = index;
      run_one(index, op);
      board_.slots[slot_].current = kNoCase;
    }
    ::_exit(0); // destructors of the library's statics are not what is tested here
  }

 private:
  void run_one(uint64_t index, size_t op) {
    Verdict verdict;
    try {
      verdict = run_case(cases_, index, limits_.device);
    } catch (const c10::OutOfMemoryError&) {
      verdict.outcome = Outcome::Refused; // the arguments alone take more memory than a case may have
    } catch (const std::exception& e) {
      verdict.findings.push_back({std::string("the harness failed: ") + e.what(), ""});
    }
    for (const Finding& finding : verdict.findings) {
      send(index, finding);
    }
    if (!limits_.device.is_cpu() && !verdict.findings.empty() && is_lost(limits_.device)) {
      ::_exit(kDeviceLost);
    }
    const std::string log = log_.take();
    if (const std::string line = sanitizer_line(log); !line.empty()) {
      send(index, {"sanitizer: " + line, ""});
    }
    if (verdict.outcome == Outcome::Succeeded) {
      ++board_.succeeded[op];
    }
    if (verdict.outcome == Outcome::Refused) {
      ++board_.refused[op];
    }
  }
  void send(uint64_t index, const Finding& finding) {
    write_all(
        fd_,
        std::to_string(index) + '\t' + one_line(finding.kind).substr(0, 300) + '\t' + one_line(finding.what) + '\n');
  }

  Board& board_;
  int slot_;
  int fd_;
  ErrorLog& log_;
  const Cases& cases_;
  const std::vector<bool>& chosen_;
  const Limits& limits_;
};

class Pool {
 public:
  Pool(
      const Cases& cases,
      const std::vector<bool>& chosen,
      const Limits& limits,
      const std::function<void(uint64_t, const Finding&)>& report)
      : cases_(cases), chosen_(chosen), limits_(limits), report_(report) {
    if (cases.operators().size() > kMaxOperators) {
      throw std::runtime_error("more operators than kMaxOperators");
    }
    void* shared = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
      throw std::runtime_error(std::string("mmap: ") + std::strerror(errno));
    }
    board_ = new (shared) Board();
    board_->next_case = limits.first_case;
    processes_ = std::vector<Process>(static_cast<size_t>(std::min(std::max(limits.jobs, 1), kMaxJobs)));
    for (size_t slot = 0; slot < processes_.size(); ++slot) {
      start(slot);
    }
  }
  ~Pool() {
    ::munmap(board_, sizeof(Board));
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  std::vector<Tally> run() {
    const int64_t started = now_ns();
    for (;;) {
      std::vector<pollfd> fds;
      std::vector<size_t> slots;
      for (size_t slot = 0; slot < processes_.size(); ++slot) {
        if (processes_[slot].fd < 0) {
          continue;
        }
        fds.push_back({processes_[slot].fd, POLLIN, 0});
        slots.push_back(slot);
      }
      if (fds.empty()) {
        break;
      }
      ::poll(fds.data(), fds.size(), /*milliseconds=*/200);
      for (size_t i = 0; i < fds.size(); ++i) {
        if (fds[i].revents != 0) {
          receive(slots[i]);
        }
      }
      if (limits_.seconds > 0 && static_cast<double>(now_ns() - started) * 1e-9 > limits_.seconds) {
        board_->calls = limits_.calls; // workers end after the case in hand
      }
      kill_late_ones();
    }
    std::vector<Tally> tally(cases_.operators().size());
    for (size_t op = 0; op < tally.size(); ++op) {
      tally[op] = {board_->succeeded[op], board_->refused[op]};
    }
    return tally;
  }

 private:
  struct Process {
    pid_t pid = -1;
    int fd = -1;
    std::string buffer;
    bool late = false;
    std::unique_ptr<ErrorLog> log = std::make_unique<ErrorLog>();
  };

  void start(size_t slot) {
    int ends[2];
    if (::pipe(ends) != 0) {
      throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
    }
    board_->slots[slot].current = kNoCase;
    Process& process = processes_[slot];
    process.log->take();
    process.pid = ::fork();
    if (process.pid < 0) {
      throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
    }
    if (process.pid == 0) {
      ::close(ends[0]);
      Worker(*board_, static_cast<int>(slot), ends[1], *process.log, cases_, chosen_, limits_).run();
    }
    ::close(ends[1]);
    process.fd = ends[0];
    process.buffer.clear();
    process.late = false;
  }

  void receive(size_t slot) {
    Process& process = processes_[slot];
    char chunk[65536];
    const ssize_t n = ::read(process.fd, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) {
      return;
    }
    if (n <= 0) {
      return finish(slot);
    }
    process.buffer.append(chunk, static_cast<size_t>(n));
    for (size_t end; (end = process.buffer.find('\n')) != std::string::npos; process.buffer.erase(0, end + 1)) {
      const std::string line = process.buffer.substr(0, end);
      const size_t kind = line.find('\t') + 1;
      const size_t what = line.find('\t', kind) + 1;
      report_(std::stoull(line), {line.substr(kind, what - kind - 1), line.substr(what)});
    }
  }

  /// The worker closed its stream: it is through, or it died and another goes on behind the case that killed it.
  void finish(size_t slot) {
    Process& process = processes_[slot];
    ::close(process.fd);
    process.fd = -1;
    int status = 0;
    ::waitpid(process.pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      return;
    }
    const uint64_t index = board_->slots[slot].current;
    if (index == kNoCase) {
      throw std::runtime_error("a worker died without a case");
    }
    report_(index, cause_of_death(status, process));
    start(slot);
  }
  Finding cause_of_death(int status, Process& process) const {
    if (process.late) {
      return {"did not end within " + std::to_string(static_cast<int>(limits_.case_seconds)) + " s", ""};
    }
    const std::string log = process.log->take();
    const std::string line = sanitizer_line(log);
    if (!line.empty()) {
      return {"sanitizer: " + line, log};
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == kDeviceLost) {
      return {"the device is lost", log};
    }
    if (WIFSIGNALED(status)) {
      return {"signal " + std::to_string(WTERMSIG(status)), log};
    }
    return {"exited with status " + std::to_string(WEXITSTATUS(status)), log};
  }

  void kill_late_ones() {
    for (size_t slot = 0; slot < processes_.size(); ++slot) {
      Process& process = processes_[slot];
      if (process.fd < 0 || process.late || board_->slots[slot].current == kNoCase) {
        continue;
      }
      const double seconds = static_cast<double>(now_ns() - board_->slots[slot].started_ns) * 1e-9;
      if (seconds < limits_.case_seconds) {
        continue;
      }
      process.late = true;
      ::kill(process.pid, SIGKILL);
    }
  }

  const Cases& cases_;
  const std::vector<bool>& chosen_;
  const Limits& limits_;
  const std::function<void(uint64_t, const Finding&)>& report_;
  Board* board_ = nullptr;
  std::vector<Process> processes_;
};

} // namespace

std::vector<Tally> run_in_workers(
    const Cases& cases,
    const std::vector<bool>& chosen,
    const Limits& limits,
    const std::function<void(uint64_t, const Finding&)>& report) {
  return Pool(cases, chosen, limits, report).run();
}

} // namespace fuzz
