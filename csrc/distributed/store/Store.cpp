// What stores have in common: text for bytes, and the compound calls made of simple ones.
#include <csrc/distributed/store/Store.h>

#include <c10/util/Exception.h>

#include <charconv>

namespace c10d {

void Store::set(const std::string& key, const std::string& value) {
  set(key, std::vector<uint8_t>(value.begin(), value.end()));
}

std::string Store::compareSet(const std::string& key, const std::string& currentValue, const std::string& newValue) {
  const auto value = compareSet(
      key, std::vector<uint8_t>(currentValue.begin(), currentValue.end()),
      std::vector<uint8_t>(newValue.begin(), newValue.end()));
  return std::string(value.begin(), value.end());
}

std::vector<uint8_t> Store::compareSet(const std::string&, const std::vector<uint8_t>&, const std::vector<uint8_t>&) {
  C10_THROW_ERROR(NotImplementedError, "Not implemented.");
}

std::string Store::get_to_str(const std::string& key) {
  const auto value = get(key);
  return std::string(value.begin(), value.end());
}

const std::chrono::milliseconds& Store::getTimeout() const noexcept {
  return timeout_;
}

void Store::setTimeout(const std::chrono::milliseconds& timeout) {
  timeout_ = timeout;
}

void Store::watchKey(const std::string&, WatchKeyCallback) {
  C10_THROW_ERROR(NotImplementedError, "watchKey is implemented for TCPStore only, and for PrefixStore over one.");
}

void Store::append(const std::string& key, const std::vector<uint8_t>& value) {
  std::vector<uint8_t> current;
  std::vector<uint8_t> wanted = value;
  while ((current = compareSet(key, current, wanted)) != wanted) {
    wanted = current;
    wanted.insert(wanted.end(), value.begin(), value.end());
  }
}

std::vector<std::vector<uint8_t>> Store::multiGet(const std::vector<std::string>& keys) {
  std::vector<std::vector<uint8_t>> values;
  values.reserve(keys.size());
  for (const auto& key : keys) {
    values.push_back(get(key));
  }
  return values;
}

void Store::multiSet(const std::vector<std::string>& keys, const std::vector<std::vector<uint8_t>>& values) {
  TORCH_CHECK_VALUE(
      keys.size() == values.size(), "multiSet keys and values vectors must be of same size, but got ", keys.size(),
      " keys and ", values.size(), " values");
  for (size_t i = 0; i < keys.size(); ++i) {
    set(keys[i], values[i]);
  }
}

bool Store::hasExtendedApi() const {
  return false;
}

void Store::queuePush(const std::string&, const std::vector<uint8_t>&) {
  C10_THROW_ERROR(NotImplementedError, "queue support is not implemented.");
}

std::vector<uint8_t> Store::queuePop(const std::string&, bool) {
  C10_THROW_ERROR(NotImplementedError, "queue support is not implemented.");
}

int64_t Store::queueLen(const std::string&) {
  C10_THROW_ERROR(NotImplementedError, "queue support is not implemented.");
}

std::vector<std::string> Store::listKeys() {
  C10_THROW_ERROR(NotImplementedError, "listKeys support is not implemented.");
}

void Store::barrier(const std::string& key, int64_t world_size, const std::chrono::milliseconds& timeout) {
  TORCH_CHECK_VALUE(world_size > 0, "barrier: world_size must be positive, but got ", world_size);
  const int64_t place = add(key + "/num_members", 1) - 1;
  // Each round has a name of its own, so that a barrier can be used again.
  const std::string complete = key + "/complete_" + std::to_string(place / world_size);
  if (place % world_size == world_size - 1) {
    set(complete, "1");
  }
  wait({complete}, timeout);
}

namespace detail {

std::chrono::steady_clock::time_point deadline_after(std::chrono::milliseconds timeout) {
  // A year is never, and cannot overflow.
  constexpr std::chrono::milliseconds never = std::chrono::hours(24 * 365);
  const bool unlimited = timeout == Store::kNoTimeout || timeout > never;
  return std::chrono::steady_clock::now() + (unlimited ? never : timeout);
}

int64_t add_to_text(const std::string& text, int64_t delta) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  TORCH_CHECK_VALUE(
      error == std::errc() && end == text.data() + text.size(), "add: the value of the key is not a number but ",
      text.size(), " bytes of something else");
  int64_t sum = 0;
  TORCH_CHECK_VALUE(!__builtin_add_overflow(number, delta, &sum), "add: ", number, " + ", delta, " is out of range");
  return sum;
}

std::string some_keys(const std::vector<std::string>& keys) {
  constexpr size_t shown = 8;
  std::string text;
  for (size_t i = 0; i < std::min(keys.size(), shown); ++i) {
    text += (i > 0 ? ", " : "") + keys[i];
  }
  return keys.size() > shown ? text + ", and " + std::to_string(keys.size() - shown) + " more" : text;
}

} // namespace detail
} // namespace c10d
