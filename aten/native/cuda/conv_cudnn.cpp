// Convolution by cuDNN.
//
// cuDNN has several algorithms for each convolution. Its heuristics rank them; in benchmark mode it times them, the
// first time that sizes are met. The first one that runs in the memory at hand is remembered. All operands are
// channels-last, or all row-major; others are copied.
#include <aten/native/cuda/conv_cudnn.h>

#include <aten/Functions.h>
#include <aten/core/Context.h>
#include <aten/cuda/Libraries.h>
#include <aten/native/cuda/workspace.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAStream.h>

#if __has_include(<cudnn.h>)
#include <cudnn.h>
#endif

#if defined(CUDNN_MAJOR) && CUDNN_MAJOR == 9 // aten/cuda/Libraries.cpp opens that

#include <aten/native/cuda/cudnn_library.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

namespace at::native::cuda {

namespace {

using at::cuda::Library;

const DnnFunction<decltype(cudnnCreateFilterDescriptor)> create_filter{"cudnnCreateFilterDescriptor"};
const DnnFunction<decltype(cudnnDestroyFilterDescriptor)> destroy_filter{"cudnnDestroyFilterDescriptor"};
const DnnFunction<decltype(cudnnSetFilterNdDescriptor)> set_filter{"cudnnSetFilterNdDescriptor"};
const DnnFunction<decltype(cudnnCreateConvolutionDescriptor)> create_convolution{"cudnnCreateConvolutionDescriptor"};
const DnnFunction<decltype(cudnnDestroyConvolutionDescriptor)> destroy_convolution{"cudnnDestroyConvolutionDescriptor"};
const DnnFunction<decltype(cudnnSetConvolutionNdDescriptor)> set_convolution{"cudnnSetConvolutionNdDescriptor"};
const DnnFunction<decltype(cudnnSetConvolutionGroupCount)> set_groups{"cudnnSetConvolutionGroupCount"};
const DnnFunction<decltype(cudnnSetConvolutionMathType)> set_math{"cudnnSetConvolutionMathType"};

const DnnFunction<decltype(cudnnGetConvolutionForwardAlgorithm_v7)> rank_forward{
    "cudnnGetConvolutionForwardAlgorithm_v7"};
const DnnFunction<decltype(cudnnFindConvolutionForwardAlgorithmEx)> time_forward{
    "cudnnFindConvolutionForwardAlgorithmEx"};
const DnnFunction<decltype(cudnnGetConvolutionForwardWorkspaceSize)> forward_workspace{
    "cudnnGetConvolutionForwardWorkspaceSize"};
const DnnFunction<decltype(cudnnConvolutionForward)> run_forward{"cudnnConvolutionForward"};

const DnnFunction<decltype(cudnnGetConvolutionBackwardDataAlgorithm_v7)> rank_image{
    "cudnnGetConvolutionBackwardDataAlgorithm_v7"};
const DnnFunction<decltype(cudnnFindConvolutionBackwardDataAlgorithmEx)> time_image{
    "cudnnFindConvolutionBackwardDataAlgorithmEx"};
const DnnFunction<decltype(cudnnGetConvolutionBackwardDataWorkspaceSize)> image_workspace{
    "cudnnGetConvolutionBackwardDataWorkspaceSize"};
const DnnFunction<decltype(cudnnConvolutionBackwardData)> run_image{"cudnnConvolutionBackwardData"};

const DnnFunction<decltype(cudnnGetConvolutionBackwardFilterAlgorithm_v7)> rank_weight{
    "cudnnGetConvolutionBackwardFilterAlgorithm_v7"};
const DnnFunction<decltype(cudnnFindConvolutionBackwardFilterAlgorithmEx)> time_weight{
    "cudnnFindConvolutionBackwardFilterAlgorithmEx"};
const DnnFunction<decltype(cudnnGetConvolutionBackwardFilterWorkspaceSize)> weight_workspace{
    "cudnnGetConvolutionBackwardFilterWorkspaceSize"};
const DnnFunction<decltype(cudnnConvolutionBackwardFilter)> run_weight{"cudnnConvolutionBackwardFilter"};

// ---- descriptors
// -------------------------------------------------------------------------------------------------------------

struct Descriptors {
  DnnTensor image, features;
  DnnDescriptor<cudnnFilterDescriptor_t, create_filter, destroy_filter> weight;
  DnnDescriptor<cudnnConvolutionDescriptor_t, create_convolution, destroy_convolution> convolution;
};

struct Data {
  void *image, *weight, *features;
};

using Ints = std::vector<int>;

Ints ints(IntArrayRef values) {
  return Ints(values.begin(), values.end());
}

/// Strides of sizes in row-major or channels-last order; not the tensor's own, which may say anything for a size of
/// one.
Ints strides_of(const Ints& sizes, bool channels_last) {
  Ints strides(sizes.size());
  int step = 1;
  if (channels_last) {
    strides[1] = 1;
    step = sizes[1];
  }
  for (std::size_t d = sizes.size(); d-- > (channels_last ? 2 : 1);) {
    strides[d] = step;
    step *= sizes[d];
  }
  strides[0] = step;
  return strides;
}

/// Whether cuDNN takes such operands.
bool describe(const CudnnConvolution& c, bool channels_last, const Descriptors& d) {
  const cudnnDataType_t type = dnn_type(c.image.scalar_type());
  const auto tensor = [&](const Tensor& t, cudnnTensorDescriptor_t descriptor) {
    const Ints sizes = ints(t.sizes()), strides = strides_of(sizes, channels_last);
    return dnn_succeeds(
        set_dnn_tensor(descriptor, type, static_cast<int>(sizes.size()), sizes.data(), strides.data()),
        "cudnnSetTensorNdDescriptor");
  };
  const Ints filter = ints(c.weight.sizes()), padding = ints(c.padding), stride = ints(c.stride),
             dilation = ints(c.dilation);
  return tensor(c.image, d.image) && tensor(c.features, d.features) &&
      dnn_succeeds(
             set_filter(
                 d.weight, type, channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, static_cast<int>(filter.size()),
                 filter.data()),
             "cudnnSetFilterNdDescriptor") &&
      dnn_succeeds(
             set_convolution(
                 d.convolution, static_cast<int>(stride.size()), padding.data(), stride.data(), dilation.data(),
                 CUDNN_CROSS_CORRELATION, type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT),
             "cudnnSetConvolutionNdDescriptor") &&
      dnn_succeeds(set_groups(d.convolution, static_cast<int>(c.groups)), "cudnnSetConvolutionGroupCount") &&
      dnn_succeeds(set_math(d.convolution, dnn_math(c.image.scalar_type())), "cudnnSetConvolutionMathType");
}

// ---- the three passes
// --------------------------------------------------------------------------------------------------------

struct ToFeatures {
  using Perf = cudnnConvolutionFwdAlgoPerf_t;
  static constexpr int kAlgorithms = CUDNN_CONVOLUTION_FWD_ALGO_COUNT;

