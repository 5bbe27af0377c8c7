// The emulated cuDNN: convolution by the CPU's operators, on the memory that descriptors tell of.
#include "test/cuda/emulated/libraries.h"

#if __has_include(<cudnn.h>)
#include "test/cuda/emulated/cudnn.h"

#include <aten/Functions.h>
#include <aten/core/from_blob.h>

#include <algorithm>

namespace emulated {

namespace {

using at::Tensor;

constexpr size_t kWorkBytes = 96;

struct FilterDescriptor {
  cudnnDataType_t type{};
  cudnnTensorFormat_t format{};
  std::vector<int64_t> sizes;
};
struct ConvolutionDescriptor {
  std::vector<int64_t> padding, stride, dilation;
  int64_t groups = 1;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  cudnnDataType_t compute{};
};

at::ScalarType dtype_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_HALF    ? at::kHalf
      : type == CUDNN_DATA_BFLOAT16 ? at::kBFloat16
      : type == CUDNN_DATA_FLOAT    ? at::kFloat
                                    : at::kDouble;
}

cudnnStatus_t set_tensor(
    cudnnTensorDescriptor_t d, cudnnDataType_t type, int dims, const int sizes[], const int strides[]) {
  as<TensorDescriptor>(d) = {type, {sizes, sizes + dims}, {strides, strides + dims}};
  return dims >= 3 ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}
cudnnStatus_t set_filter(
    cudnnFilterDescriptor_t d, cudnnDataType_t type, cudnnTensorFormat_t format, int dims, const int sizes[]) {
  as<FilterDescriptor>(d) = {type, format, {sizes, sizes + dims}};
  return libraries().dnn_by_rows_alone && format == CUDNN_TENSOR_NHWC ? CUDNN_STATUS_NOT_SUPPORTED
                                                                      : CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t set_convolution(
    cudnnConvolutionDescriptor_t d,
    int dims,
    const int padding[],
    const int stride[],
    const int dilation[],
    cudnnConvolutionMode_t mode,
    cudnnDataType_t compute) {
  as<ConvolutionDescriptor>(d) = {
      {padding, padding + dims}, {stride, stride + dims}, {dilation, dilation + dims}, 1, CUDNN_DEFAULT_MATH, compute};
  return mode == CUDNN_CROSS_CORRELATION ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}
cudnnStatus_t set_groups(cudnnConvolutionDescriptor_t d, int groups) {
  as<ConvolutionDescriptor>(d).groups = groups;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t set_math(cudnnConvolutionDescriptor_t d, cudnnMathType_t math) {
  as<ConvolutionDescriptor>(d).math = math;
  return CUDNN_STATUS_SUCCESS;
}

// Algorithm 0 cannot run, 1 is not deterministic, 2 is. Heuristics rank them so; timing, which writes results, the
// other way round.
template <class Perf>
void describe_algorithms(bool timed, int* found, Perf* perf) {
  *found = 3;
  for (int i = 0; i < 3; ++i) {
    const int algorithm = timed ? 2 - i : i;
    perf[i] = {};
    perf[i].algo = static_cast<decltype(Perf::algo)>(algorithm);
    perf[i].determinism = algorithm == 2 ? CUDNN_DETERMINISTIC : CUDNN_NON_DETERMINISTIC;
    perf[i].mathType = CUDNN_TENSOR_OP_MATH;
  }
  ++(timed ? libraries().dnn_timings : libraries().dnn_rankings);
}

template <class Algorithm>
cudnnStatus_t say_workspace(Algorithm algorithm, size_t* bytes) {
  *bytes = kWorkBytes;
  return static_cast<int>(algorithm) == 0 || static_cast<int>(algorithm) > 2 ? CUDNN_STATUS_NOT_SUPPORTED
                                                                             : CUDNN_STATUS_SUCCESS;
}

Tensor tensor(cudnnTensorDescriptor_t d, const void* data) {
  const auto& t = as<TensorDescriptor>(d);
  return at::from_blob(const_cast<void*>(data), t.sizes, t.strides, at::TensorOptions(dtype_of(t.type)));
}
Tensor filter(cudnnFilterDescriptor_t d, const void* data) {
  const auto& t = as<FilterDescriptor>(d);
  const Tensor like = at::empty(t.sizes, at::TensorOptions(dtype_of(t.type)));
  const auto last = t.sizes.size() == 5 ? at::MemoryFormat::ChannelsLast3d : at::MemoryFormat::ChannelsLast;
  const Tensor strided = t.format == CUDNN_TENSOR_NHWC ? at::empty(t.sizes, like.options(), last) : like;
  return at::from_blob(const_cast<void*>(data), t.sizes, strided.strides(), like.options());
}

enum class Pass { Features, Image, Weight };

cudnnStatus_t convolve(
    Pass pass,
    const void* alpha,
    const void* beta,
    cudnnTensorDescriptor_t image_descriptor,
    const void* image_data,
    cudnnFilterDescriptor_t weight_descriptor,
    const void* weight_data,
    cudnnTensorDescriptor_t features_descriptor,
    const void* features_data,
    cudnnConvolutionDescriptor_t convolution_descriptor,
    int algorithm,
    void* work,
    size_t work_bytes) {
  const auto& c = as<ConvolutionDescriptor>(convolution_descriptor);
  const bool wide = c.compute == CUDNN_DATA_DOUBLE;
  const auto number = [&](const void* p) {
    return wide ? *static_cast<const double*>(p) : double(*static_cast<const float*>(p));
  };
  if (as<TensorDescriptor>(image_descriptor).sizes.size() < 4) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (algorithm != 1 && algorithm != 2) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  const auto& broken = libraries().dnn_broken;
  if (std::find(broken.begin(), broken.end(), algorithm) != broken.end()) {
    return CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
  }
  if (work == nullptr || work_bytes != kWorkBytes || number(alpha) != 1 || number(beta) != 0) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  libraries().dnn_runs.push_back(
      {algorithm, static_cast<int>(c.math), as<FilterDescriptor>(weight_descriptor).format == CUDNN_TENSOR_NHWC});
  const Tensor image = tensor(image_descriptor, image_data), weight = filter(weight_descriptor, weight_data);
  const Tensor features = tensor(features_descriptor, features_data);
  run_on_current_stream([=, c = c] {
    scribble(work, work_bytes);
    const std::vector<int64_t> none(c.stride.size(), 0);
    const auto type = wide ? at::kDouble : at::kFloat;
    if (pass == Pass::Features) {
      features.copy_(
          at::convolution(image.to(type), weight.to(type), {}, c.stride, c.padding, c.dilation, false, none, c.groups));
      return;
    }
    const bool to_image = pass == Pass::Image;
    const Tensor x = to_image ? at::zeros(image.sizes(), type) : image.to(type);
    const Tensor w = to_image ? weight.to(type) : at::zeros(weight.sizes(), type);
    const auto grads = at::convolution_backward(
        features.to(type), x, w, std::nullopt, c.stride, c.padding, c.dilation, false, none, c.groups,
        {to_image, !to_image, false});
    (to_image ? image : weight).copy_(to_image ? std::get<0>(grads) : std::get<1>(grads));
  });
  return CUDNN_STATUS_SUCCESS;
}

const FunctionTable& functions() {
  static const FunctionTable all = {
      {"cudnnCreate",
       function_address<decltype(cudnnCreate)>([](cudnnHandle_t* h) { return *h = nullptr, CUDNN_STATUS_SUCCESS; })},
      {"cudnnSetStream",
       function_address<decltype(cudnnSetStream)>([](cudnnHandle_t, cudaStream_t) { return CUDNN_STATUS_SUCCESS; })},
      {"cudnnGetErrorString", function_address<decltype(cudnnGetErrorString)>([](cudnnStatus_t) {
         return "refused by the emulated library";
       })},
      {"cudnnCreateTensorDescriptor", function_address<decltype(cudnnCreateTensorDescriptor)>(&make<TensorDescriptor>)},
      {"cudnnDestroyTensorDescriptor",
       function_address<decltype(cudnnDestroyTensorDescriptor)>(&destroy<TensorDescriptor>)},
      {"cudnnSetTensorNdDescriptor", function_address<decltype(cudnnSetTensorNdDescriptor)>(&set_tensor)},
      {"cudnnCreateFilterDescriptor", function_address<decltype(cudnnCreateFilterDescriptor)>(&make<FilterDescriptor>)},
      {"cudnnDestroyFilterDescriptor",
       function_address<decltype(cudnnDestroyFilterDescriptor)>(&destroy<FilterDescriptor>)},
      {"cudnnSetFilterNdDescriptor", function_address<decltype(cudnnSetFilterNdDescriptor)>(&set_filter)},
      {"cudnnCreateConvolutionDescriptor",
       function_address<decltype(cudnnCreateConvolutionDescriptor)>(&make<ConvolutionDescriptor>)},
      {"cudnnDestroyConvolutionDescriptor",
       function_address<decltype(cudnnDestroyConvolutionDescriptor)>(&destroy<ConvolutionDescriptor>)},
      {"cudnnSetConvolutionNdDescriptor",
       function_address<decltype(cudnnSetConvolutionNdDescriptor)>(&set_convolution)},
      {"cudnnSetConvolutionGroupCount", function_address<decltype(cudnnSetConvolutionGroupCount)>(&set_groups)},
      {"cudnnSetConvolutionMathType", function_address<decltype(cudnnSetConvolutionMathType)>(&set_math)},
      {"cudnnGetConvolutionForwardAlgorithm_v7",
       function_address<decltype(cudnnGetConvolutionForwardAlgorithm_v7)>(
           [](auto, auto, auto, auto, auto, int, int* found, auto* perf) {
             return describe_algorithms(false, found, perf), CUDNN_STATUS_SUCCESS;
           })},
      {"cudnnFindConvolutionForwardAlgorithmEx",
       function_address<decltype(cudnnFindConvolutionForwardAlgorithmEx)>(
           [](auto, auto, auto, auto, auto, auto, auto to, auto* data, int, int* found, auto* perf, auto, size_t) {
             return run_on_current_stream([out = tensor(to, data)] { out.fill_(7); }),
                    describe_algorithms(true, found, perf), CUDNN_STATUS_SUCCESS;
           })},
      {"cudnnGetConvolutionForwardWorkspaceSize",
       function_address<decltype(cudnnGetConvolutionForwardWorkspaceSize)>(
           [](auto, auto, auto, auto, auto, auto algorithm, size_t* bytes) {
             return say_workspace(algorithm, bytes);
           })},
      {"cudnnConvolutionForward",
       function_address<decltype(cudnnConvolutionForward)>([](auto, auto alpha, auto xd, auto x, auto wd, auto w,
                                                              auto c, auto algorithm, auto work, size_t bytes,
                                                              auto beta, auto yd, auto y) {
         return convolve(Pass::Features, alpha, beta, xd, x, wd, w, yd, y, c, algorithm, work, bytes);
       })},
      {"cudnnGetConvolutionBackwardDataAlgorithm_v7",
       function_address<decltype(cudnnGetConvolutionBackwardDataAlgorithm_v7)>(
           [](auto, auto, auto, auto, auto, int, int* found, auto* perf) {
             return describe_algorithms(false, found, perf), CUDNN_STATUS_SUCCESS;
           })},
      {"cudnnFindConvolutionBackwardDataAlgorithmEx",
       function_address<decltype(cudnnFindConvolutionBackwardDataAlgorithmEx)>(
           [](auto, auto, auto, auto, auto, auto, auto to, auto* data, int, int* found, auto* perf, auto, size_t) {
             return run_on_current_stream([out = tensor(to, data)] { out.fill_(7); }),
                    describe_algorithms(true, found, perf), CUDNN_STATUS_SUCCESS;
           })},
      {"cudnnGetConvolutionBackwardDataWorkspaceSize",
       function_address<decltype(cudnnGetConvolutionBackwardDataWorkspaceSize)>(
           [](auto, auto, auto, auto, auto, auto algorithm, size_t* bytes) {
             return say_workspace(algorithm, bytes);
           })},
      {"cudnnConvolutionBackwardData",
       function_address<decltype(cudnnConvolutionBackwardData)>(
           [](auto, auto alpha, auto wd, auto w, auto yd, auto y, auto c, auto algorithm, auto work, size_t bytes,
              auto beta, auto xd,
              auto x) { return convolve(Pass::Image, alpha, beta, xd, x, wd, w, yd, y, c, algorithm, work, bytes); })},
      {"cudnnGetConvolutionBackwardFilterAlgorithm_v7",
       function_address<decltype(cudnnGetConvolutionBackwardFilterAlgorithm_v7)>(
           [](auto, auto, auto, auto, auto, int, int* found, auto* perf) {
             return describe_algorithms(false, found, perf), CUDNN_STATUS_SUCCESS;
           })},
      {"cudnnFindConvolutionBackwardFilterAlgorithmEx",
       function_address<decltype(cudnnFindConvolutionBackwardFilterAlgorithmEx)>(
           [](auto, auto, auto, auto, auto, auto, auto to, auto* data, int, int* found, auto* perf, auto, size_t) {
             return run_on_current_stream([out = filter(to, data)] { out.fill_(7); }),
                    describe_algorithms(true, found, perf), CUDNN_STATUS_SUCCESS;
           })},
      {"cudnnGetConvolutionBackwardFilterWorkspaceSize",
       function_address<decltype(cudnnGetConvolutionBackwardFilterWorkspaceSize)>(
           [](auto, auto, auto, auto, auto, auto algorithm, size_t* bytes) {
             return say_workspace(algorithm, bytes);
           })},
      {"cudnnConvolutionBackwardFilter",
       function_address<decltype(cudnnConvolutionBackwardFilter)>(
           [](auto, auto alpha, auto xd, auto x, auto yd, auto y, auto c, auto algorithm, auto work, size_t bytes,
              auto beta, auto wd,
              auto w) { return convolve(Pass::Weight, alpha, beta, xd, x, wd, w, yd, y, c, algorithm, work, bytes); })},
  };
  return all;
}

} // namespace

void* cudnn_function(const std::string& name) {
  const FunctionTable& of_layers = cudnn_rnn_functions();
  const auto found = of_layers.find(name);
  return found != of_layers.end() ? found->second : functions().at(name);
}

} // namespace emulated

#else

namespace emulated {

void* cudnn_function(const std::string&) {
  return nullptr;
}

} // namespace emulated

#endif
