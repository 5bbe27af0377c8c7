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
  for (const int64_t size : {p.batch, p.m, p.n, p.k}) {
    key.add(size);
  }
  for (const auto* strides : {p.a_strides, p.b_strides, p.c_strides}) {
    for (int i = p.batch == 1 ? 1 : 0; i < 3; ++i) {
      key.add(strides[i]);
    }
  }
  key.add(double(p.alpha));
  key.add(double(p.beta));
  return key;
}

dnnl::memory::desc describe(const Matmul& p, int64_t rows, int64_t cols, const int64_t* strides) {
  const auto type = data_type_of(p.dtype);
  if (p.batch == 1) {
    return {{rows, cols}, type, {strides[1], strides[2]}};
  }
  // A repeated matrix (stride 0) is a batch of one that oneDNN broadcasts.
  if (strides[0] == 0) {
    return {{1, rows, cols}, type, {rows * cols, strides[1], strides[2]}};
  }
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
  if (p.alpha != 1) {
    add_scale(attr, ops, p.alpha);
  }
  if (p.beta != 0) {
    ops.append_sum(p.beta);
  }
  attr.set_post_ops(ops);
  try {
    const auto desc = matmul_desc(cpu_engine(), made->a, made->b, made->bias, made->c, attr);
    if (std::string_view(desc.impl_info_str()).find("ref") != std::string_view::npos) {
      return made;
    }
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
    if (!found->fast) {
      return;
    }
    const auto memory = [](const dnnl::memory::desc& desc) {
      return dnnl::memory(desc, cpu_engine(), DNNL_MEMORY_NONE);
    };
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
  if (scratchpad) {
    args[count++] = {DNNL_ARG_SCRATCHPAD, scratchpad.memory().get()};
  }
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(slot.found->primitive.get(), cpu_stream().get(), count, args),
      "could not execute a primitive");
}

// Note [Parts of a product]
// Threads of the library take parts of a product, and bits of results must not depend on how many threads there are.
// oneDNN sums over k in an order that depends on where an element lies in a tile, on the way it chooses by the sizes of
// the problem (operands copied to tiles or read where they are), and on blocks of k. So
// - parts begin at a multiple of what tiles of both ways have: 16 columns, and 16 rows, or 96 where AVX2 is the best
//   there is. No part is shorter than that, as single rows and columns are products of a vector;
// - with AVX2, of a product so large that operands are copied no part is so small that they are not;
// - with AVX-512, where both ways agree for 16 rows and more as long as k is one block, oneDNN gets k in blocks.
// - products of bfloat16, whose sums must not be rounded in between, are cut alike for any number of threads instead,
//   and so are all of them on processors with AMX, where oneDNN chooses kernels by the number of columns;
// - matrices of a batch that lie one after the other and share the right factor are one matrix to oneDNN, and so here.
// test/aten/threads_test.cpp holds it. The limits are facts about oneDNN 2.6; later versions keep these kernels.

/// Instruction sets by how oneDNN's products go.
enum class Way : uint8_t { Sse, Avx2, Avx512 };

/// Whether oneDNN's code is made for processors that have this.
bool has_isa(dnnl::cpu_isa level) {
  const auto isa = static_cast<unsigned>(effective_cpu_isa());
  return (isa & static_cast<unsigned>(level)) == static_cast<unsigned>(level);
}

Way way() {
  static const Way found = has_isa(dnnl::cpu_isa::avx512_core) ? Way::Avx512
      : has_isa(dnnl::cpu_isa::avx)                            ? Way::Avx2
                                                               : Way::Sse;
  return found;
}

/// Whether products of bfloat16 with few terms are summed by kernels that are chosen by the number of columns.
bool has_kernels_by_columns() {
  static const bool found = has_isa(dnnl::cpu_isa::avx512_core_amx);
  return found;
}

/// Terms of a sum that both ways add in one order.
constexpr int64_t kTermBlock = 384;

/// A problem cut along one dimension, so that threads can work on the parts beside each other.
class Cut {
 public:
  explicit Cut(const Matmul& p) : problem_(p) {
    // Parts that a product gets for any number of threads where its bits depend on them.
    constexpr int kFixedParts = 8;
    const bool fixed = p.dtype != c10::ScalarType::Float && (p.k > kTermBlock || has_kernels_by_columns());
    const int threads = fixed ? kFixedParts : at::in_parallel_region() ? 1 : at::get_num_threads();
    if (threads == 1 || p.batch * p.m * p.n * p.k < kWorthThreads) {
      return;
    }
    if (p.batch >= threads) {
      along(Dim::Batch, p.batch, threads, 1);
      return;
    }
    const int64_t row_step = way() == Way::Avx2 ? 96 : 16;
    if (p.m >= p.n && p.m >= 2 * row_step) {
      along(Dim::M, p.m, threads, row_step);
    } else {
      along(Dim::N, p.n, threads, 16);
    }
  }

  int64_t count() const {
    return count_;
  }
  /// Length of a part; the last one may be longer or shorter.
  int64_t length(int64_t part) const {
    return part + 1 < count_ ? step_ : length_ - part * step_;
  }
  int64_t first(int64_t part) const {
    return part * step_;
  }