  static cudnnStatus_t rank(cudnnHandle_t h, const Descriptors& d, int* found, Perf* perf) {
    return rank_forward(h, d.image, d.weight, d.convolution, d.features, kAlgorithms, found, perf);
  }
  static cudnnStatus_t time(
      cudnnHandle_t h, const Descriptors& d, const Data& p, int* found, Perf* perf, void* work, std::size_t bytes) {
    return time_forward(
        h, d.image, p.image, d.weight, p.weight, d.convolution, d.features, p.features, kAlgorithms, found, perf, work,
        bytes);
  }
  static cudnnStatus_t workspace(cudnnHandle_t h, const Descriptors& d, decltype(Perf::algo) algo, std::size_t* bytes) {
    return forward_workspace(h, d.image, d.weight, d.convolution, d.features, algo, bytes);
  }
  static cudnnStatus_t run(
      cudnnHandle_t h,
      const Descriptors& d,
      const Data& p,
      const void* one,
      const void* zero,
      decltype(Perf::algo) algo,
      void* work,
      std::size_t bytes) {
    return run_forward(
        h, one, d.image, p.image, d.weight, p.weight, d.convolution, algo, work, bytes, zero, d.features, p.features);
  }
};

struct ToImage {
  using Perf = cudnnConvolutionBwdDataAlgoPerf_t;
  static constexpr int kAlgorithms = CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT;

