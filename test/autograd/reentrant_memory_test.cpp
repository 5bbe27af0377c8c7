// Backward passes inside of each other where memory for their threads ends.
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

using at::Tensor;

namespace {

/// Runs `depth` further passes in its backward, each inside of the one before.
struct Nested : torch::autograd::Function<Nested> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, int64_t depth) {
    context->saved_data["depth"] = depth;
    return x * 2;
  }
  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext* context, torch::autograd::variable_list grads) {
    const int64_t depth = context->saved_data["depth"].toInt();
    if (depth > 0) {
      const at::AutoGradMode recording(true);
      const Tensor inner = at::ones({1}).requires_grad_();
      Nested::apply(inner, depth - 1).sum().backward();
    }
    return {grads[0] * 2, Tensor()};
  }
};

/// Leaves the process `room` bytes of addresses more than it has, as long as it lives.
class AddressLimit {
 public:
  explicit AddressLimit(size_t room) {
    REQUIRE(::getrlimit(RLIMIT_AS, &before_) == 0);
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = before_;
    limit.rlim_cur = pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE)) + room;
    REQUIRE(::setrlimit(RLIMIT_AS, &limit) == 0);
  }
  ~AddressLimit() {
    ::setrlimit(RLIMIT_AS, &before_);
  }

 private:
  rlimit before_{};
};

} // namespace

TEST_CASE("deep passes without memory for a thread end in an error, and leave nothing behind", "[autograd][memory]") {
  const Tensor x = at::ones({1}).requires_grad_();
  {
    const AddressLimit limit(size_t{48} << 20);
    // A thread for 60 passes, each with a stack of 8 MiB.
    CHECK_THROWS_AS(Nested::apply(x, 60 * 40).sum().backward(), c10::OutOfMemoryError);
  }
  // Threads that start later find no pass of those that failed.
  const Tensor y = at::ones({1}).requires_grad_();
  Nested::apply(y, 60 * 5).sum().backward();
  CHECK(y.grad().item<float>() == 2);
}
