#include "test/fuzz/forked_cases.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>

namespace fuzz {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

CaseProgress& shared_progress() {
  void* const shared = ::mmap(nullptr, sizeof(CaseProgress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    throw std::runtime_error(std::string("mmap: ") + std::strerror(errno));
  }
  return *new (shared) CaseProgress;
}

/// Runs cases up to the end or to the first finding.
[[noreturn]] void work(const ForkedCases& cases, CaseProgress& progress) {
  cases.prepare();
  for (; progress.next < cases.count; ++progress.next) {
    progress.phase = 0;
    progress.begin = now();
    const std::string found = cases.run(progress.next, progress);
    if (!found.empty()) {
      progress.set_text(found);
      ::_exit(1);
    }
  }
  ::_exit(0);
}

enum class End { Done, Finding, Late };

/// Waits for the worker, and ends it where a case takes too long or no time is left.
End watch(pid_t worker, const ForkedCases& cases, const CaseProgress& progress, double until, int& status) {
  for (;;) {
    for (int i = 0; i < 100; ++i) {
      if (::waitpid(worker, &status, WNOHANG) == worker) {
        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? End::Done : End::Finding;
      }
      ::usleep(2000);
    }
    const bool late = now() - progress.begin > cases.seconds_for_one(progress.phase);
    if (late || now() > until) {
      ::kill(worker, SIGKILL);
      ::waitpid(worker, &status, 0);
      return late ? End::Late : End::Done;
    }
  }
}

std::string how_it_ended(End end, const CaseProgress& progress, int status) {
  if (end == End::Late) {
    return "did not end";
  }
  return WIFSIGNALED(status) ? std::string("signal ") + ::strsignal(WTERMSIG(status)) : progress.text;
}

} // namespace

bool CaseOptions::take(CommandLine& line) {
  const std::string name = line.word();
  if (name == "--seed") {
    seed = std::stoull(line.value());
  } else if (name == "--case") {
    one = true;
    only_case = std::stoull(line.value());
  } else if (name == "--cases") {
    cases = std::stoull(line.value());
  } else {
    return false;
  }
  return true;
}

void CaseProgress::set_text(const std::string& what) {
  text[what.copy(text, sizeof text - 1)] = 0;
}

CaseTotals run_forked(const ForkedCases& cases) {
  CaseProgress& progress = shared_progress();
  const double until = now() + cases.seconds;
  CaseTotals totals;
  while (progress.next < cases.count && now() < until) {
    progress.begin = now();
    std::fflush(stdout);
    const pid_t worker = ::fork();
    if (worker == 0) {
      work(cases, progress);
    }
    int status = 0;
    const End end = watch(worker, cases, progress, until, status);
    if (end == End::Done) {
      break;
    }
    totals.findings += cases.report(progress, how_it_ended(end, progress, status), end == End::Late) ? 1 : 0;
    progress.set_text("");
    ++progress.next;
  }
  std::copy(std::begin(progress.outcomes), std::end(progress.outcomes), totals.outcomes);
  ::munmap(&progress, sizeof(CaseProgress));
  return totals;
}

} // namespace fuzz
