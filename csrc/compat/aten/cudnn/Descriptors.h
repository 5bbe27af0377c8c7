// cuDNN's descriptions of tensors, filters and operations as objects. A program that includes this links to cuDNN.
#pragma once

#include <aten/ops/empty.h>
#include <aten/core/Tensor.h>
#include <aten/core/optional_tensor.h>
#include <aten/cuda/CudnnHandle.h>
#include <c10/util/Optional.h>
#include <csrc/compat/aten/cuda/CUDAContext.h>
#include <csrc/compat/aten/cuda/Exceptions.h>
#include <csrc/compat/aten/cudnn/Types.h>
#include <csrc/compat/aten/cudnn/Utils.h>

#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace at::native {

/// Bytes of an element.
inline int dataSize(cudnnDataType_t dataType) {
  switch (dataType) {
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16:
      return 2;
    case CUDNN_DATA_FLOAT:
      return 4;
    default:
      return 8;
  }
}

/// cuDNN wants the strides of dimensions of size 1, which do not matter, to be those of dense memory. `nhwc`:
/// channels-last.
template <class T>
void fixSizeOneDimStride(int dim, const T* size, T* stride, bool nhwc) {
  int64_t dense = 1;
  const auto visit = [&](int d) {
    if (size[d] == 1) {
      stride[d] = static_cast<T>(dense);
    } else {
      dense *= size[d];
    }
  };
  if (nhwc) {
    visit(1);
  }
  for (int d = dim - 1; d > 1; --d) {
    visit(d);
  }
  if (!nhwc && dim > 1) {
    visit(1);
  }
  visit(0);
}

template <class T, cudnnStatus_t (*dtor)(T*)>
struct DescriptorDeleter {
  void operator()(T* descriptor) const {
    if (descriptor != nullptr) {
      AT_CUDNN_CHECK(dtor(descriptor));
    }
  }
};

/// A descriptor that is made when first set. desc() is null before.
template <class T, cudnnStatus_t (*ctor)(T**), cudnnStatus_t (*dtor)(T*)>
class Descriptor {
 public:
  T* desc() const {
    return descriptor_.get();
  }
  T* mut_desc() {
    init();
    return descriptor_.get();
  }

 protected:
  void init() {
    if (descriptor_ == nullptr) {
      T* made = nullptr;
      AT_CUDNN_CHECK(ctor(&made));
      descriptor_.reset(made);
    }
  }

 private:
  std::unique_ptr<T, DescriptorDeleter<T, dtor>> descriptor_;
};

/// A tensor, with dimensions of size 1 behind its own up to `pad`.
class TensorDescriptor
    : public Descriptor<cudnnTensorStruct, &cudnnCreateTensorDescriptor, &cudnnDestroyTensorDescriptor> {
 public:
  TensorDescriptor() = default;
  explicit TensorDescriptor(const at::Tensor& t, size_t pad = 0) {
    set(t, pad);
  }

  void set(const at::Tensor& t, size_t pad = 0) {
    set(t, t.suggest_memory_format(), pad);
  }
  void set(const at::Tensor& t, at::MemoryFormat memory_format, size_t pad = 0) {
    const bool nhwc =
        memory_format == at::MemoryFormat::ChannelsLast || memory_format == at::MemoryFormat::ChannelsLast3d;
    set(getCudnnDataType(t), t.sizes(), t.strides(), pad, nhwc);
  }
  void set(cudnnDataType_t dataType, IntArrayRef sizes, IntArrayRef strides, size_t pad = 0) {
    set(dataType, sizes, strides, pad,
        is_channels_last_strides_2d(sizes, strides) || is_channels_last_strides_3d(sizes, strides));
  }

 private:
  void set(cudnnDataType_t dataType, IntArrayRef sizes, IntArrayRef strides, size_t pad, bool nhwc) {
    TORCH_CHECK(
        sizes.size() <= CUDNN_DIM_MAX && pad <= CUDNN_DIM_MAX, "cuDNN: tensors have at most ", CUDNN_DIM_MAX,
        " dimensions, got ", sizes.size(), " and a padding to ", pad);
    std::vector<int> size(sizes.begin(), sizes.end()), stride(strides.begin(), strides.end());
    while (size.size() < pad) {
      size.push_back(1);
      stride.push_back(1);
    }
    const int dim = static_cast<int>(size.size());
    fixSizeOneDimStride<int>(dim, size.data(), stride.data(), nhwc);
    AT_CUDNN_CHECK(cudnnSetTensorNdDescriptor(mut_desc(), dataType, dim, size.data(), stride.data()));
  }
};

/// The weight of a convolution, row-major or channels-last.
class FilterDescriptor
    : public Descriptor<cudnnFilterStruct, &cudnnCreateFilterDescriptor, &cudnnDestroyFilterDescriptor> {
 public:
  void set(const at::Tensor& t, int64_t pad = 0) {
    set(t, at::MemoryFormat::Contiguous, pad);
  }
  void set(const at::Tensor& t, const at::MemoryFormat memory_format, int64_t pad = 0) {
    TORCH_CHECK(
        t.dim() <= CUDNN_DIM_MAX && pad <= CUDNN_DIM_MAX, "cuDNN: filters have at most ", CUDNN_DIM_MAX,
        " dimensions, got ", t.dim());
    TORCH_CHECK(
        t.is_contiguous(memory_format), "cuDNN: a filter must lie dense as ", memory_format, ", got strides ",
        t.strides());
    std::vector<int> size(t.sizes().begin(), t.sizes().end());
    while (static_cast<int64_t>(size.size()) < pad) {
      size.push_back(1);
    }
    const bool nhwc =
        memory_format == at::MemoryFormat::ChannelsLast || memory_format == at::MemoryFormat::ChannelsLast3d;
    AT_CUDNN_CHECK(cudnnSetFilterNdDescriptor(
        mut_desc(), getCudnnDataType(t), nhwc ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, static_cast<int>(size.size()),
        size.data()));
  }
};

