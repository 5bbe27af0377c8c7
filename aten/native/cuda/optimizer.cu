// Steps of optimizers over lists of parameters.
#include <aten/native/cuda/optimizer.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/tensor_chunks.cuh>
#include <aten/native/support/fused_step_rules.h>
#include <c10/cuda/CUDAException.h>

#include <type_traits>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 512;

// Elements of T that are read at once: 16 bytes, but of 16-bit floats 8 bytes, whose wide forms fill the registers.
template <class T>
inline constexpr int kAtOnce = sizeof(T) == 8 ? 2 : 4;

/// How many of the first `count` elements of all arrays can be read K at once.
template <int K, class T, int Arrays>
__device__ int count_at_once(T* const (&data)[Arrays], int count) {
  bool aligned = true;
#pragma unroll
  for (int k = 0; k < Arrays; ++k) {
    aligned = aligned && reinterpret_cast<std::uintptr_t>(data[k]) % sizeof(Aligned<T, K>) == 0; // null is aligned
  }
  return aligned ? count / K * K : 0;
}

// The step of K elements of each array, from number i on.
template <int K, class T, class Rule>
__device__ void step_elements(
    T* const (&data)[Rule::kArrays], int i, const Rule& rule, bool scaled, opmath_type<T> scale) {
  using R = opmath_type<T>;
  using Elements = Aligned<T, K>;
  Elements elements[Rule::kArrays] = {};
#pragma unroll
  for (int a = 0; a < Rule::kArrays; ++a) {
    if (data[a] != nullptr) {
      elements[a] = *reinterpret_cast<const Elements*>(data[a] + i);
    }
  }
#pragma unroll
  for (int k = 0; k < K; ++k) {
    R x[Rule::kArrays];
#pragma unroll
    for (int a = 0; a < Rule::kArrays; ++a) {
      x[a] = static_cast<R>(widen(elements[a].values[k]));
    }
    if (scaled) {
      x[1] /= scale;
      elements[1].values[k] = narrow<T>(x[1]);
    }
    rule(x);
#pragma unroll
    for (int a = 0; a < Rule::kArrays; ++a) {
      if (a != 1) {
        elements[a].values[k] = narrow<T>(x[a]);
      }
    }
  }
#pragma unroll
  for (int a = 0; a < Rule::kArrays; ++a) {
    if (a == 1 ? scaled : data[a] != nullptr) {
      *reinterpret_cast<Elements*>(data[a] + i) = elements[a];
    }
  }
}

template <class T, int Arrays, class Rule>
__device__ void step_part(const TensorChunks<Arrays>& chunks, const Rule& rule, const StepScale& by) {
  constexpr int K = kAtOnce<T>;
  const auto part = chunks.part();
  const bool scaled = by.scale != nullptr;
  const auto scale = static_cast<opmath_type<T>>(scaled ? *by.scale : 1.0f);
  T* data[Rule::kArrays];
#pragma unroll
  for (int a = 0; a < Rule::kArrays; ++a) {
    data[a] =
        chunks.data[part.tensor][a] != nullptr ? static_cast<T*>(chunks.data[part.tensor][a]) + part.begin : nullptr;
  }
  const int at_once = count_at_once<K>(data, part.count);
  for (int i = threadIdx.x * K; i < at_once; i += kThreads * K) {
    step_elements<K>(data, i, rule, scaled, scale);
  }
  for (int i = at_once + threadIdx.x; i < part.count; i += kThreads) {
    step_elements<1>(data, i, rule, scaled, scale);
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

// Multiplies K elements; are they finite?
template <int K, class T>
__device__ bool unscale_elements(T* data, float by) {
  auto elements = *reinterpret_cast<const Aligned<T, K>*>(data);
  bool finite = true;
#pragma unroll
  for (int k = 0; k < K; ++k) {
    const auto x = widen(elements.values[k]);
    finite = finite && x - x == 0;
    elements.values[k] = narrow<T>(x * by);
  }
  *reinterpret_cast<Aligned<T, K>*>(data) = elements;
  return finite;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    unscale_chunks(TensorChunks<1> chunks, const float* factor, float* found_inf) {
  constexpr int K = 16 / sizeof(T);
  const auto part = chunks.part();
  T* const data[1] = {static_cast<T*>(chunks.data[part.tensor][0]) + part.begin};
  const float by = *factor;
  const int at_once = count_at_once<K>(data, part.count);
  bool finite = true;
#pragma unroll 2
  for (int i = threadIdx.x * K; i < at_once; i += kThreads * K) {
    finite = unscale_elements<K>(data[0] + i, by) && finite;
  }
  for (int i = at_once + threadIdx.x; i < part.count; i += kThreads) {
    finite = unscale_elements<1>(data[0] + i, by) && finite;
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
        static_assert(sizeof(Chunks) + sizeof(Settings) + sizeof(StepScale) <= kMostLaunchArguments);
        for_tensor_chunks<Rule::kArrays + 1>(
            count, [&](std::size_t i) { return first[i].numel; },
            [&](std::size_t i, int k) {
              return k < Rule::kArrays ? first[i].data[k] : const_cast<float*>(first[i].step);
            },
            [&](const Chunks& chunks, unsigned blocks) {
              step_chunks_by_numbers<T, Rule, Settings><<<blocks, kThreads, 0, stream>>>(chunks, settings, by);
              C10_CUDA_KERNEL_LAUNCH_CHECK();
            });
        return;
      }
    }
    using Chunks = TensorChunks<Rule::kArrays>;
    static_assert(sizeof(Chunks) + sizeof(Rule) + sizeof(StepScale) <= kMostLaunchArguments);
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
