#include <aten/native/onednn/matmul.h>

#include <aten/core/Context.h>
#include <aten/native/onednn/Primitive.h>
#include <aten/native/onednn/Version.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <string_view>

namespace at::native::onednn {
namespace {

/// A primitive ready to run, or the memory that there is none (`fast` false).
struct MatmulPrimitive {
  dnnl::matmul primitive;
  dnnl::memory::desc a, b, bias, c, scratchpad;
  bool fast = false;
};

PrimitiveKey key_of(const Matmul& p, bool has_bias) {
  PrimitiveKey key;
  key.add(int64_t(p.dtype) | int64_t(has_bias) << 8);
  for (const int64_t size : {p.batch, p.m, p.n, p.k}) key.add(size);
  for (const auto* strides : {p.a_strides, p.b_strides, p.c_strides}) {
    for (int i = p.batch == 1 ? 1 : 0; i < 3; ++i) key.add(strides[i]);
  }
  key.add(double(p.alpha));
  key.add(double(p.beta));
  return key;
}

dnnl::memory::desc describe(const Matmul& p, int64_t rows, int64_t cols, const int64_t* strides) {
  const auto type = data_type_of(p.dtype);
  if (p.batch == 1) return {{rows, cols}, type, {strides[1], strides[2]}};
  // A repeated matrix (stride 0) is a batch of one that oneDNN broadcasts.
  if (strides[0] == 0) return {{1, rows, cols}, type, {rows * cols, strides[1], strides[2]}};
  return {{p.batch, rows, cols}, type, {strides[0], strides[1], strides[2]}};
}

std::shared_ptr<const MatmulPrimitive> make_matmul(const Matmul& p, bool has_bias) {
  auto made = std::make_shared<MatmulPrimitive>();
  made->a = describe(p, p.m, p.k, p.a_strides);
  made->b = describe(p, p.k, p.n, p.b_strides);
  made->c = describe(p, p.m, p.n, p.c_strides);
  if (has_bias) {
    const auto type = data_type_of(p.dtype);
    made->bias = p.batch == 1 ? dnnl::memory::desc({1, p.n}, type, dnnl::memory::dims{p.n, 1})
                              : dnnl::memory::desc({1, 1, p.n}, type, dnnl::memory::dims{p.n, p.n, 1});
  }
  dnnl::primitive_attr attr = primitive_attributes();
  dnnl::post_ops ops;
  if (p.alpha != 1) add_scale(attr, ops, p.alpha);
  if (p.beta != 0) ops.append_sum(p.beta);
  attr.set_post_ops(ops);
  try {
    const auto desc = matmul_desc(cpu_engine(), made->a, made->b, made->bias, made->c, attr);
    if (std::string_view(desc.impl_info_str()).find("ref") != std::string_view::npos) return made;
    made->primitive = dnnl::matmul(desc);
    made->scratchpad = desc.scratchpad_desc();
    made->fast = true;
  } catch (const dnnl::error&) {
    // Not implemented for this CPU: the caller has own kernels.
  }
  return made;
}

PrimitiveCache<MatmulPrimitive>& shared_cache() {
  static auto* cache = new PrimitiveCache<MatmulPrimitive>(kMatmulCacheCapacity);
  return *cache;
}

/// A thread's own memory objects for a primitive, so that their pointers can be set without a lock.
struct Slot {
  PrimitiveKey key;
  std::shared_ptr<const MatmulPrimitive> found;
  dnnl::memory a, b, bias, c;