struct ConvolutionDescriptor
    : public Descriptor<cudnnConvolutionStruct, &cudnnCreateConvolutionDescriptor, &cudnnDestroyConvolutionDescriptor> {
  /// `upscale` is the dilation. Half and bfloat16 compute in float, on tensor cores.
  void set(cudnnDataType_t dataType, int dim, int* pad, int* stride, int* upscale, int groups, bool allow_tf32) {
    const bool narrow = dataType == CUDNN_DATA_HALF || dataType == CUDNN_DATA_BFLOAT16;
    AT_CUDNN_CHECK(cudnnSetConvolutionNdDescriptor(
        mut_desc(), dim, pad, stride, upscale, CUDNN_CROSS_CORRELATION, narrow ? CUDNN_DATA_FLOAT : dataType));
    AT_CUDNN_CHECK(cudnnSetConvolutionGroupCount(mut_desc(), groups));
    const bool plain = dataType == CUDNN_DATA_FLOAT && !allow_tf32;
    AT_CUDNN_CHECK(cudnnSetConvolutionMathType(
        mut_desc(),
        narrow      ? CUDNN_TENSOR_OP_MATH
            : plain ? CUDNN_FMA_MATH
                    : CUDNN_DEFAULT_MATH));
  }
};

struct SpatialTransformerDescriptor : public Descriptor<
                                          cudnnSpatialTransformerStruct,
                                          &cudnnCreateSpatialTransformerDescriptor,
                                          &cudnnDestroySpatialTransformerDescriptor> {
  void set(cudnnDataType_t dataType, int dim, int* size) {
    AT_CUDNN_CHECK(cudnnSetSpatialTransformerNdDescriptor(mut_desc(), CUDNN_SAMPLER_BILINEAR, dataType, dim, size));
  }
};

struct DropoutDescriptor
    : public Descriptor<cudnnDropoutStruct, &cudnnCreateDropoutDescriptor, &cudnnDestroyDropoutDescriptor> {
  /// Makes the generator's state anew, which takes long.
  void initialize_rng(cudnnHandle_t handle, float dropout, long long int seed, const TensorOptions& options) {
    TORCH_INTERNAL_ASSERT(dropout > 0, "dropout must be nonzero; otherwise call set_no_dropout");
    size_t bytes = 0;
    AT_CUDNN_CHECK(cudnnDropoutGetStatesSize(handle, &bytes));
    state = at::empty({static_cast<int64_t>(bytes)}, options);
    AT_CUDNN_CHECK(cudnnSetDropoutDescriptor(
        mut_desc(), handle, dropout, state.data_ptr(), bytes, static_cast<unsigned long long>(seed)));
  }
  /// With a state that initialize_rng made.
  void set(cudnnHandle_t handle, float dropout, const at::Tensor& state) {
    TORCH_INTERNAL_ASSERT(dropout > 0, "dropout must be nonzero; otherwise call set_no_dropout");
    AT_CUDNN_CHECK(cudnnRestoreDropoutDescriptor(
        mut_desc(), handle, dropout, state.data_ptr(), static_cast<size_t>(state.size(0)), /*seed=*/0));
  }
  void set_no_dropout(cudnnHandle_t handle) {
    AT_CUDNN_CHECK(cudnnSetDropoutDescriptor(mut_desc(), handle, 0, nullptr, 0, 0));
  }

  at::Tensor state;
};

struct CTCLossDescriptor
    : public Descriptor<cudnnCTCLossStruct, &cudnnCreateCTCLossDescriptor, &cudnnDestroyCTCLossDescriptor> {
  void set(cudnnDataType_t datatype) {
    AT_CUDNN_CHECK(cudnnSetCTCLossDescriptor(mut_desc(), datatype));
  }
  void setEx(cudnnDataType_t datatype, cudnnLossNormalizationMode_t normMode, cudnnNanPropagation_t gradMode) {
    AT_CUDNN_CHECK(cudnnSetCTCLossDescriptorEx(mut_desc(), datatype, normMode, gradMode));
  }
};

struct ActivationDescriptor
    : public Descriptor<cudnnActivationStruct, &cudnnCreateActivationDescriptor, &cudnnDestroyActivationDescriptor> {
  void set(cudnnActivationMode_t mode) {
    AT_CUDNN_CHECK(
        cudnnSetActivationDescriptor(mut_desc(), mode, CUDNN_NOT_PROPAGATE_NAN, std::numeric_limits<double>::max()));
  }
};

/// A factor as cuDNN takes it: double for double, float for the rest.
union Constant {
  Constant(cudnnDataType_t dataType, double value) {
    if (dataType == CUDNN_DATA_DOUBLE) {
      d = value;
    } else {
      f = static_cast<float>(value);
    }
  }
  float f;
  double d;
};

} // namespace at::native
