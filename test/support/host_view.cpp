#include "test/support/host_view.h"

#include <algorithm>

namespace test {

namespace {

const std::byte* storage_bytes(const at::Tensor& tensor) {
  return static_cast<const std::byte*>(tensor.storage().data_ptr().get());
}

} // namespace

std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t step = 1;
  for (size_t d = sizes.size(); d > 0; --d) {
    strides[d - 1] = step;
    step *= std::max<int64_t>(sizes[d - 1], 1);
  }
  return strides;
}

std::string show(c10::IntArrayRef ints) {
  std::string out = "[";
  for (size_t i = 0; i < ints.size(); ++i) {
    out += (i == 0 ? "" : ", ") + std::to_string(ints[i]);
  }
  return out + "]";
}

std::string show_position(int64_t position, c10::IntArrayRef sizes) {
  std::vector<int64_t> index(sizes.size());
  for (size_t d = sizes.size(); d > 0; --d) {
    index[d - 1] = position % sizes[d - 1];
    position /= sizes[d - 1];
  }
  return show(index);
}

HostView::HostView(const at::Tensor& tensor)
    : host_(tensor.device().is_cpu() ? tensor : tensor.detach().to(c10::Device(c10::DeviceType::CPU))),
      type_(host_.scalar_type()),
      item_size_(static_cast<int64_t>(dtype_info(type_).item_size)),
      dense_(host_.is_contiguous()) {
  if (host_.numel() != 0 && host_.has_storage() && storage_bytes(host_) != nullptr) {
    base_ = storage_bytes(host_) + host_.storage_offset() * item_size_;
  }
}

const std::byte* HostView::at(int64_t position) const {
  if (dense_) {
    return base_ + position * item_size_;
  }
  const c10::IntArrayRef sizes = host_.sizes();
  const c10::IntArrayRef strides = host_.strides();
  int64_t index = 0;
  for (size_t d = sizes.size(); d > 0; --d) {
    index += position % sizes[d - 1] * strides[d - 1];
    position /= sizes[d - 1];
  }
  return base_ + index * item_size_;
}

std::complex<double> HostView::number(int64_t position) const {
  if (base_ == nullptr) {
    return 0;
  }
  std::complex<double> value = read_number(type_, at(position));
  if (host_.is_neg()) {
    value = -value;
  }
  return host_.is_conj() ? std::conj(value) : value;
}

int64_t HostView::integer(int64_t position) const {
  return base_ == nullptr ? 0 : read_integer(type_, at(position));
}

} // namespace test
