// HashStore: a map under a mutex.
#include <csrc/distributed/store/HashStore.h>

#include <c10/util/Exception.h>

namespace c10d {

c10::intrusive_ptr<Store> HashStore::clone() {
  return c10::intrusive_ptr<Store>::unsafe_reclaim_from_nonowning(this);
}

void HashStore::set(const std::string& key, const std::vector<uint8_t>& data) {
  const std::lock_guard lock(m_);
  map_[key] = data;
  cv_.notify_all();
}

std::vector<uint8_t> HashStore::compareSet(
    const std::string& key, const std::vector<uint8_t>& expectedValue, const std::vector<uint8_t>& desiredValue) {
  const std::lock_guard lock(m_);
  const auto found = map_.find(key);
  if (found == map_.end() ? !expectedValue.empty() : found->second != expectedValue) {
    return found == map_.end() ? expectedValue : found->second;
  }
  map_[key] = desiredValue;
  cv_.notify_all();
  return desiredValue;
}

std::vector<uint8_t> HashStore::get(const std::string& key) {
  std::unique_lock lock(m_);
  waitLocked(lock, {key}, timeout_);
  const auto found = map_.find(key);
  return found == map_.end() ? std::vector<uint8_t>() : found->second; // a queue's name has no value
}

void HashStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) {
  std::unique_lock lock(m_);
  waitLocked(lock, keys, timeout);
}

void HashStore::waitLocked(
    std::unique_lock<std::mutex>& lock,
    const std::vector<std::string>& keys,
    const std::chrono::milliseconds& timeout) {
  const bool there = cv_.wait_until(lock, detail::deadline_after(timeout), [&] { return checkLocked(lock, keys); });
  if (!there) {
    C10_THROW_ERROR(
        DistStoreError, c10::str("Wait timeout after ", timeout.count(), "ms, keys: ", detail::some_keys(keys)));
  }
}

int64_t HashStore::add(const std::string& key, int64_t value) {
  const std::lock_guard lock(m_);
  const auto found = map_.find(key);
  const int64_t sum =
      found == map_.end() ? value : detail::add_to_text({found->second.begin(), found->second.end()}, value);
  const std::string text = std::to_string(sum);
  map_[key].assign(text.begin(), text.end());
  cv_.notify_all();
  return sum;
}

int64_t HashStore::getNumKeys() {
  const std::lock_guard lock(m_);
  return static_cast<int64_t>(map_.size());
}

bool HashStore::check(const std::vector<std::string>& keys) {
  const std::unique_lock lock(m_);
  return checkLocked(lock, keys);
}

bool HashStore::checkLocked(const std::unique_lock<std::mutex>&, const std::vector<std::string>& keys) {
  for (const auto& key : keys) {
    if (!map_.count(key) && !queues_.count(key)) {
      return false;
    }
  }
  return true;
}

bool HashStore::deleteKey(const std::string& key) {
  const std::lock_guard lock(m_);
  return map_.erase(key) > 0;
}

void HashStore::append(const std::string& key, const std::vector<uint8_t>& value) {
  const std::lock_guard lock(m_);
  auto& held = map_[key];
  held.insert(held.end(), value.begin(), value.end());
  cv_.notify_all();
}

std::vector<std::vector<uint8_t>> HashStore::multiGet(const std::vector<std::string>& keys) {
  std::unique_lock lock(m_);
  waitLocked(lock, keys, timeout_);
  std::vector<std::vector<uint8_t>> values;
  values.reserve(keys.size());
  for (const auto& key : keys) {
    values.push_back(map_[key]);
  }
  return values;
}

void HashStore::multiSet(const std::vector<std::string>& keys, const std::vector<std::vector<uint8_t>>& values) {
  TORCH_CHECK_VALUE(
      keys.size() == values.size(), "multiSet keys and values vectors must be of same size, but got ", keys.size(),
      " keys and ", values.size(), " values");
  const std::lock_guard lock(m_);
  for (size_t i = 0; i < keys.size(); ++i) {
    map_[keys[i]] = values[i];
  }
  cv_.notify_all();
}

bool HashStore::hasExtendedApi() const {
  return true;
}

void HashStore::queuePush(const std::string& key, const std::vector<uint8_t>& value) {
  const std::lock_guard lock(m_);
  queues_[key].push_back(value);
  cv_.notify_all();
}

std::vector<uint8_t> HashStore::queuePop(const std::string& key, bool block) {
  std::unique_lock lock(m_);
  const auto filled = [&] { return queues_.count(key) > 0; };
  if (!filled() && !block) {
    C10_THROW_ERROR(DistQueueEmptyError, "queue is empty");
  }
  if (!cv_.wait_until(lock, detail::deadline_after(timeout_), filled)) {
    C10_THROW_ERROR(DistStoreError, c10::str("Wait timeout after ", timeout_.count(), "ms, keys: ", key));
  }
  auto& queue = queues_[key];
  std::vector<uint8_t> value = std::move(queue.front());
  queue.pop_front();
  if (queue.empty()) {
    queues_.erase(key);
  }
  return value;
}

int64_t HashStore::queueLen(const std::string& key) {
  const std::lock_guard lock(m_);
  const auto found = queues_.find(key);
  return found == queues_.end() ? 0 : static_cast<int64_t>(found->second.size());
}

std::vector<std::string> HashStore::listKeys() {
  const std::lock_guard lock(m_);
  std::vector<std::string> keys;
  keys.reserve(map_.size());
  for (const auto& [key, value] : map_) {
    keys.push_back(key);
  }
  return keys;
}

} // namespace c10d
