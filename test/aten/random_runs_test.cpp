// Samplers draw and map whole runs of the stream at a time. They give what single draws give, and leave the generator
// there.
#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace {

using torch::Tensor;

/// A call on a tensor, and what it stores for one element, made of single draws.
struct Sampler {
  std::string name;
  torch::Dtype dtype;
  std::function<void(Tensor&, const torch::Generator&)> fill;
  std::function<double(at::CPUGeneratorImpl&)> draw;
};

double unit(at::CPUGeneratorImpl& generator) {
  return static_cast<double>(generator.random64() & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
}

std::vector<Sampler> samplers() {
  using Impl = at::CPUGeneratorImpl;
  using Generator = torch::Generator;
  return {
      {"uniform_ of floats", torch::kFloat, [](Tensor& t, const Generator& g) { t.uniform_(0, 1, g); },
       [](Impl& g) { return static_cast<double>(g.random() & 0xffffff) * 0x1p-24; }},
      {"uniform_ of doubles", torch::kDouble, [](Tensor& t, const Generator& g) { t.uniform_(0, 1, g); }, unit},
      {"random_ of int32", torch::kInt, [](Tensor& t, const Generator& g) { t.random_(g); },
       [](Impl& g) { return static_cast<double>(g.random() & 0x7fffffff); }},
      {"random_ of floats", torch::kFloat, [](Tensor& t, const Generator& g) { t.random_(g); },
       [](Impl& g) { return static_cast<double>(g.random() % ((1 << 24) + 1)); }},
      {"random_ of bytes below 7", torch::kByte, [](Tensor& t, const Generator& g) { t.random_(7, g); },
       [](Impl& g) { return static_cast<double>(g.random() % 7); }},
      {"random_ of one number", torch::kLong, [](Tensor& t, const Generator& g) { t.random_(3, 4, g); },
       [](Impl& g) { return static_cast<double>(3 + g.random() % 1); }},
      {"random_, range 2^28 - 1", torch::kLong, [](Tensor& t, const Generator& g) { t.random_(-9, (1 << 28) - 10, g); },
       [](Impl& g) { return static_cast<double>(g.random() % ((1 << 28) - 1)) - 9; }},
      {"random_, range 3^32", torch::kLong, [](Tensor& t, const Generator& g) { t.random_(1853020188851841, g); },
       [](Impl& g) { return static_cast<double>(g.random64() % 1853020188851841u); }},
      {"random_, range 2^33", torch::kLong, [](Tensor& t, const Generator& g) { t.random_(int64_t{1} << 33, g); },
       [](Impl& g) { return static_cast<double>(g.random64() % (uint64_t{1} << 33)); }},
      {"bernoulli_", torch::kLong, [](Tensor& t, const Generator& g) { t.bernoulli_(0.3, g); },
       [](Impl& g) { return unit(g) < 0.3 ? 1.0 : 0.0; }},
      {"bernoulli_, always", torch::kFloat, [](Tensor& t, const Generator& g) { t.bernoulli_(1, g); },
       [](Impl& g) { return unit(g) < 1 ? 1.0 : 0.0; }},
      {"bernoulli_ of a tensor", torch::kFloat,
       [](Tensor& t, const Generator& g) { t.bernoulli_(torch::full({1}, 0.3f), g); },
       [](Impl& g) { return static_cast<double>(g.random() & 0xffffff) * 0x1p-24 < 0.3f ? 1.0 : 0.0; }},
      {"exponential_ of doubles", torch::kDouble, [](Tensor& t, const Generator& g) { t.exponential_(2, g); },
       [](Impl& g) { return -0.5 * std::log1p(-unit(g)); }},
      {"geometric_", torch::kInt, [](Tensor& t, const Generator& g) { t.geometric_(0.2, g); },
       [](Impl& g) { return std::ceil(std::log(unit(g)) / std::log1p(-0.2)); }},
  };
}

at::CPUGeneratorImpl& impl(const torch::Generator& generator) {
  return *static_cast<at::CPUGeneratorImpl*>(generator.unsafeGetGeneratorImpl());
}

/// A generator that has made some draws already.
torch::Generator started(int draws) {
  torch::Generator generator = at::make_generator<at::CPUGeneratorImpl>(17);
  for (int i = 0; i < draws; ++i) {
    impl(generator).random();
  }
  return generator;
}

} // namespace

TEST_CASE("runs of samples are made of single draws", "[random]") {
  for (const Sampler& sampler : samplers()) {
    for (const int64_t size : {1, 7, 312, 623, 624, 625, 1300}) {
      for (const int before : {0, 1, 500, 624}) {
        INFO(sampler.name << ", " << size << " after " << before << " draws");
        const torch::Generator runs = started(before), single = started(before);
        Tensor drawn = torch::empty({size}, sampler.dtype);
        sampler.fill(drawn, runs);
        const Tensor want = torch::empty({size}, torch::kDouble);
        for (int64_t i = 0; i < size; ++i) {
          want.mutable_data_ptr<double>()[i] = sampler.draw(impl(single));
        }
        CHECK(torch::equal(drawn.to(torch::kDouble), want));
        CHECK(torch::equal(runs.get_state(), single.get_state()));
      }
    }
  }
}

TEST_CASE("a strided tensor gets the samples of a dense one", "[random]") {
  for (const Sampler& sampler : samplers()) {
    INFO(sampler.name);
    const torch::Generator first = started(3), second = started(3);
    Tensor dense = torch::empty({1300}, sampler.dtype);
    sampler.fill(dense, first);
    Tensor strided = torch::zeros({1300, 3}, sampler.dtype).select(1, 1);
    sampler.fill(strided, second);
    CHECK(torch::equal(strided, dense));
    CHECK(torch::equal(first.get_state(), second.get_state()));
  }
}

TEST_CASE("16-bit uniform samples stay below their limit", "[random]") {
  for (const auto dtype : {torch::kHalf, torch::kBFloat16}) {
    torch::manual_seed(0);
    const Tensor drawn = torch::empty({100003}, dtype).uniform_(-2, 3);
    CHECK(drawn.min().item<double>() >= -2);
    CHECK(drawn.max().item<double>() < 3);
  }
}
