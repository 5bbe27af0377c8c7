// What a busy machine costs: time of a call on two threads while other processes spin, over its time while they rest.
// Compiles against libtensor and against libtorch, as calls.cpp does. Wants a machine with two processors that nothing
// else uses.
//
//   busy_neighbour [ROUNDS] [NAME...]
//
// Four states take turns: no neighbour, one, two, and one that is pinned to the processor where the caller sits. A
// state's time is the mean over some tens of milliseconds of calls, so what a call waits for a processor counts. Shown
// is the median over the rounds, of the quiet time and of each other state's time over it.
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace nn = torch::nn;
using at::Tensor;

/// A process that computes without end while it is let run; it ends with this one.
class Neighbour {
 public:
  Neighbour() : process_(fork()) {
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      volatile unsigned count = 0;
      while (true) {
        count = 1;
      }
    }
    rest();
  }
  ~Neighbour() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  void rest() const {
    kill(process_, SIGSTOP);
  }

  /// On any processor, or on one alone.
  void spin(int processor = -1) const {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (processor < 0 || i == processor) {
        CPU_SET(i, &set);
      }
    }
    sched_setaffinity(process_, sizeof(set), &set);
    kill(process_, SIGCONT);
  }

 private:
  const pid_t process_;
};

/// Milliseconds of a call, on average over `window` of them.
double mean_call(const std::function<void()>& call, std::chrono::milliseconds window) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  int calls = 0;
  do {
    call();
    ++calls;
  } while (Clock::now() - start < window);
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count() / calls;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

struct Case {
  const char* name;
  std::function<std::function<void()>()> make;
};

std::function<void()> without_grad(const std::function<void()>& call) {
  return [call] {
    const at::NoGradGuard guard;
    call();
  };
}

/// Forward, backward and a step of AdamW.
std::function<void()> training_step(nn::Sequential net, const Tensor& input) {
  const auto optimizer = std::make_shared<torch::optim::AdamW>(net->parameters());
  return [=]() mutable {
    optimizer->zero_grad();
    net->forward(input).square().mean().backward();
    optimizer->step();
  };
}

const std::vector<Case> cases{
    {"add, 16M",
     [] {
       const Tensor a = at::randn({1 << 24}), b = at::randn({1 << 24});
       Tensor result = at::empty_like(a);
       return without_grad([=]() mutable { at::add_out(result, a, b); });
     }},
    {"add, 1M",
     [] {
       const Tensor a = at::randn({1 << 20}), b = at::randn({1 << 20});
       return without_grad([=] { at::add(a, b); });
     }},
    {"mm, 1024^3",
     [] {
       const Tensor a = at::randn({1024, 1024}), b = at::randn({1024, 1024});
       return without_grad([=] { at::mm(a, b); });
     }},
    {"softmax, 4096 x 1024",
     [] {
       const Tensor x = at::randn({4096, 1024});
       return without_grad([=] { at::softmax(x, 1); });
     }},
    {"sum, 4096 x 1024",
     [] {
       const Tensor x = at::randn({4096, 1024});
       return without_grad([=] { at::sum(x); });
     }},
    {"sort, 1M",
     [] {
       const Tensor x = at::randn({1 << 20});
       return without_grad([=] { at::sort(x); });
     }},
    {"conv2d, 16 x 64 x 56 x 56",
     [] {
       const Tensor images = at::randn({16, 64, 56, 56}), filters = at::randn({64, 64, 3, 3});
       return without_grad([=] { at::conv2d(images, filters, {}, 1, 1); });
     }},
    {"conv2d backward, 8 x 64 x 28 x 28",
     [] {
       const Tensor images = at::randn({8, 64, 28, 28}), filters = at::randn({64, 64, 3, 3}),
                    grad = at::randn({8, 64, 28, 28});
       return without_grad([=] {
         at::convolution_backward(
             grad, images, filters, at::OptionalIntArrayRef(), {1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 1,
             {true, true, false});
       });
     }},
    {"training step, perceptron",
     [] {
       return training_step(
           nn::Sequential(nn::Linear(256, 512), nn::ReLU(), nn::Linear(512, 64)), at::randn({128, 256}));
     }},
    {"training step, convolutions",
     [] {
       return training_step(
           nn::Sequential(
               nn::Conv2d(nn::Conv2dOptions(3, 32, 3).padding(1)), nn::BatchNorm2d(32), nn::ReLU(), nn::MaxPool2d(2),
               nn::Conv2d(nn::Conv2dOptions(32, 64, 3).padding(1)), nn::ReLU()),
           at::randn({8, 3, 32, 32}));
     }},
};

} // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  const std::vector<std::string> names(argv + std::min(argc, 2), argv + argc);
  const std::array<Neighbour, 2> neighbours; // before any thread
  at::set_num_threads(2);
  std::printf("| case | quiet | 1 neighbour | 2 neighbours | 1 on the caller's processor |\n|---|---|---|---|---|\n");
  for (const Case& c : cases) {
    if (!names.empty() && std::find(names.begin(), names.end(), c.name) == names.end()) {
      continue;
    }
    const auto call = c.make();
    const double once = mean_call(call, std::chrono::milliseconds(20));
    const auto window = std::chrono::milliseconds(std::clamp(static_cast<int>(once * 10), 60, 400));
    std::vector<double> times[4];
    for (int round = 0; round < rounds; ++round) {
      for (int state = 0; state < 4; ++state) {
        if (state == 3) {
          neighbours[0].spin(sched_getcpu());
        } else {
          for (int i = 0; i < state; ++i) {
            neighbours[i].spin();
          }
        }
        call();
        times[state].push_back(mean_call(call, window));
        for (const Neighbour& neighbour : neighbours) {
          neighbour.rest();
        }
      }
    }
    const auto ratio = [&](int state) {
      std::vector<double> ratios;
      for (int round = 0; round < rounds; ++round) {
        ratios.push_back(times[state][round] / times[0][round]);
      }
      return median(ratios);
    };
    std::printf("| %s | %.3f ms | %.2f | %.2f | %.2f |\n", c.name, median(times[0]), ratio(1), ratio(2), ratio(3));
    std::fflush(stdout);
  }
}