  void bind(const PrimitiveKey& new_key, std::shared_ptr<const MatmulPrimitive> primitive) {
    key = new_key;
    found = std::move(primitive);
    if (!found->fast) return;
    const auto memory = [](const dnnl::memory::desc& desc) { return dnnl::memory(desc, cpu_engine(), DNNL_MEMORY_NONE); };
    a = memory(found->a);
    b = memory(found->b);
    c = memory(found->c);
    bias = memory(found->bias);
  }
};

constexpr size_t kSlots = 64;

} // namespace

namespace {

/// The calling thread's memory objects for a problem; null when there is no fast primitive.
Slot* find_slot(const Matmul& problem, bool has_bias) {
  thread_local const std::unique_ptr<Slot[]> slots(new Slot[kSlots]);
  const PrimitiveKey key = key_of(problem, has_bias);
  Slot& slot = slots[key.hash() % kSlots];
  if (!slot.found || !(slot.key == key)) {
    slot.bind(key, shared_cache().get(key, [&] { return make_matmul(problem, has_bias); }));
  }
  return slot.found->fast ? &slot : nullptr;
}

/// Runs a whole problem or a part of one on the calling thread.
void run(const Matmul& problem, const void* a, const void* b, void* c, const void* bias) {
  Slot& slot = *find_slot(problem, bias != nullptr);
  // oneDNN takes pointers to mutable data for all arguments; it only writes to dst.
  dnnl_memory_set_data_handle(slot.a.get(), const_cast<void*>(a));
  dnnl_memory_set_data_handle(slot.b.get(), const_cast<void*>(b));
  dnnl_memory_set_data_handle(slot.c.get(), c);
  dnnl_exec_arg_t args[5] = {
      {DNNL_ARG_SRC, slot.a.get()}, {DNNL_ARG_WEIGHTS, slot.b.get()}, {DNNL_ARG_DST, slot.c.get()}, {}};
  int count = 3;
  if (bias != nullptr) {
    dnnl_memory_set_data_handle(slot.bias.get(), const_cast<void*>(bias));
    args[count++] = {DNNL_ARG_BIAS, slot.bias.get()};
  }
  const Scratchpad scratchpad(slot.found->scratchpad);
  if (scratchpad) args[count++] = {DNNL_ARG_SCRATCHPAD, scratchpad.memory().get()};
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(slot.found->primitive.get(), cpu_stream().get(), count, args), "could not execute a primitive");
}

/// A problem cut along one dimension, so that threads can work on the parts beside each other.
class Cut {
 public:
  explicit Cut(const Matmul& p) : problem_(p) {
    const int threads = at::in_parallel_region() ? 1 : at::get_num_threads();
    if (threads == 1 || p.batch * p.m * p.n * p.k < kWorthThreads) return;
    if (p.batch >= threads) {
      along(Dim::Batch, p.batch, threads, 1);
    } else if (p.m >= p.n) {
      along(Dim::M, p.m, threads, kLeast);
    } else {
      along(Dim::N, p.n, threads, kLeast);
    }
  }

  /// Length of the dimension that is cut, and of a part; the last part may be shorter.
  int64_t length() const { return length_; }
  int64_t part_length() const { return part_; }

  Matmul part(int64_t count) const {
    Matmul part = problem_;
    (dim_ == Dim::Batch ? part.batch : dim_ == Dim::M ? part.m : part.n) = count;
    return part;
  }
  // Where a part begins in each operand, in elements.
  int64_t in_a(int64_t first) const { return first * (dim_ == Dim::Batch ? problem_.a_strides[0] : dim_ == Dim::M ? problem_.a_strides[1] : 0); }
  int64_t in_b(int64_t first) const { return first * (dim_ == Dim::Batch ? problem_.b_strides[0] : dim_ == Dim::N ? problem_.b_strides[2] : 0); }
  int64_t in_c(int64_t first) const { return first * problem_.c_strides[dim_ == Dim::Batch ? 0 : dim_ == Dim::M ? 1 : 2]; }
  int64_t in_bias(int64_t first) const { return dim_ == Dim::N ? first : 0; }

 private:
  enum class Dim : int8_t { Batch, M, N };
  /// Multiply-adds, and rows or columns of a part, from which a second thread pays.
  static constexpr int64_t kWorthThreads = 1 << 20;
  static constexpr int64_t kLeast = 16;

  void along(Dim dim, int64_t length, int threads, int64_t least) {
    dim_ = dim;
    length_ = length;
    // In multiples of 16 where it is long enough, as the kernels' tiles are.
    const int64_t step = dim == Dim::Batch ? 1 : kLeast;
    part_ = std::max(least, at::divup(at::divup(length, threads), step) * step);
  }

  const Matmul& problem_;
  Dim dim_ = Dim::M;
  int64_t length_ = problem_.m, part_ = problem_.m;
};

} // namespace

bool matmul(const Matmul& problem, const void* a, const void* b, void* c, const void* bias) try {
  if (!at::globalContext().userEnabledMkldnn()) return false;
  const OneThread one_thread;
  const Cut cut(problem);
  // There must be a primitive for each part before one is run.
  const int64_t rest = cut.length() % cut.part_length();
  if (find_slot(cut.part(std::min(cut.part_length(), cut.length())), bias != nullptr) == nullptr) return false;
  if (rest != 0 && rest != cut.length() && find_slot(cut.part(rest), bias != nullptr) == nullptr) return false;
  const auto itemsize = static_cast<int64_t>(c10::elementSize(problem.dtype));
  const auto from = [itemsize](const void* data, int64_t elements) { return static_cast<const char*>(data) + elements * itemsize; };
  at::parallel_for(0, at::divup(cut.length(), cut.part_length()), 1, [&](int64_t first_part, int64_t last_part) {
    const OneThread each_alone;
    for (int64_t i = first_part; i < last_part; ++i) {
      const int64_t first = i * cut.part_length();
      run(cut.part(std::min(cut.part_length(), cut.length() - first)), from(a, cut.in_a(first)), from(b, cut.in_b(first)),
          const_cast<char*>(from(c, cut.in_c(first))), bias == nullptr ? nullptr : from(bias, cut.in_bias(first)));
    }
  });
  return true;
} catch (const dnnl::error& failure) {
  raise("matmul", failure);
}

size_t matmul_cache_size() {
  return shared_cache().size();
}

} // namespace at::native::onednn
