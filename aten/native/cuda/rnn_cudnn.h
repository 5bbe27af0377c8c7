// Recurrent layers by cuDNN: what the operators (rnn_cudnn.cpp) and the way of a network to them (cudnn_layers.cpp)
// share.
#pragma once

#include <aten/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace at::native::cuda {

/// What cuDNN is told of layers before it sees sequences.
struct CudnnNetwork {
  int64_t mode; // cudnnRNNMode_t
  c10::ScalarType dtype;
  int64_t input_size, hidden_size;
  int64_t proj_size; // 0 without projection
  int64_t num_layers;
  bool biased, bidirectional;

  int64_t directions() const {
    return bidirectional ? 2 : 1;
  }
  /// Elements that a direction puts out.
  int64_t output_size() const {
    return proj_size > 0 ? proj_size : hidden_size;
  }
  /// 4 of an LSTM, 3 of a GRU, else 1.
  int64_t gates() const;
  /// Weights of a direction of a layer: of input and state, their biases, the projection.
  int64_t weights() const {
    return (biased ? 4 : 2) + (proj_size > 0 ? 1 : 0);
  }
};

/// Where the weights of a network lie in the one buffer that cuDNN takes, in the order of modules' weights.
struct CudnnWeightLayout {
  struct Place {
    int64_t offset; // in elements
    DimVector sizes;
  };
  int64_t elements;
  std::vector<Place> places;
};

/// What cuDNN says of such a network, asked once; `options` are those of its tensors. Null where it does not take it.
std::shared_ptr<const CudnnWeightLayout> cudnn_weight_layout(const CudnnNetwork& network, const TensorOptions& options);
/// Has cudnn_weight_layout() say null from now on.
void refuse_cudnn_network(const CudnnNetwork& network);

/// The buffer that the weights lie in already, all in their places; or an undefined tensor.
Tensor shared_weight_buffer(const CudnnWeightLayout& layout, TensorList weights);
/// A new buffer with copies of the weights.
Tensor copied_weights(const CudnnWeightLayout& layout, TensorList weights);

} // namespace at::native::cuda