  Matmul part(int64_t length) const {
    Matmul part = problem_;
    (dim_ == Dim::Batch ? part.batch : dim_ == Dim::M ? part.m : part.n) = length;
    return part;
  }
  // Where a part begins in each operand, in elements.
  int64_t in_a(int64_t first) const {
    return first * (dim_ == Dim::Batch ? problem_.a_strides[0] : dim_ == Dim::M ? problem_.a_strides[1] : 0);
  }
  int64_t in_b(int64_t first) const {
    return first * (dim_ == Dim::Batch ? problem_.b_strides[0] : dim_ == Dim::N ? problem_.b_strides[2] : 0);
  }
  int64_t in_c(int64_t first) const {
    return first * problem_.c_strides[dim_ == Dim::Batch ? 0 : dim_ == Dim::M ? 1 : 2];
  }
  int64_t in_bias(int64_t first) const {
    return dim_ == Dim::N ? first : 0;
  }

 private:
  enum class Dim : int8_t { Batch, M, N };
  /// Fewer rows than this are summed in another order where operands are copied.
  static constexpr int64_t kFewRows = 16;
  /// Multiply-adds from which a second thread pays.
  static constexpr int64_t kWorthThreads = 1 << 20;

  /// The least length of a part beside `other`, its other dimension, that keeps the way of the whole.
  int64_t least_length(int64_t length, int64_t other) const {
    if (way() == Way::Avx512 && problem_.m < kFewRows && problem_.a_strides[2] == 1 && problem_.b_strides[1] == 1) {
      // Of dot products of rows, operands are copied for more than 100 and less than 1200 columns.
      return length >= 1200 ? 1200 : length > 100 ? 101 : 1;
    }
    constexpr double kReadInPlace = 0.0038; // from here on AVX2 reads operands where they are
    if (way() != Way::Avx2 || 1.0 / length + 1.0 / other >= kReadInPlace) {
      return 1;
    }
    return static_cast<int64_t>(1.0 / (kReadInPlace - 1.0 / other)) + 1;
  }

  void along(Dim dim, int64_t length, int threads, int64_t unit) {
    const int64_t least =
        dim == Dim::Batch ? 1 : std::max(unit, least_length(length, dim == Dim::M ? problem_.n : problem_.m));
    dim_ = dim;
    length_ = length;
    step_ = at::divup(std::max(at::divup(length, threads), least), unit) * unit;
    // What is too short for a part of its own goes to the one before.
    count_ = length / step_ + (length % step_ >= least ? 1 : 0);
    if (count_ <= 1) {
      count_ = 1;
      step_ = length;
    }
  }

  const Matmul& problem_;
  Dim dim_ = Dim::M;
  int64_t length_ = problem_.m, step_ = problem_.m, count_ = 1;
};

/// One matrix where the batch's lie one after the other, beside one right factor.
Matmul joined(const Matmul& p) {
  if (p.batch == 1 || p.b_strides[0] != 0 || p.a_strides[0] != p.m * p.a_strides[1] ||
      p.c_strides[0] != p.m * p.c_strides[1]) {
    return p;
  }
  Matmul one = p;
  one.m *= p.batch;
  one.batch = 1;
  return one;
}

/// Calls f(first, problem, has_bias) for blocks of terms of a part, or for all of them at once.
template <class F>
void for_blocks(const Matmul& part, bool has_bias, const F& f) {
  if (way() != Way::Avx512 || part.dtype != c10::ScalarType::Float || part.k <= kTermBlock) {
    f(int64_t{0}, part, has_bias);
    return;
  }
  Matmul block = part;
  for (int64_t first = 0; first < part.k; first += kTermBlock) {
    block.k = std::min(kTermBlock, part.k - first);
    f(first, block, has_bias && first == 0);
    block.beta = 1;
  }
}

/// Whether there are primitives for all blocks of a part.
bool has_primitives(const Matmul& part, bool has_bias) {
  bool found = true;
  for_blocks(part, has_bias, [&](int64_t, const Matmul& block, bool with_bias) {
    found = found && find_slot(block, with_bias) != nullptr;
  });
  return found;
}

} // namespace

bool matmul(const Matmul& given, const void* a, const void* b, void* c, const void* bias) try {
  if (!at::globalContext().userEnabledMkldnn()) {
    return false;
  }
  const OneThread one_thread;
  const Matmul problem = joined(given);
  const Cut cut(problem);
  // There must be a primitive for each part before one is run.
  for (const int64_t i : {int64_t{0}, cut.count() - 1}) {
    if (!has_primitives(cut.part(cut.length(i)), bias != nullptr)) {
      return false;
    }
  }
  const auto itemsize = static_cast<int64_t>(c10::elementSize(problem.dtype));
  const auto from = [itemsize](const void* data, int64_t elements) {
    return static_cast<const char*>(data) + elements * itemsize;
  };
  at::parallel_for(0, cut.count(), 1, [&](int64_t first_part, int64_t last_part) {
    const OneThread each_alone;
    for (int64_t i = first_part; i < last_part; ++i) {
      const int64_t first = cut.first(i);
      for_blocks(cut.part(cut.length(i)), bias != nullptr, [&](int64_t term, const Matmul& block, bool has_bias) {
        run(block, from(a, cut.in_a(first) + term * block.a_strides[2]),
            from(b, cut.in_b(first) + term * block.b_strides[1]), const_cast<char*>(from(c, cut.in_c(first))),
            has_bias ? from(bias, cut.in_bias(first)) : nullptr);
      });
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
