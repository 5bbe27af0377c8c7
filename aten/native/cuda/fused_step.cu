// Steps of optimizers over lists of parameters.
#include <aten/native/cuda/fused_step.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/tensor_chunks.cuh>
#include <aten/native/fused_step_rules.h>
#include <c10/cuda/CUDAException.h>

#include <type_traits>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 512;

template <class T, int Arrays, class Rule>
__device__ void step_part(const TensorChunks<Arrays>& chunks, const Rule& rule, const StepScale& by) {
  using R = opmath_type<T>;
  const auto part = chunks.part();
  const R scale = by.scale != nullptr ? static_cast<R>(*by.scale) : R(1);
  T* data[Rule::kArrays];
#pragma unroll
  for (int k = 0; k < Rule::kArrays; ++k) {
    data[k] = chunks.data[part.tensor][k] != nullptr ? static_cast<T*>(chunks.data[part.tensor][k]) + part.begin : nullptr;
  }
  for (int i = threadIdx.x; i < part.count; i += kThreads) {
    R x[Rule::kArrays];
#pragma unroll
    for (int k = 0; k < Rule::kArrays; ++k) {
      x[k] = data[k] != nullptr ? static_cast<R>(widen(data[k][i])) : R(0);
    }
    if (by.scale != nullptr) {
      x[1] /= scale;
      data[1][i] = narrow<T>(x[1]);
    }
    rule(x);
#pragma unroll
    for (int k = 0; k < Rule::kArrays; ++k) {
      if (k != 1 && data[k] != nullptr) {
        data[k][i] = narrow<T>(x[k]);
      }
    }
  }
}

__device__ inline bool is_skipped(const StepScale& by) {
  return by.found_inf != nullptr && *by.found_inf == 1;
}

template <class T, class Rule>
__global__ void __launch_bounds__(kThreads) step_chunks(TensorChunks<Rule::kArrays> chunks, Rule rule, StepScale by) {
  if (!is_skipped(by)) {
    step_part<T>(chunks, rule, by);
  }
}

// Settings of which a step and a learning rate may stand in device memory.
template <class Settings>
inline constexpr bool reads_numbers =
    std::is_same_v<Settings, SgdStep> || std::is_same_v<Settings, AdamStep> || std::is_same_v<Settings, AdagradStep>;

template <class Settings>
__device__ void read_step(Settings& settings, const float* step) {
  if constexpr (!std::is_same_v<Settings, SgdStep>) {
    settings.step = step != nullptr ? *step : settings.step;
  }
}

// The last array of each tensor is its step; every thread works out the constants for itself.
template <class T, class Rule, class Settings>
__global__ void __launch_bounds__(kThreads)
    step_chunks_by_numbers(TensorChunks<Rule::kArrays + 1> chunks, Settings settings, StepScale by) {
  if (is_skipped(by)) {
    return;
  }
  if (by.lr != nullptr) {
    settings.lr = *by.lr;
  }
  read_step(settings, static_cast<const float*>(chunks.data[chunks.part().tensor][Rule::kArrays]));
  step_part<T>(chunks, Rule{settings}, by);
}

template <class T>
__global__ void __launch_bounds__(kThreads) unscale_chunks(TensorChunks<1> chunks, const float* factor, float* found_inf) {
  const auto part = chunks.part();
  T* data = static_cast<T*>(chunks.data[part.tensor][0]) + part.begin;
  const float by = *factor;
  bool finite = true;
  for (int i = threadIdx.x; i < part.count; i += kThreads) {
    const auto x = widen(data[i]);
    finite = finite && x - x == 0;
    data[i] = narrow<T>(x * by);
  }
  if (!finite) {
    *found_inf = 1; // whoever writes writes the same
  }
}

} // namespace

template <class Settings>
void launch_fused_step(
    const StepArrays* first, std::size_t count, const Settings& settings, const StepScale& by, cudaStream_t stream) {
  FloatingTypes::call(first->dtype, [&](auto type) {
    using T = decltype(type);
    using Rule = StepRule<Settings, opmath_type<T>>;
    if constexpr (reads_numbers<Settings>) {
      if (by.lr != nullptr || first->step != nullptr) {
        using Chunks = TensorChunks<Rule::kArrays + 1>;
        static_assert(sizeof(Chunks) + sizeof(Settings) + sizeof(StepScale) <= 4000);
        for_tensor_chunks<Rule::kArrays + 1>(
            count, [&](std::size_t i) { return first[i].numel; },
            [&](std::size_t i, int k) { return k < Rule::kArrays ? first[i].data[k] : const_cast<float*>(first[i].step); },
            [&](const Chunks& chunks, unsigned blocks) {
              step_chunks_by_numbers<T, Rule, Settings><<<blocks, kThreads, 0, stream>>>(chunks, settings, by);
              C10_CUDA_KERNEL_LAUNCH_CHECK();
            });
        return;
      }
    }
    using Chunks = TensorChunks<Rule::kArrays>;
    static_assert(sizeof(Chunks) + sizeof(Rule) + sizeof(StepScale) <= 4000);
    const Rule rule = step_rule<opmath_type<T>>(settings, *first);
    for_tensor_chunks<Rule::kArrays>(
        count, [&](std::size_t i) { return first[i].numel; }, [&](std::size_t i, int k) { return first[i].data[k]; },
        [&](const Chunks& chunks, unsigned blocks) {
          step_chunks<T, Rule><<<blocks, kThreads, 0, stream>>>(chunks, rule, by);
          C10_CUDA_KERNEL_LAUNCH_CHECK();
        });
  });
}

template void launch_fused_step(const StepArrays*, std::size_t, const SgdStep&, const StepScale&, cudaStream_t);
template void launch_fused_step(const StepArrays*, std::size_t, const AdamStep&, const StepScale&, cudaStream_t);
template void launch_fused_step(const StepArrays*, std::size_t, const AdagradStep&, const StepScale&, cudaStream_t);
template void launch_fused_step(const StepArrays*, std::size_t, const AdadeltaStep&, const StepScale&, cudaStream_t);
template void launch_fused_step(const StepArrays*, std::size_t, const AdamaxStep&, const StepScale&, cudaStream_t);
template void launch_fused_step(const StepArrays*, std::size_t, const NadamStep&, const StepScale&, cudaStream_t);
template void launch_fused_step(const StepArrays*, std::size_t, const RadamStep&, const StepScale&, cudaStream_t);
template void launch_fused_step(const StepArrays*, std::size_t, const RmspropStep&, const StepScale&, cudaStream_t);
template void launch_fused_step(const StepArrays*, std::size_t, const RpropStep&, const StepScale&, cudaStream_t);
template void launch_fused_step(const StepArrays*, std::size_t, const AsgdStep&, const StepScale&, cudaStream_t);

void launch_unscale(
    const StepArrays* first, std::size_t count, const float* factor, float* found_inf, cudaStream_t stream) {
  FloatingTypes::call(first->dtype, [&](auto type) {
    using T = decltype(type);
    for_tensor_chunks<1>(
        count, [&](std::size_t i) { return first[i].numel; }, [&](std::size_t i, int) { return first[i].data[0]; },
        [&](const TensorChunks<1>& chunks, unsigned blocks) {
          unscale_chunks<T><<<blocks, kThreads, 0, stream>>>(chunks, factor, found_inf);
          C10_CUDA_KERNEL_LAUNCH_CHECK();
        });
  });
}

} // namespace at::native::cuda
