#include "work.h"

#include "device_thread.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <utility>

namespace emulated {

namespace {

constexpr std::size_t kMostWaiting = 4096; // as a device that has no room for more: then half of it is done first
constexpr int kPatience = 8; // questions until what is asked for is done

template <class Function>
void on_device(Function f) {
  on_device_thread([](void* function) { (*static_cast<Function*>(function))(); }, &f);
}

} // namespace

Schedule& Schedule::get() {
  // Never destroyed: programs use the device until they end.
  static auto* const schedule = [] {
    auto* const made = new Schedule();
    const char* const order = std::getenv("TENSOR_EMULATOR_STREAMS");
    made->set_order(order != nullptr ? order : "late");
    return made;
  }();
  return *schedule;
}

void Schedule::set_order(const std::string& order) {
  early_ = order == "early";
  seeded_ = !order.empty() && order.find_first_not_of("0123456789") == std::string::npos;
  random_state_ = seeded_ ? std::strtoull(order.c_str(), nullptr, 10) : 0;
  if (!early_ && !seeded_ && order != "late") {
    throw std::invalid_argument("TENSOR_EMULATOR_STREAMS is late, early or a number, not " + order);
  }
}

// splitmix64
std::uint64_t Schedule::draw() {
  std::uint64_t z = random_state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

WorkPtr Schedule::add(Task task, const std::vector<WorkPtr>& after) {
  auto work = std::make_shared<Work>();
  work->task = std::move(task);
  for (const WorkPtr& other : after) {
    if (other != nullptr && other->done_at == 0) {
      work->after.push_back(other);
      other->followers.push_back(work);
    }
  }
  work->open = work->after.size();
  if (work->open == 0 && !work->task) {
    work->done_at = ++clock_;
    return work;
  }
  ++waiting_;
  if (work->open == 0) {
    ready_.push_back(work);
  }
  if (early_) {
    finish({work});
  } else if (waiting_ > kMostWaiting) {
    on_device([this] {
      while (waiting_ > kMostWaiting / 2) {
        run_one(choose(ready_.size()));
      }
    });
  } else if (seeded_ && draw() % 8 == 0) {
    on_device([this] {
      for (std::size_t count = draw() % 8; count != 0 && !ready_.empty(); --count) {
        run_one(choose(ready_.size()));
      }
    });
  }
  return work;
}

void Schedule::run_one(std::size_t index) {
  const WorkPtr work = std::move(ready_[index]);
  ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(index));
  if (work->task && failure_.empty()) {
    try {
      work->task();
    } catch (const std::exception& e) {
      failure_ = e.what();
    }
  }
  work->task = nullptr;
  work->done_at = ++clock_;
  work->after.clear();
  --waiting_;
  for (WorkPtr& follower : std::exchange(work->followers, {})) {
    if (--follower->open == 0) {
      ready_.push_back(std::move(follower));
    }
  }
}

void Schedule::run_until(const std::vector<WorkPtr>& targets) {
  const auto done = [&] {
    return std::all_of(
        targets.begin(), targets.end(), [](const WorkPtr& t) { return t == nullptr || t->done_at != 0; });
  };
  if (seeded_ && draw() % 2 == 0) {
    while (!done()) {
      run_one(choose(ready_.size()));
    }
    return;
  }
  // No more than what is needed.
  ++calls_;
  std::vector<Work*> open;
  const auto want = [&](Work* work) {
    if (work != nullptr && work->done_at == 0 && work->wanted != calls_) {
      work->wanted = calls_;
      open.push_back(work);
    }
  };
  for (const WorkPtr& target : targets) {
    want(target.get());
  }
  while (!open.empty()) {
    Work* const work = open.back();
    open.pop_back();
    for (const WorkPtr& other : work->after) {
      want(other.get());
    }
  }
  std::vector<std::size_t> candidates;
  while (!done()) {
    candidates.clear();
    for (std::size_t i = 0; i < ready_.size() && (seeded_ || candidates.empty()); ++i) {
      if (ready_[i]->wanted == calls_) {
        candidates.push_back(i);
      }
    }
    run_one(candidates.at(choose(candidates.size())));
  }
}

void Schedule::finish(const std::vector<WorkPtr>& targets) {
  if (std::any_of(targets.begin(), targets.end(), [](const WorkPtr& t) { return t != nullptr && t->done_at == 0; })) {
    on_device([&] { run_until(targets); });
  }
}

void Schedule::finish_all() {
  if (!ready_.empty()) {
    on_device([this] {
      while (!ready_.empty()) {
        run_one(choose(ready_.size()));
      }
    });
  }
}

bool Schedule::ask(const WorkPtr& work) {
  if (work != nullptr && work->done_at == 0 && ++work->asked > kPatience) {
    finish({work});
  }
  return work == nullptr || work->done_at != 0;
}

} // namespace emulated
