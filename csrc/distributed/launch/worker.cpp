// One rank's process.
#include <csrc/distributed/launch/worker.h>

#include <c10/util/Exception.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

extern char** environ;

namespace torch::distributed::launch {

namespace {

constexpr size_t kLastLines = 20;

// In the child, between fork and exec: nothing but system calls.
[[noreturn]] void become(char** argv, char** env, int output, int error, pid_t parent, const OrphanReaper& reaper) {
  ::setpgid(0, 0);
  reaper.watch(::getpid());
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(127);
  }
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvpe(argv[0], argv, env);
  const int reason = errno;
  [[maybe_unused]] const auto written = ::write(error, &reason, sizeof reason);
  ::_exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (auto& text : texts) {
    all.push_back(text.data());
  }
  all.push_back(nullptr);
  return all;
}

} // namespace

Worker::Worker(
    int rank,
    const std::vector<std::string>& command,
    const std::vector<std::pair<std::string, std::string>>& variables,
    const OrphanReaper& reaper)
    : rank_(rank), reaper_(reaper) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    const auto set = [&](const auto& variable) { return variable.first == name; };
    if (std::find_if(variables.begin(), variables.end(), set) == variables.end()) {
      environment.push_back(text);
    }
  }
  for (const auto& [name, value] : variables) {
    environment.push_back(name + "=" + value);
  }
  const auto argv = pointers(arguments);
  const auto env = pointers(environment);
  int output[2];
  int error[2];
  TORCH_CHECK(::pipe2(output, O_CLOEXEC) == 0 && ::pipe2(error, O_CLOEXEC) == 0, "pipe: ", strerror(errno));
  output_ = c10d::detail::Descriptor(output[0]);
  c10d::detail::Descriptor output_end(output[1]);
  c10d::detail::Descriptor error_read(error[0]);
  c10d::detail::Descriptor error_end(error[1]);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  TORCH_CHECK(pid_ >= 0, "fork: ", strerror(errno));
  if (pid_ == 0) {
    become(const_cast<char**>(argv.data()), const_cast<char**>(env.data()), output[1], error[1], parent, reaper);
  }
  ::setpgid(pid_, pid_); // both sides, whoever is first
  pidfd_ = c10d::detail::Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  error_end.close();
  int reason = 0;
  if (::read(error_read.get(), &reason, sizeof reason) == sizeof reason) {
    ::waitpid(pid_, nullptr, 0);
    ended_ = true;
    reaper.forget(pid_);
    TORCH_CHECK_VALUE(false, "cannot start ", command[0], ": ", strerror(reason));
  }
}

Worker::~Worker() {
  if (!ended_) {
    signal(SIGKILL);
    ::waitpid(pid_, &status_, 0);
  } else {
    ::kill(-pid_, SIGKILL); // what it has started and left
  }
  reaper_.forget(pid_);
}

void Worker::signal(int number) {
  ::kill(-pid_, number);
}

void Worker::print_line(const Print& print, std::string line) {
  last_lines_.push_back(line);
  if (last_lines_.size() > kLastLines) {
    last_lines_.pop_front();
  }
  print("[rank" + std::to_string(rank_) + "] " + line + "\n");
}

void Worker::forward_output(const Print& print) {
  char bytes[16384];
  for (;;) {
    const ssize_t n = ::read(output_.get(), bytes, sizeof bytes);
    if (n <= 0) {
      if (n == 0 && output_) {
        output_.close();
      }
      break;
    }
    pending_.append(bytes, static_cast<size_t>(n));
  }
  size_t end = 0;
  while ((end = pending_.find_first_of("\r\n")) != std::string::npos) {
    print_line(print, pending_.substr(0, end));
    pending_.erase(0, end + 1);
  }
  constexpr size_t long_line = 1 << 16;
  if (!pending_.empty() && (!output_ || ended_ || pending_.size() > long_line)) {
    print_line(print, std::exchange(pending_, {}));
  }
}

bool Worker::ended() {
  if (!ended_ && ::waitpid(pid_, &status_, WNOHANG) == pid_) {
    ended_ = true;
  }
  return ended_;
}

int Worker::code() const {
  return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
}

std::string Worker::description() const {
  return WIFSIGNALED(status_)
      ? c10::str("was ended by signal ", WTERMSIG(status_), " (", strsignal(WTERMSIG(status_)), ")")
      : c10::str("exited with code ", WEXITSTATUS(status_));
}

} // namespace torch::distributed::launch
