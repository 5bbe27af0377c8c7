#include <csrc/compile/layout.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace torch::fused {

int64_t Layout::numel() const {
  int64_t n = 1;
  for (const int64_t size : sizes) {
    n *= size;
  }
  return n;
}

int64_t Access::numel() const {
  int64_t n = 1;
  for (const Range& range : ranges) {
    n *= range.size;
  }
  return n;
}

int64_t Access::element(int64_t n) const {
  if (is_linear()) {
    return n + offset;
  }
  int64_t element = offset;
  for (size_t d = ranges.size(); d-- > 0;) {
    element += (d == 0 ? n : n % ranges[d].size) * ranges[d].stride;
    n /= ranges[d].size;
  }
  return element;
}

bool Access::is_linear() const {
  return ranges.empty() || (ranges.size() == 1 && ranges[0].stride == 1);
}

bool Access::is_uniform() const {
  return ranges.empty() || (ranges.size() == 1 && ranges[0].stride == 0);
}

bool Access::is_row_of(int64_t row) const {
  if (row == 1) {
    return is_linear();
  }
  if (ranges.size() == 1) {
    return ranges[0].stride == 0 && ranges[0].size == row;
  }
  return ranges.size() == 2 && ranges[0].stride == 1 && ranges[1].stride == 0 && ranges[1].size == row;
}

std::string Access::to_string() const {
  std::string text;
  if (is_linear()) {
    text = "linear";
  } else if (is_uniform()) {
    text = "uniform";
  } else {
    std::vector<int64_t> sizes, strides;
    for (const Range& range : ranges) {
      sizes.push_back(range.size);
      strides.push_back(range.stride);
    }
    text = fmt::format("[{} : {}]", fmt::join(sizes, ", "), fmt::join(strides, ", "));
  }
  return offset == 0 ? text : text + fmt::format(" + {}", offset);
}

Access Access::linear(int64_t numel) {
  Access access;
  if (numel != 1) {
    access.ranges.push_back({numel, 1});
  }
  return access;
}

Access Access::of(
    const std::vector<int64_t>& sizes,
    const std::vector<int64_t>& strides,
    const std::vector<size_t>& order,
    int64_t offset) {
  Access access;
  access.offset = offset;
  for (const size_t d : order) {
    if (sizes[d] == 1) {
      continue;
    }
    if (!access.ranges.empty() && access.ranges.back().stride == strides[d] * sizes[d]) {
      access.ranges.back() = {access.ranges.back().size * sizes[d], strides[d]};
    } else {
      access.ranges.push_back({sizes[d], strides[d]});
    }
  }
  return access;
}

std::optional<std::vector<size_t>> dense_order(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  std::vector<size_t> order;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != 1) {
      order.push_back(d);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return strides[a] > strides[b]; });
  int64_t dense = 1;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (strides[*it] != dense) {
      return std::nullopt;
    }
    dense *= sizes[*it];
  }
  return order;
}

std::vector<int64_t> broadcast_strides(const Layout& layout, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size(), 0);
  const size_t skipped = sizes.size() - layout.sizes.size();
  for (size_t d = 0; d < layout.sizes.size(); ++d) {
    strides[skipped + d] = layout.sizes[d] == 1 ? 0 : layout.strides[d];
  }
  return strides;
}

} // namespace torch::fused
