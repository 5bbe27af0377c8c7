#include <csrc/func/batch_dims.h>

#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::func {

using capture::Shape;

namespace {

size_t count_leaves(const Shape& shape) {
  size_t count = shape.kind == Shape::Kind::Leaf ? 1 : 0;
  for (const Shape& child : shape.children) {
    count += count_leaves(child);
  }
  return count;
}

} // namespace

BatchDims BatchDims::named(const std::map<std::string, BatchDims>& entries) {
  BatchDims dims(std::vector<BatchDims>{});
  for (const auto& [key, entry] : entries) {
    dims.keys_.push_back(key);
    dims.entries_.push_back(entry);
  }
  return dims;
}

void BatchDims::add_to(
    std::vector<std::optional<int64_t>>& dims, const Shape& shape, const char* what, const char* of) const {
  if (is_for_all_) {
    dims.insert(dims.end(), count_leaves(shape), dim_);
    return;
  }
  const bool is_sequence = shape.kind == Shape::Kind::Tuple || shape.kind == Shape::Kind::List;
  TORCH_CHECK_VALUE(
      is_sequence ? keys_.empty() : shape.kind == Shape::Kind::Dict && keys_.size() == entries_.size(), "vmap: ", what,
      " is not compatible with the structure of `", of, "`: ",
      keys_.empty() ? "a list of entries stands where there is no tuple or vector"
                    : "entries by name stand where there is no dict");
  TORCH_CHECK_VALUE(
      entries_.size() == shape.children.size(), "vmap: ", what, " is not compatible with the structure of `", of, "`. ",
      what, " has ", entries_.size(), " entries, but there are ", shape.children.size());
  for (size_t i = 0; i < shape.children.size(); ++i) {
    size_t entry = i;
    if (!is_sequence) {
      entry = static_cast<size_t>(std::find(keys_.begin(), keys_.end(), shape.keys[i]) - keys_.begin());
      TORCH_CHECK_VALUE(
          entry < keys_.size(), "vmap: ", what, " is not compatible with the structure of `", of,
          "`: it has no entry for '", shape.keys[i], "'");
    }
    entries_[entry].add_to(dims, shape.children[i], what, of);
  }
}

std::vector<std::optional<int64_t>> BatchDims::of_leaves(const Shape& shape, const char* what, const char* of) const {
  std::vector<std::optional<int64_t>> dims;
  add_to(dims, shape, what, of);
  return dims;
}

std::vector<std::optional<int64_t>> BatchDims::of_results(const Shape& shape) const {
  const bool is_sequence = shape.kind == Shape::Kind::Tuple || shape.kind == Shape::Kind::List;
  const bool is_list_of_one = !is_for_all_ && keys_.empty() && entries_.size() == 1 && !is_sequence;
  return (is_list_of_one ? entries_[0] : *this).of_leaves(shape, "out_dims", "outputs");
}

} // namespace torch::func
