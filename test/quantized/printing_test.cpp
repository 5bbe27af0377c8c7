#include <catch2/catch.hpp>

#include <torch/torch.h>

#include <sstream>

using Catch::Contains;

TEST_CASE("quantized tensors are printed with their numbers and how they are kept", "[quantized]") {
  std::ostringstream whole, channels;
  whole << at::quantize_per_tensor(torch::tensor({0.5f, 1.0f}), 0.5, 3, at::kQUInt8);
  CHECK(
      whole.str() ==
      " 0.5000\n 1.0000\n[ QuantizedCPUQUInt8Type{2}, qscheme: per_tensor_affine, scale: 0.5, zero_point: 3 ]");
  std::ostringstream exact; // as many digits as tell it from others
  exact << at::quantize_per_tensor(torch::tensor({0.0f}), 0.03337254991718367, -6, at::kQInt8);
  CHECK_THAT(exact.str(), Contains(", scale: 0.03337254991718367, zero_point: -6 ]"));
  channels << at::quantize_per_channel(
      torch::ones({1, 1}), torch::full({1}, 0.5, at::kDouble), torch::zeros({1}, at::kLong), 0, at::kQInt8);
  CHECK_THAT(
      channels.str(),
      Contains("qscheme: per_channel_affine, scales:  0.5000\n[ CPUDoubleType{1} ], zero_points:  0\n"));
  CHECK_THAT(channels.str(), Contains(", axis: 0 ]"));
}