  static cudnnStatus_t rank(cudnnHandle_t h, const Descriptors& d, int* found, Perf* perf) {
    return rank_image(h, d.weight, d.features, d.convolution, d.image, kAlgorithms, found, perf);
  }
  static cudnnStatus_t time(
      cudnnHandle_t h, const Descriptors& d, const Data& p, int* found, Perf* perf, void* work, std::size_t bytes) {
    return time_image(
        h, d.weight, p.weight, d.features, p.features, d.convolution, d.image, p.image, kAlgorithms, found, perf, work,
        bytes);
  }
  static cudnnStatus_t workspace(cudnnHandle_t h, const Descriptors& d, decltype(Perf::algo) algo, std::size_t* bytes) {
    return image_workspace(h, d.weight, d.features, d.convolution, d.image, algo, bytes);
  }
  static cudnnStatus_t run(
      cudnnHandle_t h,
      const Descriptors& d,
      const Data& p,
      const void* one,
      const void* zero,
      decltype(Perf::algo) algo,
      void* work,
      std::size_t bytes) {
    return run_image(
        h, one, d.weight, p.weight, d.features, p.features, d.convolution, algo, work, bytes, zero, d.image, p.image);
  }
};

struct ToWeight {
  using Perf = cudnnConvolutionBwdFilterAlgoPerf_t;
  static constexpr int kAlgorithms = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT;

  static cudnnStatus_t rank(cudnnHandle_t h, const Descriptors& d, int* found, Perf* perf) {
    return rank_weight(h, d.image, d.features, d.convolution, d.weight, kAlgorithms, found, perf);
  }
  static cudnnStatus_t time(
      cudnnHandle_t h, const Descriptors& d, const Data& p, int* found, Perf* perf, void* work, std::size_t bytes) {
    return time_weight(
        h, d.image, p.image, d.features, p.features, d.convolution, d.weight, p.weight, kAlgorithms, found, perf, work,
        bytes);
  }
  static cudnnStatus_t workspace(cudnnHandle_t h, const Descriptors& d, decltype(Perf::algo) algo, std::size_t* bytes) {
    return weight_workspace(h, d.image, d.features, d.convolution, d.weight, algo, bytes);
  }
  static cudnnStatus_t run(
      cudnnHandle_t h,
      const Descriptors& d,
      const Data& p,
      const void* one,
      const void* zero,
      decltype(Perf::algo) algo,
      void* work,
      std::size_t bytes) {
    return run_weight(
        h, one, d.image, p.image, d.features, p.features, d.convolution, algo, work, bytes, zero, d.weight, p.weight);
  }
};

// ---- choosing an algorithm
// ---------------------------------------------------------------------------------------------------

struct Choice {
  int algorithm;
  cudnnMathType_t math;
};

/// What was chosen before on each device; nothing, where cuDNN has no algorithm.
class Choices {
 public:
  using Key = std::vector<int64_t>;
  static constexpr std::size_t kMost = 10000; // programs whose sizes never repeat begin anew

