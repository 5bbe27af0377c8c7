#include <aten/native/onednn/matmul.h>

#include <aten/Context.h>
#include <aten/native/onednn/Primitive.h>
#include <aten/native/onednn/Version.h>

#include <string_view>

namespace at::native::onednn {
namespace {

/// A primitive ready to run, or the memory that there is none (`fast` false).
struct MatmulPrimitive {
  dnnl::matmul primitive;
  dnnl::memory::desc a, b, bias, c;
  bool fast = false;
};

PrimitiveKey key_of(const Matmul& p, bool has_bias) {
  PrimitiveKey key;
  key.add(int64_t(p.dtype) | int64_t(has_bias) << 8 | int64_t(primitive_threads()) << 16);
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
  dnnl::primitive_attr attr;
  dnnl::post_ops ops;
  if (p.alpha != 1) add_scale(attr, ops, p.alpha);
  if (p.beta != 0) ops.append_sum(p.beta);
  attr.set_post_ops(ops);
  try {
    const auto desc = matmul_desc(cpu_engine(), made->a, made->b, made->bias, made->c, attr);
    if (std::string_view(desc.impl_info_str()).find("ref") != std::string_view::npos) return made;
    made->primitive = dnnl::matmul(desc);
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

bool matmul(const Matmul& problem, const void* a, const void* b, void* c, const void* bias) {
  if (!at::globalContext().userEnabledMkldnn()) return false;
  thread_local const std::unique_ptr<Slot[]> slots(new Slot[kSlots]);
  const PrimitiveKey key = key_of(problem, bias != nullptr);
  Slot& slot = slots[key.hash() % kSlots];
  if (!slot.found || !(slot.key == key)) {
    slot.bind(key, shared_cache().get(key, [&] { return make_matmul(problem, bias != nullptr); }));
  }
  if (!slot.found->fast) return false;
  // oneDNN takes pointers to mutable data for all arguments; it only writes to dst.
  dnnl_memory_set_data_handle(slot.a.get(), const_cast<void*>(a));
  dnnl_memory_set_data_handle(slot.b.get(), const_cast<void*>(b));
  dnnl_memory_set_data_handle(slot.c.get(), c);
  dnnl_exec_arg_t args[4] = {
      {DNNL_ARG_SRC, slot.a.get()}, {DNNL_ARG_WEIGHTS, slot.b.get()}, {DNNL_ARG_DST, slot.c.get()}, {}};
  int count = 3;
  if (bias != nullptr) {
    dnnl_memory_set_data_handle(slot.bias.get(), const_cast<void*>(bias));
    args[count++] = {DNNL_ARG_BIAS, slot.bias.get()};
  }
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(slot.found->primitive.get(), cpu_stream().get(), count, args), "matmul: oneDNN failed to run");
  return true;
}

size_t matmul_cache_size() {
  return shared_cache().size();
}

} // namespace at::native::onednn
