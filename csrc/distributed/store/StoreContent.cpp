// What a TCPStore's server keeps: each change wakes those who wait for the key.
#include <csrc/distributed/store/StoreContent.h>

#include <csrc/distributed/store/Store.h>

#include <algorithm>

namespace c10d::detail {

const std::string* StoreContent::find(const std::string& key) const {
  const auto found = map_.find(key);
  return found == map_.end() ? nullptr : &found->second;
}

bool StoreContent::has(const std::string& key) const {
  return map_.count(key) > 0 || queues_.count(key) > 0;
}

void StoreContent::set(const std::string& key, std::string value) {
  map_[key] = std::move(value);
  changed(key);
}

void StoreContent::append(const std::string& key, const std::string& value) {
  map_[key] += value;
  changed(key);
}

std::string StoreContent::compare_set(const std::string& key, const std::string& expected, const std::string& desired) {
  const std::string* held = find(key);
  if (held == nullptr ? !expected.empty() : *held != expected) {
    return held == nullptr ? expected : *held;
  }
  set(key, desired);
  return desired;
}

int64_t StoreContent::add(const std::string& key, int64_t delta) {
  const std::string* held = find(key);
  const int64_t sum = held == nullptr ? delta : add_to_text(*held, delta);
  set(key, std::to_string(sum));
  return sum;
}

bool StoreContent::erase(const std::string& key) {
  return map_.erase(key) > 0;
}

void StoreContent::push(const std::string& key, std::string value) {
  queues_[key].push_back(std::move(value));
  changed(key, /*first_only=*/true);
}

std::vector<std::string> StoreContent::pop(const std::string& key) {
  const auto found = queues_.find(key);
  if (found == queues_.end()) {
    return {};
  }
  std::vector<std::string> entry{std::move(found->second.front())};
  found->second.pop_front();
  if (found->second.empty()) {
    queues_.erase(found);
  }
  return entry;
}

int64_t StoreContent::queue_length(const std::string& key) const {
  const auto found = queues_.find(key);
  return found == queues_.end() ? 0 : static_cast<int64_t>(found->second.size());
}

bool StoreContent::wait(Waiter& waiter, const std::vector<std::string>& keys) {
  for (const auto& key : keys) {
    if (!has(key)) {
      waiter.missing.push_back(key);
    }
  }
  std::sort(waiter.missing.begin(), waiter.missing.end());
  waiter.missing.erase(std::unique(waiter.missing.begin(), waiter.missing.end()), waiter.missing.end());
  for (const auto& key : waiter.missing) {
    waiting_[key].push_back(&waiter);
  }
  return !waiter.waiting();
}

bool StoreContent::barrier(Waiter& waiter, const std::string& key, int64_t size) {
  if (add(key, 1) >= size) {
    return true;
  }
  waiter.barrier_size = size;
  waiter.missing.push_back(key);
  waiting_[key].push_back(&waiter);
  return false;
}

void StoreContent::changed(const std::string& key, bool first_only) {
  const auto found = waiting_.find(key);
  if (found == waiting_.end()) {
    return;
  }
  std::vector<Waiter*> kept;
  std::vector<Waiter*> woken;
  const std::string* held = find(key);
  for (Waiter* waiter : found->second) {
    bool over = !(first_only && !woken.empty());
    if (over && waiter->barrier_size > 0) {
      over = held != nullptr && add_to_text(*held, 0) >= waiter->barrier_size;
    }
    (over ? woken : kept).push_back(waiter);
  }
  if (kept.empty()) {
    waiting_.erase(found);
  } else {
    found->second = std::move(kept);
  }
  for (Waiter* waiter : woken) {
    waiter->missing.erase(std::find(waiter->missing.begin(), waiter->missing.end(), key));
    if (!waiter->waiting()) {
      waiter->barrier_size = 0;
      waiter->owed_queue = first_only ? key : std::string();
      wake_(*waiter);
    }
  }
}

void StoreContent::wake_next_for_queue(const std::string& key) {
  if (queues_.count(key) > 0) {
    changed(key, /*first_only=*/true);
  }
}

void StoreContent::forget(Waiter& waiter, bool took) {
  for (const auto& key : std::exchange(waiter.missing, {})) {
    auto& list = waiting_[key];
    list.erase(std::remove(list.begin(), list.end(), &waiter), list.end());
    if (list.empty()) {
      waiting_.erase(key);
    }
  }
  waiter.barrier_size = 0;
  const std::string queue = std::exchange(waiter.owed_queue, {});
  if (!queue.empty() && !took) {
    wake_next_for_queue(queue);
  }
}

} // namespace c10d::detail