  std::optional<std::optional<Choice>> find(const Key& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::optional<std::optional<Choice>> known;
    if (const auto found = known_.find(key); found != known_.end()) {
      known.emplace(found->second);
    }
    return known;
  }
  void remember(const Key& key, std::optional<Choice> choice) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (known_.size() >= kMost) {
      known_.clear();
    }
    known_[key] = choice;
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::optional<Choice>> known_;
};

Choices& choices() {
  static auto* const all = new Choices();
  return *all;
}

struct Settings {
  bool channels_last, deterministic, benchmark;
};

Choices::Key key_of(ConvolutionPass pass, const CudnnConvolution& c, const Settings& s) {
  Choices::Key key = {
      c10::cuda::current_device(),
      static_cast<int64_t>(pass),
      static_cast<int64_t>(c.image.scalar_type()),
      s.channels_last,
      s.deterministic,
      s.benchmark,
      dnn_math(c.image.scalar_type()),
      c.groups};
  for (const IntArrayRef values :
       {c.image.sizes(), c.weight.sizes(), c.features.sizes(), IntArrayRef(c.stride), IntArrayRef(c.padding),
        IntArrayRef(c.dilation)}) {
    key.insert(key.end(), values.begin(), values.end());
  }
  return key;
}

/// Memory for a call, or nothing where there is not that much.
std::unique_ptr<Workspace> try_workspace(std::size_t bytes) {
  try {
    return std::make_unique<Workspace>(std::max<std::size_t>(bytes, 1), c10::cuda::getCurrentCUDAStream().stream());
  } catch (const c10::OutOfMemoryError&) {
    return nullptr;
  }
}

/// The algorithms that may be used, best first.
template <class Pass>
std::vector<typename Pass::Perf> candidates(
    cudnnHandle_t h, const Descriptors& d, const Data& data, const Settings& settings) {
  std::vector<typename Pass::Perf> all(Pass::kAlgorithms);
  int found = 0;
  if (settings.benchmark) {
    // As much memory as any of them wants, if there is as much.
    std::vector<std::size_t> sizes = {0};
    for (int algo = 0; algo < Pass::kAlgorithms; ++algo) {
      std::size_t bytes = 0;
      if (Pass::workspace(h, d, static_cast<decltype(Pass::Perf::algo)>(algo), &bytes) == CUDNN_STATUS_SUCCESS) {
        sizes.push_back(bytes);
      }
    }
    std::sort(sizes.rbegin(), sizes.rend());
    for (const std::size_t bytes : sizes) {
      if (const auto work = try_workspace(bytes)) {
        if (Pass::time(h, d, data, &found, all.data(), work->data(), bytes) != CUDNN_STATUS_SUCCESS) {
          found = 0;
        }
        break;
      }
    }
  }
  if (found == 0 && Pass::rank(h, d, &found, all.data()) != CUDNN_STATUS_SUCCESS) {
    found = 0;
  }
  all.resize(static_cast<std::size_t>(found));
  std::erase_if(all, [&](const auto& perf) {
    return perf.status != CUDNN_STATUS_SUCCESS || (settings.deterministic && perf.determinism != CUDNN_DETERMINISTIC);
  });
  return all;
}

/// Whether the algorithm ran.
template <class Pass>
bool try_algorithm(cudnnHandle_t h, const Descriptors& d, const Data& data, Choice choice, bool wide) {
  const auto algorithm = static_cast<decltype(Pass::Perf::algo)>(choice.algorithm);
  std::size_t bytes = 0;
  check_dnn(set_math(d.convolution, choice.math), "cudnnSetConvolutionMathType");
  if (Pass::workspace(h, d, algorithm, &bytes) != CUDNN_STATUS_SUCCESS) {
    return false;
  }
  const auto work = try_workspace(bytes);
  if (work == nullptr) {
    return false;
  }
  const float one = 1, zero = 0;
  const double wide_one = 1, wide_zero = 0;
  const cudnnStatus_t status = wide ? Pass::run(h, d, data, &wide_one, &wide_zero, algorithm, work->data(), bytes)
                                    : Pass::run(h, d, data, &one, &zero, algorithm, work->data(), bytes);
  // Also one that fails inside, for example without memory of its own, leaves it to the next. Failures of the device
  // are errors.
  return CUDNN_STATUS_INTERNAL_ERROR <= status && status < CUDNN_STATUS_EXECUTION_FAILED
      ? false
      : dnn_succeeds(status, "cuDNN's convolution");
}

template <class Pass>
bool run_pass(ConvolutionPass pass, const CudnnConvolution& c, const Settings& settings) {
  const auto key = key_of(pass, c, settings);
  const auto known = choices().find(key);
  if (known.has_value() && !known->has_value()) {
    return false;
  }
  const cudnnHandle_t h = getCudnnHandle();
  const Descriptors d;
  if (!describe(c, settings.channels_last, d)) {
    choices().remember(key, std::nullopt);
    return false;
  }
  const auto address = [&](const Tensor& t, ConvolutionPass written_by) {
    return pass == written_by ? t.mutable_data_ptr() : const_cast<void*>(t.const_data_ptr());
  };
  const Data data{
      address(c.image, ConvolutionPass::Image), address(c.weight, ConvolutionPass::Weight),
      address(c.features, ConvolutionPass::Features)};
  const c10::ScalarType dtype = c.image.scalar_type();
  const bool wide = dtype == c10::ScalarType::Double;
  if (known.has_value() && try_algorithm<Pass>(h, d, data, **known, wide)) {
    return true;
  }
  const cudnnMathType_t math = dnn_math(dtype);
  check_dnn(set_math(d.convolution, math), "cudnnSetConvolutionMathType");
  const auto all = candidates<Pass>(h, d, data, settings);
  for (const auto& perf : all) {
    // Without TF32 it is all the same what the heuristics would take.
    const Choice choice{static_cast<int>(perf.algo), math == CUDNN_FMA_MATH ? math : perf.mathType};
    if (try_algorithm<Pass>(h, d, data, choice, wide)) {
      choices().remember(key, choice);
      return true;
    }
  }
  // Algorithms that failed may do next time, when there is more memory.
  if (all.empty()) {
    choices().remember(key, std::nullopt);
  }
  return false;
}

// ---- operands
// ----------------------------------------------------------------------------------------------------------------

/// As two dimensions, if there is one.
CudnnConvolution with_two_dims(CudnnConvolution c) {
  if (c.stride.size() == 1) {
    c.image = c.image.unsqueeze(2);
    c.weight = c.weight.unsqueeze(2);
    c.features = c.features.unsqueeze(2);
    c.stride.insert(c.stride.begin(), 1);
    c.padding.insert(c.padding.begin(), 0);
    c.dilation.insert(c.dilation.begin(), 1);
  }
  return c;
}

/// cuDNN counts elements in ints.
bool fits(const CudnnConvolution& c) {
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  const auto small = [](IntArrayRef values) {
    return std::all_of(values.begin(), values.end(), [](int64_t v) { return v <= kMost; });
  };
  return c.image.numel() <= kMost && c.weight.numel() <= kMost && c.features.numel() <= kMost && small(c.stride) &&
      small(c.padding) && small(c.dilation);
}

bool prefers_channels_last(const Tensor& t) {
  const auto format = t.suggest_memory_format();
  return format == c10::MemoryFormat::ChannelsLast || format == c10::MemoryFormat::ChannelsLast3d;
}

/// All operands in the layout of the settings, where they are not yet. False: nothing has been written.
bool convolve_in_layout(ConvolutionPass pass, CudnnConvolution c, const Settings& settings) {
  const auto format = !settings.channels_last ? c10::MemoryFormat::Contiguous
      : c.image.dim() == 5                    ? c10::MemoryFormat::ChannelsLast3d
                                              : c10::MemoryFormat::ChannelsLast;
  const auto input = [&](const Tensor& t) { return t.contiguous(format); };
  const auto output = [&](const Tensor& t) {
    return t.is_contiguous(format) ? t : at::empty(t.sizes(), t.options(), format);
  };
  const Tensor CudnnConvolution::*target = pass == ConvolutionPass::Features ? &CudnnConvolution::features
      : pass == ConvolutionPass::Image                                       ? &CudnnConvolution::image
                                                                             : &CudnnConvolution::weight;
  const Tensor wanted = c.*target;
  for (Tensor CudnnConvolution::*member :
       {&CudnnConvolution::image, &CudnnConvolution::weight, &CudnnConvolution::features}) {
    c.*member = member == target ? output(c.*member) : input(c.*member);
  }
  const bool done = pass == ConvolutionPass::Features ? run_pass<ToFeatures>(pass, c, settings)
      : pass == ConvolutionPass::Image                ? run_pass<ToImage>(pass, c, settings)
                                                      : run_pass<ToWeight>(pass, c, settings);
  const Tensor& written = c.*target;
  if (done && !written.is_same(wanted)) {
    Tensor(wanted).copy_(written);
  }
  return done;
}

} // namespace

bool cudnn_convolve(ConvolutionPass pass, const CudnnConvolution& given) {
  const Context& context = at::globalContext();
  const c10::ScalarType dtype = given.image.scalar_type();
  if (!c10::isFloatingType(dtype) || !context.userEnabledCuDNN() || !fits(given) ||
      !at::cuda::has_library(Library::cuDNN)) {
    return false;
  }
  const CudnnConvolution c = with_two_dims(given);
  Settings settings{};
  settings.channels_last =
      dtype != c10::ScalarType::Double && (prefers_channels_last(c.weight) || prefers_channels_last(c.image));
  settings.deterministic = context.deterministicCuDNN() || context.deterministicAlgorithms();
  // Timing waits for the device, which a capture forbids.
  settings.benchmark = context.benchmarkCuDNN() && c10::cuda::captures_underway() == 0;
  if (convolve_in_layout(pass, c, settings)) {
    return true;
  }
  // It supports less in channels-last than in row-major order, which is still faster than what is done without it.
  const bool by_rows_too = settings.channels_last;
  settings.channels_last = false;
  return by_rows_too && convolve_in_layout(pass, c, settings);
}

} // namespace at::native::cuda

#else

namespace at::native::cuda {

bool cudnn_convolve(ConvolutionPass, const CudnnConvolution&) {
  return false;
}

} // namespace at::native::cuda

#endif
