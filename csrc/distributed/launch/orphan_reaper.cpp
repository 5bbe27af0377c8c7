// The reaper's process. A message is the number of a group to watch, or its negative to forget it; the end of messages
// is the death of the agent.
#include <csrc/distributed/launch/orphan_reaper.h>

#include <c10/util/Exception.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <vector>

namespace torch::distributed::launch {

namespace {

// In the child of a process that may have threads: nothing but system calls, and no memory beyond that of `groups`.
[[noreturn]] void reap(std::vector<pid_t>& groups, int messages, int other_end) {
  ::setsid(); // what a terminal sends to the agent is not for this process
  ::prctl(PR_SET_NAME, "launch_reaper");
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  ::close(other_end);
  ::dup2(messages, STDIN_FILENO);
  ::close_range(STDIN_FILENO + 1, UINT_MAX, 0); // readers of the agent's output see its end
  pid_t message = 0;
  ssize_t n = 0;
  while ((n = ::read(STDIN_FILENO, &message, sizeof message)) == sizeof message || (n < 0 && errno == EINTR)) {
    if (n > 0 && message > 0 && groups.size() < groups.capacity()) {
      groups.push_back(message);
    } else if (n > 0 && message < 0) {
      groups.erase(std::remove(groups.begin(), groups.end(), -message), groups.end());
    }
  }
  for (const pid_t group : groups) {
    ::kill(-group, SIGKILL);
  }
  ::_exit(0);
}

} // namespace

OrphanReaper::OrphanReaper(size_t groups) {
  std::vector<pid_t> watched;
  watched.reserve(groups);
  int ends[2];
  TORCH_CHECK(::pipe2(ends, O_CLOEXEC) == 0, "tensor-launch: pipe: ", strerror(errno));
  const c10d::detail::Descriptor messages(ends[0]);
  to_reaper_ = c10d::detail::Descriptor(ends[1]);
  pid_ = ::fork();
  TORCH_CHECK(pid_ >= 0, "tensor-launch: fork: ", strerror(errno));
  if (pid_ == 0) {
    reap(watched, ends[0], ends[1]);
  }
}

OrphanReaper::~OrphanReaper() {
  to_reaper_.close();
  ::waitpid(pid_, nullptr, 0);
}

void OrphanReaper::tell(pid_t message) const {
  // Without a reader the ranks still end with the agent, so a failure is no reason to end the job.
  [[maybe_unused]] const auto written = ::write(to_reaper_.get(), &message, sizeof message);
}

void OrphanReaper::watch(pid_t group) const {
  tell(group);
}

void OrphanReaper::forget(pid_t group) const {
  tell(-group);
}

} // namespace torch::distributed::launch
