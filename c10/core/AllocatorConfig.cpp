#include <c10/core/AllocatorConfig.h>

#include <c10/util/Exception.h>
#include <c10/util/env.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

namespace c10::CachingAllocator {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The text up to a separator outside of brackets; takes it off `rest`.
std::string_view take_part(std::string_view& rest, char separator) {
  int depth = 0;
  size_t end = 0;
  for (; end < rest.size() && (rest[end] != separator || depth > 0); ++end) {
    depth += rest[end] == '[' ? 1 : rest[end] == ']' ? -1 : 0;
  }
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return trimmed(part);
}

template <class Number>
Number number(std::string_view key, std::string_view text, Number least, Number most) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  TORCH_CHECK_VALUE(
      error == std::errc() && end == text.data() + text.size() && value >= least && value <= most,
      "allocator settings: ", key, ":", text, " does not fit: it must be a number from ", least, " to ", most);
  return value;
}

size_t mebibytes(std::string_view key, std::string_view text, size_t least) {
  return number<size_t>(key, text, least, SIZE_MAX / kMiB) * kMiB;
}

bool parse_bool(std::string_view key, std::string_view text) {
  TORCH_CHECK_VALUE(
      text == "True" || text == "False", "allocator settings: ", key, ":", text,
      " does not fit: Expected 'True' or 'False'");
  return text == "True";
}

size_t interval_of(size_t bytes) {
  const auto log = static_cast<size_t>(std::bit_width(bytes | 1) - 1);
  return std::min(log < 20 ? 0 : log - 20, AllocatorSettings::kRoundingIntervals - 1);
}

size_t divisions(std::string_view key, std::string_view text) {
  const auto value = number<size_t>(key, text, 0, size_t{1} << 20);
  TORCH_CHECK_VALUE(
      value == 0 || std::has_single_bit(value), "allocator settings: ", key, ":", text,
      " does not fit: For roundups, the divisions has to be power of 2 or 0 to disable roundup");
  return value;
}

void parse_divisions(std::string_view key, std::string_view text, AllocatorSettings& settings) {
  auto& all = settings.roundup_power2_divisions;
  if (text.empty() || text.front() != '[') {
    all.fill(divisions(key, text));
    return;
  }
  TORCH_CHECK_VALUE(text.back() == ']', "allocator settings: ", key, ":", text, " does not fit: the list has no ]");
  text = text.substr(1, text.size() - 2);
  // An entry is for sizes from its own on to the next entry's; the first one also for all below.
  size_t from = 0;
  while (!text.empty()) {
    std::string_view entry = take_part(text, ',');
    const std::string_view size = take_part(entry, ':');
    const size_t value = divisions(key, trimmed(entry));
    if (size != ">") {
      const auto mib = number<size_t>(key, size, 1, size_t{1} << 20);
      TORCH_CHECK_VALUE(
          std::has_single_bit(mib), "allocator settings: ", key, ": size ", size,
          " does not fit: For roundups, the intervals have to be power of 2");
      const size_t interval = interval_of(mib * kMiB);
      from = from == 0 ? 0 : interval;
      std::fill(all.begin() + static_cast<std::ptrdiff_t>(from), all.end(), value);
      from = interval + 1;
    } else {
      std::fill(all.begin() + static_cast<std::ptrdiff_t>(std::min(from, all.size())), all.end(), value);
    }
  }
}

constexpr const char* kKeys =
    "backend, expandable_segments, max_split_size_mb, max_non_split_rounding_mb, large_segment_size_mb, "
    "garbage_collection_threshold, per_process_memory_fraction, roundup_power2_divisions";

/// Keys of PyTorch for what this allocator does in its own way: pinned memory, and a lock that it does not hold as
/// long.
bool has_no_effect(std::string_view key) {
  return key.substr(0, 7) == "pinned_" || key == "release_lock_on_cudamalloc" || key == "release_lock_on_hipmalloc" ||
      key == "graph_capture_record_stream_reuse";
}

