#include <csrc/data/datasets/byte_images.h>

#include <algorithm>
#include <utility>

namespace torch::data::datasets::detail {

namespace {

Tensor to_unit_range(const Tensor& bytes) {
  return bytes.to(at::kFloat).div_(255);
}

} // namespace

ByteImages::ByteImages(std::vector<Tensor> parts, Tensor targets)
    : parts_(std::move(parts)), targets_(std::move(targets)) {
  size_t end = 0;
  for (const Tensor& part : parts_) {
    end += static_cast<size_t>(part.size(0));
    ends_.push_back(end);
  }
  TORCH_INTERNAL_ASSERT(end == size(), "there are ", end, " images and ", size(), " labels");
}

Example<> ByteImages::get(const char* dataset, size_t index) const {
  TORCH_CHECK_INDEX(index < size(), dataset, ": index ", index, " is out of range for ", size(), " images");
  const auto part = std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin();
  const size_t inside = index - (part == 0 ? 0 : ends_[static_cast<size_t>(part) - 1]);
  const Tensor& images = parts_[static_cast<size_t>(part)];
  return {
      to_unit_range(images.select(0, static_cast<int64_t>(inside))), targets_.select(0, static_cast<int64_t>(index))};
}

const Tensor& ByteImages::images() const {
  std::call_once(made_images_, [this] { images_ = to_unit_range(parts_.size() == 1 ? parts_[0] : at::cat(parts_)); });
  return images_;
}

} // namespace torch::data::datasets::detail
