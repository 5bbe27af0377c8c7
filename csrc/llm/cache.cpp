#include <csrc/llm/cache.h>

#include <aten/Functions.h>
#include <aten/core/tensor_literal.h>
#include <aten/parallel/Parallel.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::llm {

namespace {

void check_options(const CacheLayout& layout, const CacheOptions& options) {
  TORCH_CHECK(
      options.capacity > 0 && options.block_size > 0 && options.chunk > 0, "KVCache: capacity ", options.capacity,
      ", block_size ", options.block_size, " and chunk ", options.chunk, " must be positive");
  const at::ScalarType dtype = options.dtype.value_or(layout.dtype);
  TORCH_CHECK(
      dtype == at::kFloat || dtype == at::kBFloat16 || dtype == at::kHalf || dtype == at::kChar ||
          dtype == at::ScalarType::Float8_e4m3fn,
      "KVCache: dtype ", dtype, " is not supported; supported: float32, bfloat16, float16, int8, float8_e4m3fn");
}

at::Tensor index_tensor(const std::vector<int64_t>& values) {
  return at::tensor(values, at::TensorOptions(at::kLong));
}

} // namespace

KVCache::KVCache(CacheLayout layout, const CacheOptions& options)
    : layout_(std::move(layout)), kind_(options.kind), chunk_(options.chunk) {
  check_options(layout_, options);
  layout_.dtype = options.dtype.value_or(layout_.dtype);
  if (kind_ == CacheKind::Paged) {
    pool_ = std::make_shared<PagePool>(layout_, at::divup(options.capacity, options.block_size), options.block_size);
    return;
  }
  for (int64_t layer = 0; layer < num_layers(); ++layer) {
    layers_.emplace_back(layout_, 1, is_ring(layer) ? ring_size(layer) : options.capacity);
  }
}

KVCache::KVCache(std::shared_ptr<PagePool> pool)
    : layout_(pool->layout()), kind_(CacheKind::Paged), pool_(std::move(pool)) {}

KVCache::~KVCache() {
  drop_pages(0);
}

KVCache::KVCache(KVCache&& other) noexcept
    : layout_(std::move(other.layout_)),
      kind_(other.kind_),
      chunk_(other.chunk_),
      length_(other.length_),
      reached_(other.reached_),
      layers_(std::move(other.layers_)),
      pool_(std::move(other.pool_)),
      pages_(std::move(other.pages_)) {
  other.pages_.clear();
}

KVCache& KVCache::operator=(KVCache&& other) noexcept {
  if (this != &other) {
    drop_pages(0);
    layout_ = std::move(other.layout_);
    kind_ = other.kind_;
    chunk_ = other.chunk_;
    length_ = other.length_;
    reached_ = other.reached_;
    layers_ = std::move(other.layers_);
    pool_ = std::move(other.pool_);
    pages_ = std::move(other.pages_);
    other.pages_.clear();
  }
  return *this;
}

int64_t KVCache::max_append() const {
  const bool has_ring = kind_ == CacheKind::Ring &&
      std::any_of(layout_.windows.begin(), layout_.windows.end(), [](int64_t window) { return window > 0; });
  return has_ring ? chunk_ : std::numeric_limits<int64_t>::max();
}

int64_t KVCache::bytes() const {
  if (pool_) {
    return static_cast<int64_t>(pages_.size()) * pool_->bytes_per_block();
  }
  int64_t bytes = 0;
  for (const LayerBlocks& layer : layers_) {
    bytes += layer.nbytes();
  }
  return bytes;
}

void KVCache::grow(int64_t positions) {
  for (int64_t i = 0; i < num_layers(); ++i) {
    LayerBlocks& layer = layers_[i];
    if (is_ring(i) || layer.block_size() >= positions) {
      continue;
    }
    LayerBlocks wider(layout_, 1, std::max(positions, 2 * layer.block_size()));
    const std::vector<at::Tensor*> from = layer.parts(), to = wider.parts();
    for (size_t part = 0; part < from.size(); ++part) {
      to[part]->narrow(1, 0, length_).copy_(from[part]->narrow(1, 0, length_));
    }
    layer = std::move(wider);
  }
}

void KVCache::take_pages(int64_t positions) {
  const size_t before = pages_.size();
  pages_.reserve(static_cast<size_t>(pool_->num_blocks())); // decoding takes no memory as it grows
  while (static_cast<int64_t>(pages_.size()) * pool_->block_size() < positions) {
    const std::optional<int64_t> page = pool_->take();
    if (!page) {
      drop_pages(before);
      TORCH_CHECK_WITH(
          OutOfMemoryError, false, "KVCache: no page is free in a pool of ", pool_->num_blocks(), " pages of ",
          pool_->block_size(), " positions: let other sequences end, or make the pool larger");
    }
    pages_.push_back(*page);
  }
}

// A page with room that others see too must not be written to.
void KVCache::own_last_page() {
  const int64_t index = length_ / pool_->block_size();
  if (length_ % pool_->block_size() == 0 || !pool_->is_shared(pages_[index])) {
    return;
  }
  const std::optional<int64_t> page = pool_->take();
  TORCH_CHECK_WITH(
      OutOfMemoryError, page.has_value(), "KVCache: no page is free for a copy of a shared one, in a pool of ",
      pool_->num_blocks(), " pages: let other sequences end, or make the pool larger");
  pool_->copy(pages_[index], *page);
  pool_->release(pages_[index]);
  pages_[index] = *page;
}

void KVCache::drop_pages(size_t kept) {
  while (pages_.size() > kept) {
    pool_->release(pages_.back());
    pages_.pop_back();
  }
}

