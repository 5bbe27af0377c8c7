// What backends need again and again.
#include <csrc/compat/distributed/Utils.h>

#include <algorithm>
#include <charconv>

namespace c10d {

size_t getTensorsNumel(const std::vector<at::Tensor>& tensors) {
  size_t numel = 0;
  for (const auto& tensor : tensors) {
    numel += static_cast<size_t>(tensor.numel());
  }
  return numel;
}

std::vector<at::Tensor> getTensorShapes(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> shapes;
  for (const auto& tensor : tensors) {
    shapes.push_back(at::empty({tensor.dim()}, at::kLong));
    std::copy(tensor.sizes().begin(), tensor.sizes().end(), shapes.back().data_ptr<int64_t>());
  }
  return shapes;
}

void getGlobalRankStartAndStride(
    const std::vector<uint64_t>& globalRanksInGroup, int& globalRankStart, int& globalRankStride) {
  globalRankStart = globalRanksInGroup.empty() ? 0 : static_cast<int>(globalRanksInGroup[0]);
  globalRankStride = 1;
  for (size_t i = 1; i < globalRanksInGroup.size(); ++i) {
    const int step = static_cast<int>(globalRanksInGroup[i]) - static_cast<int>(globalRanksInGroup[i - 1]);
    if (i == 1) {
      globalRankStride = step;
    } else if (step != globalRankStride) {
      globalRankStart = -1;
      globalRankStride = 0;
      return;
    }
  }
}

namespace {
// The value, and the name that has it.
std::optional<std::pair<std::string, std::string>> first_set(const std::vector<std::string>& env) {
  TORCH_CHECK(!env.empty(), "No environment variables passed");
  for (const auto& name : env) {
    if (auto value = c10::utils::get_env(name.c_str())) {
      if (name != env[0]) {
        TORCH_WARN_ONCE("Environment variable ", name, " is deprecated; use ", env[0], " instead");
      }
      return std::pair(*value, name);
    }
  }
  return std::nullopt;
}
} // namespace

std::string getCvarString(const std::vector<std::string>& env, const char* def) {
  const auto found = first_set(env);
  return found ? found->first : def;
}

int getCvarInt(const std::vector<std::string>& env, int def) {
  const auto found = first_set(env);
  if (!found) {
    return def;
  }
  const std::string& text = found->first;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  TORCH_CHECK(
      error == std::errc() && end == text.data() + text.size(),
      "Invalid value for environment variable: ", found->second, ": '", text, "' is not a number");
  return value;
}

bool getCvarBool(const std::vector<std::string>& env, bool def) {
  const auto found = first_set(env);
  if (!found) {
    return def;
  }
  std::string text = found->first;
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto is = [&](std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(), [&](const char* word) { return text == word; });
  };
  const bool yes = is({"y", "yes", "1", "t", "true"});
  TORCH_CHECK(
      yes || is({"n", "no", "0", "f", "false"}), "Invalid value for environment variable: ", found->second, ": '",
      found->first, "' is neither yes nor no");
  return yes;
}

} // namespace c10d
