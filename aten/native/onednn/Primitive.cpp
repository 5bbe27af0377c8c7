#include <aten/native/onednn/Primitive.h>

#include <aten/native/onednn/Version.h>
#include <aten/native/support/cpu_isa.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <omp.h>

#include <cstdlib>

namespace at::native::onednn {

dnnl::cpu_isa effective_cpu_isa() {
  static const dnnl::cpu_isa found = [] {
    const bool lowered = std::getenv("LIBTENSOR_CPU_ISA") != nullptr && at::native::cpu_isa_level() < 2;
    if (lowered && std::getenv("ONEDNN_MAX_CPU_ISA") == nullptr && std::getenv("DNNL_MAX_CPU_ISA") == nullptr) {
      // Too late for a program that has used oneDNN by itself, which is no error.
      (void)dnnl_set_max_cpu_isa(at::native::cpu_isa_level() == 1 ? dnnl_cpu_isa_avx2 : dnnl_cpu_isa_sse41);
    }
    return dnnl::get_effective_cpu_isa();
  }();
  return found;
}

const dnnl::engine& cpu_engine() {
  static const auto* engine = [] {
    effective_cpu_isa(); // it can be lowered before the first use alone
    return new dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return *engine;
}

dnnl::stream& cpu_stream() {
  thread_local dnnl::stream stream(cpu_engine());
  return stream;
}

OneThread::OneThread() : openmp_before_(omp_get_max_threads()) {
  omp_set_num_threads(1);
}

OneThread::~OneThread() {
  omp_set_num_threads(openmp_before_);
}

void raise(const char* op, const dnnl::error& failure) {
  TORCH_CHECK_WITH(
      OutOfMemoryError, failure.status != dnnl_out_of_memory, op, ": oneDNN found no memory: ", failure.what());
  TORCH_CHECK(false, op, ": oneDNN failed: ", failure.what(), " (status ", static_cast<int>(failure.status), ")");
}

dnnl::primitive_attr primitive_attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

void add_activation(dnnl::post_ops& ops, Activation activation) {
  if (activation == Activation::Relu) {
    add_eltwise(ops, dnnl::algorithm::eltwise_relu, 0.0f);
  } else if (activation == Activation::Silu) {
    add_eltwise(ops, dnnl::algorithm::eltwise_swish, 1.0f);
  }
}

Scratchpad::Scratchpad(const dnnl::memory::desc& needed) {
  const size_t bytes = needed.get_size();
  if (bytes == 0) {
    return;
  }
  data_ = c10::GetCPUAllocator()->allocate(bytes);
  memory_ = dnnl::memory(needed, cpu_engine(), data_.get());
}

dnnl::memory::data_type data_type_of(c10::ScalarType dtype) {
  using Type = dnnl::memory::data_type;
  switch (dtype) {
    case c10::ScalarType::Float:
      return Type::f32;
    case c10::ScalarType::BFloat16:
      return Type::bf16;
    case c10::ScalarType::Half:
      return Type::f16;
    case c10::ScalarType::Int:
      return Type::s32;
    case c10::ScalarType::Char:
      return Type::s8;
    case c10::ScalarType::Byte:
      return Type::u8;
    default:
      TORCH_INTERNAL_ASSERT(false, "oneDNN has no type for ", dtype);
  }
}

} // namespace at::native::onednn