void KVCache::reserve(int64_t tokens) {
  TORCH_CHECK(tokens >= 0, "KVCache: cannot append ", tokens, " positions");
  TORCH_CHECK(
      tokens <= max_append(), "KVCache: a ring takes ", chunk_, " positions at once, got ", tokens,
      ": append them in parts, or give CacheOptions::chunk");
  if (pool_) {
    if (tokens > 0) {
      own_last_page();
    }
    take_pages(length_ + tokens);
  } else {
    grow(length_ + tokens);
  }
  reached_ = length_ + tokens;
}

void KVCache::append_slots(int64_t layer, int64_t first, int64_t count, c10::SmallVectorImpl<int64_t>& slots) const {
  const std::vector<int64_t>& blocks_of_layer = table(layer);
  const int64_t size = blocks(layer).block_size(), width = static_cast<int64_t>(blocks_of_layer.size());
  for (int64_t position = first; position < first + count; ++position) {
    slots.push_back(blocks_of_layer[position / size % width] * size + position % size);
  }
}

std::vector<int64_t> KVCache::slots(int64_t layer, int64_t first, int64_t count) const {
  c10::SmallVector<int64_t, 64> found;
  append_slots(layer, first, count, found);
  return std::vector<int64_t>(found.begin(), found.end());
}

const std::vector<int64_t>& KVCache::table(int64_t) const {
  static const std::vector<int64_t> kOne{0};
  return pool_ ? pages_ : kOne;
}

LayerBlocks& KVCache::blocks(int64_t layer) {
  return pool_ ? pool_->layer(layer) : layers_[layer];
}

const LayerBlocks& KVCache::blocks(int64_t layer) const {
  return pool_ ? pool_->layer(layer) : layers_[layer];
}

void KVCache::advance(int64_t tokens) {
  TORCH_CHECK(
      length_ + tokens <= reached_, "KVCache: a step of ", tokens, " positions has room for ", reached_ - length_);
  length_ += tokens;
  reached_ = length_;
}

void KVCache::place(int64_t length) {
  TORCH_CHECK(length_ == 0 && length >= 0, "KVCache: only an empty cache takes rows at once");
  if (pool_) {
    take_pages(length);
  } else {
    grow(length);
  }
  length_ = reached_ = length;
}

void KVCache::append(int64_t layer, const at::Tensor& keys, const at::Tensor& values) {
  TORCH_CHECK(layer >= 0 && layer < num_layers(), "KVCache: layer ", layer, " is out of range [0, ", num_layers(), ")");
  const bool fits = keys.dim() == 3 && keys.size(1) == layout_.kv_heads && keys.size(2) == layout_.head_dim &&
      keys.sizes() == values.sizes();
  TORCH_CHECK(
      fits, "KVCache: keys ", keys.sizes(), " and values ", values.sizes(), ": both must be (tokens, ",
      layout_.kv_heads, ", ", layout_.head_dim, ")");
  const int64_t tokens = keys.size(0);
  if (layer == 0) {
    reserve(tokens);
  }
  TORCH_CHECK(
      tokens == reached_ - length_, "KVCache: layer ", layer, " gets ", tokens, " positions, but layer 0 has got ",
      reached_ - length_, ": a step appends as many to each layer, in order");
  blocks(layer).write(slots(layer, length_, tokens), keys, values);
  if (layer + 1 == num_layers()) {
    advance(tokens);
  }
}

at::Tensor KVCache::attend(int64_t layer, const at::Tensor& queries, AttentionOptions options) const {
  const LayerBlocks& stored = blocks(layer);
  const int64_t tokens = queries.size(0);
  // The last layer's append has completed the step.
  const int64_t reached = std::max(reached_, length_);
  const std::vector<int64_t>& pages = table(layer);
  if (stored.key_scale.defined()) {
    options.key_scales = stored.key_scale;
    options.value_scales = stored.value_scale;
  }
  options.window = layout_.windows[layer];
  return paged_attention(
      queries, stored.key, stored.value, index_tensor(pages).unsqueeze(0), index_tensor({reached}),
      index_tensor({0, tokens}), options);
}

int64_t KVCache::first_kept(int64_t layer) const {
  return is_ring(layer) ? std::max<int64_t>(0, length_ - ring_size(layer)) : 0;
}

void KVCache::truncate(int64_t length) {
  TORCH_CHECK(
      length >= 0 && length <= length_, "KVCache: cannot truncate to ", length, ": the cache has ", length_,
      " positions");
  for (int64_t layer = 0; layer < num_layers() && length < length_; ++layer) {
    const int64_t seen = std::max<int64_t>(0, length - layout_.windows[layer] + 1);
    TORCH_CHECK(
        first_kept(layer) <= seen || length == 0, "KVCache: cannot truncate a ring from ", length_, " to ", length,
        ": layer ", layer, " has overwritten positions before ", first_kept(layer), ", and needs those from ", seen);
  }
  length_ = reached_ = length;
  if (pool_) {
    drop_pages(at::divup(length, pool_->block_size()));
  }
}

KVCache KVCache::fork() const {
  if (pool_) {
    KVCache copy(pool_);
    const auto used = at::divup(length_, pool_->block_size());
    copy.pages_.assign(pages_.begin(), pages_.begin() + used);
    for (const int64_t page : copy.pages_) {
      pool_->retain(page);
    }
    copy.length_ = copy.reached_ = length_;
    return copy;
  }
  CacheOptions options;
  options.kind = kind_;
  options.chunk = chunk_;
  options.capacity = 1;
  KVCache copy(layout_, options);
  for (int64_t layer = 0; layer < num_layers(); ++layer) {
    copy.layers_[layer] = layers_[layer].clone();
  }
  copy.length_ = copy.reached_ = length_;
  return copy;
}

} // namespace torch::llm