void apply(std::string_view key, std::string_view value, AllocatorSettings& settings) {
  if (key == "backend") {
    TORCH_CHECK_VALUE(
        value == "native", "allocator settings: backend:", value,
        " is not there; there is: native. A program brings another "
        "by c10::cuda::CUDACachingAllocator::set() or torch::cuda::CUDAPluggableAllocator");
    settings.backend = std::string(value);
  } else if (key == "expandable_segments") {
    settings.expandable_segments = parse_bool(key, value);
  } else if (key == "max_split_size_mb") {
    settings.max_split_size = mebibytes(key, value, 21);
  } else if (key == "max_non_split_rounding_mb") {
    settings.max_non_split_rounding_size = mebibytes(key, value, 21);
  } else if (key == "large_segment_size_mb") {
    settings.large_segment_size = mebibytes(key, value, 20);
    TORCH_CHECK_VALUE(
        settings.large_segment_size % (2 * kMiB) == 0, "allocator settings: ", key, ":", value,
        " does not fit: it must be even");
  } else if (key == "garbage_collection_threshold") {
    settings.garbage_collection_threshold = number<double>(key, value, 0.0, 1.0);
  } else if (key == "per_process_memory_fraction") {
    settings.memory_fraction = number<double>(key, value, 0.0, 1.0);
  } else if (key == "roundup_power2_divisions") {
    parse_divisions(key, value, settings);
  } else {
    TORCH_CHECK_VALUE(
        has_no_effect(key), "Unrecognized key '", key, "' in Accelerator allocator config. Known keys: ", kKeys);
    TORCH_WARN_ONCE("allocator settings: ", key, " has no effect here");
  }
}

struct Current {
  std::mutex mutex;
  std::string text;
  AllocatorSettings settings;
  std::vector<std::function<void(const AllocatorSettings&)>> listeners;
};

Current& current() {
  static auto* const state = [] {
    const std::optional<std::string> own = utils::get_env("PYTORCH_ALLOC_CONF");
    auto made = std::make_unique<Current>();
    made->text = own ? *own : utils::get_env("PYTORCH_CUDA_ALLOC_CONF").value_or("");
    made->settings = parse_allocator_settings(made->text);
    return made.release();
  }();
  return *state;
}

} // namespace

size_t AllocatorSettings::divisions_for(size_t bytes) const {
  return roundup_power2_divisions[interval_of(bytes)];
}

AllocatorSettings parse_allocator_settings(const std::string& text) {
  AllocatorSettings settings;
  std::string_view rest = text;
  while (!trimmed(rest).empty()) {
    std::string_view pair = take_part(rest, ',');
    const std::string_view key = take_part(pair, ':');
    TORCH_CHECK_VALUE(
        !trimmed(pair).empty(), "allocator settings: '", key, "' has no value; the form is key:value,key:value");
    apply(key, trimmed(pair), settings);
  }
  return settings;
}

AllocatorSettings AcceleratorAllocatorConfig::settings() {
  Current& state = current();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.settings;
}

std::string AcceleratorAllocatorConfig::last_allocator_settings() {
  Current& state = current();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.text;
}

std::vector<size_t> AcceleratorAllocatorConfig::roundup_power2_divisions() {
  const AllocatorSettings now = settings();
  return {now.roundup_power2_divisions.begin(), now.roundup_power2_divisions.end()};
}

void setAllocatorSettings(const std::string& env) {
  const AllocatorSettings settings = parse_allocator_settings(env);
  Current& state = current();
  std::vector<std::function<void(const AllocatorSettings&)>> listeners;
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    state.text = env;
    state.settings = settings;
    listeners = state.listeners;
  }
  for (const auto& listener : listeners) {
    listener(settings);
  }
}

std::string getAllocatorSettings() {
  return AcceleratorAllocatorConfig::last_allocator_settings();
}

void on_allocator_settings(std::function<void(const AllocatorSettings&)> listener) {
  Current& state = current();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.listeners.push_back(std::move(listener));
}

} // namespace c10::CachingAllocator
