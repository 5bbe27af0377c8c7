#include <csrc/llm/cache_store.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::llm {

namespace {

using at::ScalarType;
using at::Tensor;

bool is_run(c10::ArrayRef<int64_t> slots) {
  for (size_t i = 1; i < slots.size(); ++i) {
    if (slots[i] != slots[i - 1] + 1) {
      return false;
    }
  }
  return true;
}

Tensor index_of(c10::ArrayRef<int64_t> slots, c10::Device device) {
  at::Tensor index = at::empty({static_cast<int64_t>(slots.size())}, at::kLong);
  std::copy(slots.begin(), slots.end(), index.mutable_data_ptr<int64_t>());
  return index.to(device);
}

// Blocks as rows.
Tensor rows_of(const Tensor& blocks) {
  return blocks.flatten(0, 1);
}

void write_rows(const Tensor& blocks, c10::ArrayRef<int64_t> slots, const Tensor& rows) {
  if (is_run(slots)) {
    rows_of(blocks).narrow(0, slots.front(), static_cast<int64_t>(slots.size())).copy_(rows);
  } else {
    rows_of(blocks).index_copy_(0, index_of(slots, blocks.device()), rows.to(blocks.scalar_type()));
  }
}

// The largest magnitude of each row becomes 127.
void write_quantized(const Tensor& blocks, const Tensor& scales, c10::ArrayRef<int64_t> slots, const Tensor& rows) {
  const Tensor wide = rows.to(at::kFloat);
  const Tensor scale = wide.abs().amax({-1}).div_(127);
  const Tensor inverse = at::where(scale > 0, scale.reciprocal(), at::zeros_like(scale));
  write_rows(blocks, slots, (wide * inverse.unsqueeze(-1)).round_().clamp_(-127, 127).to(at::kChar));
  write_rows(scales, slots, scale);
}

void write_side(const Tensor& blocks, const Tensor& scales, c10::ArrayRef<int64_t> slots, const Tensor& rows) {
  if (scales.defined()) {
    write_quantized(blocks, scales, slots, rows);
  } else if (blocks.scalar_type() == ScalarType::Float8_e4m3fn) {
    write_rows(blocks, slots, rows.to(at::kFloat).clamp(-448, 448).to(ScalarType::Float8_e4m3fn));
  } else {
    write_rows(blocks, slots, rows);
  }
}

} // namespace

LayerBlocks::LayerBlocks(const CacheLayout& layout, int64_t blocks, int64_t block_size) {
  const std::vector<int64_t> shape{blocks, block_size, layout.kv_heads, layout.head_dim};
  key = at::zeros(shape, at::TensorOptions(layout.dtype));
  value = at::zeros(shape, at::TensorOptions(layout.dtype));
  if (layout.dtype == ScalarType::Char) {
    const at::IntArrayRef rows = at::IntArrayRef(shape).slice(0, 3);
    key_scale = at::zeros(rows, at::TensorOptions(at::kFloat));
    value_scale = at::zeros(rows, at::TensorOptions(at::kFloat));
  }
}

std::vector<Tensor*> LayerBlocks::parts() {
  std::vector<Tensor*> all{&key, &value};
  if (key_scale.defined()) {
    all.insert(all.end(), {&key_scale, &value_scale});
  }
  return all;
}

int64_t LayerBlocks::nbytes() const {
  size_t bytes = key.nbytes() + value.nbytes();
  bytes += key_scale.defined() ? key_scale.nbytes() + value_scale.nbytes() : 0;
  return static_cast<int64_t>(bytes);
}

void LayerBlocks::write(c10::ArrayRef<int64_t> slots, const Tensor& keys, const Tensor& values) {
  if (!slots.empty()) {
    write_side(key, key_scale, slots, keys);
    write_side(value, value_scale, slots, values);
  }
}

LayerBlocks LayerBlocks::clone() const {
  LayerBlocks copy = *this;
  for (Tensor* const part : copy.parts()) {
    *part = part->clone();
  }
  return copy;
}

std::vector<Tensor> LayerBlocks::read_stored(c10::ArrayRef<int64_t> slots) const {
  std::vector<Tensor> rows;
  LayerBlocks blocks = *this;
  for (const Tensor* const part : blocks.parts()) {
    rows.push_back(rows_of(*part).index_select(0, index_of(slots, part->device())));
  }
  return rows;
}

void LayerBlocks::write_stored(c10::ArrayRef<int64_t> slots, const std::vector<Tensor>& rows) {
  const std::vector<Tensor*> all = parts();
  TORCH_CHECK(rows.size() == all.size(), "KVCache: ", rows.size(), " parts of a layer, expected ", all.size());
  for (size_t i = 0; i < all.size() && !slots.empty(); ++i) {
    write_rows(*all[i], slots, rows[i]);
  }
}

PagePool::PagePool(const CacheLayout& layout, int64_t blocks, int64_t block_size)
    : layout_(layout), block_size_(block_size) {
  TORCH_CHECK(
      blocks > 0 && block_size > 0, "PagePool: ", blocks, " blocks of ", block_size,
      " positions: both must be positive");
  for (size_t i = 0; i < layout.windows.size(); ++i) {
    layers_.emplace_back(layout, blocks, block_size);
  }
  counts_.resize(blocks);
  for (int64_t block = blocks - 1; block >= 0; --block) {
    free_.push_back(block);
  }
}

int64_t PagePool::free_blocks() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(free_.size());
}

int64_t PagePool::bytes_per_block() const {
  int64_t bytes = 0;
  for (const LayerBlocks& layer : layers_) {
    bytes += layer.nbytes() / num_blocks();
  }
  return bytes;
}

std::optional<int64_t> PagePool::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    return std::nullopt;
  }
  const int64_t block = free_.back();
  free_.pop_back();
  counts_[block] = 1;
  return block;
}

void PagePool::retain(int64_t block) {
  const std::lock_guard lock(mutex_);
  ++counts_[block];
}

void PagePool::release(int64_t block) {
  const std::lock_guard lock(mutex_);
  if (--counts_[block] == 0) {
    free_.push_back(block);
  }
}

bool PagePool::is_shared(int64_t block) const {
  const std::lock_guard lock(mutex_);
  return counts_[block] > 1;
}

void PagePool::copy(int64_t from, int64_t to) {
  for (LayerBlocks& layer : layers_) {
    for (Tensor* const part : layer.parts()) {
      part->select(0, to).copy_(part->select(0, from));
    }
  }
}

} // namespace torch::llm
