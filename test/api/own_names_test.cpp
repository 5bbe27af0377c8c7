// Programs have global types of names that the library has in its namespaces, before its headers come.
struct Generator {
  int layers = 3;
};
struct TensorList {
  int length = 2;
};

#include <torch/torch.h>

#include <catch2/catch.hpp>

TEST_CASE("global types of a program are no rivals of the library's", "[api]") {
  CHECK(Generator().layers + TensorList().length == 5);
  at::Generator random = at::detail::createCPUGenerator(3);
  torch::Tensor weights = torch::empty({4, 3});
  torch::nn::init::normal_(weights, 0, 1, random);
  const torch::Tensor same = torch::empty({4, 3});
  random.set_current_seed(3);
  torch::nn::init::normal_(same, 0, 1, random);
  CHECK(torch::equal(weights, same));
  CHECK(torch::linalg::multi_dot({weights.t(), weights}).size(0) == 3);
}
