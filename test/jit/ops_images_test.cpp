// Operators that sources of PyTorch 1.0 to 1.4 call, and those without a gradient.
#include <catch2/catch.hpp>

#include <torch/script.h>
#include <torch/torch.h>

TEST_CASE("images of old programs are resized by one number, a list or a factor", "[jit][ops]") {
  const auto unit = torch::jit::compile(R"(
def sizes(x: Tensor):
    a = torch.__interpolate(x, 4, None, "bilinear", True)
    b = torch.__interpolate(x, None, [1.5, 2.0])
    c = torch.__upsample(x, [3, 3], None, "nearest")
    return a, b.shape, c, torch.__upsample_bilinear(x, None, 2), torch.__upsample_nearest(x, 3).shape
def renormed(w: Tensor, i: Tensor):
    return torch._no_grad_embedding_renorm_(w, i, 1.0, 2.0)
)");
  const at::Tensor x = torch::arange(4, torch::kFloat).view({1, 1, 2, 2});
  const auto sizes = unit->run_method("sizes", x).toTuple();
  namespace F = torch::nn::functional;
  const at::Tensor bilinear = F::interpolate(
      x, F::InterpolateFuncOptions().size(std::vector<int64_t>{4, 4}).mode(torch::kBilinear).align_corners(true));
  CHECK(torch::equal(sizes->elements()[0].toTensor(), bilinear));
  CHECK(sizes->elements()[1].toIntVector() == std::vector<int64_t>{1, 1, 3, 4});
  CHECK(sizes->elements()[2].toTensor().flatten()[2].item<float>() == 1);
  CHECK(torch::equal(sizes->elements()[3].toTensor(), bilinear));
  CHECK(sizes->elements()[4].toIntVector() == std::vector<int64_t>{1, 1, 3, 3});
  const at::Tensor weight = torch::tensor({3.0f, 4.0f, 0.3f, 0.4f}).view({2, 2});
  unit->run_method("renormed", weight, torch::tensor({0}));
  CHECK(weight[0].norm().item<float>() == Approx(1).epsilon(1e-4));
  CHECK(weight[1][0].item<float>() == 0.3f);
}
