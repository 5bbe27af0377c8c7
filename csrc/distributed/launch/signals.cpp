// Signals by signalfd.
#include <csrc/distributed/launch/signals.h>

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace torch::distributed::launch {

Signals::Signals() {
  sigset_t wanted;
  ::sigemptyset(&wanted);
  ::sigaddset(&wanted, SIGINT);
  ::sigaddset(&wanted, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &wanted, &before_);
  fd_ = c10d::detail::Descriptor(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
}

Signals::~Signals() {
  take();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int Signals::take() const {
  signalfd_siginfo info;
  return ::read(fd_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

void Signals::check() const {
  if (const int number = take()) {
    throw Interruption{number};
  }
}

} // namespace torch::distributed::launch
