// A convolutional net that learns digits from files of MNIST's format: see --help. Compiles with libtensor and
// libtorch.
#include <torch/torch.h>

#if __has_include(<torch/progress.h>)
#include <torch/progress.h>
#endif

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include "digits.h"
#include "net.h"

namespace mnist {

namespace {

constexpr char kUsage[] = R"(usage: mnist [options] [FOLDER]

Trains a small convolutional net on the images in FOLDER: train-images-idx3-ubyte and
train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, unpacked. Without FOLDER the
program draws digits of its own into ./drawn-digits and learns those.

  --epochs N      passes over the training images                  3
  --batch N       images in a step                                 64
  --lr X          learning rate                                    0.02
  --workers N     threads that read images ahead                   1
  --seed N        of everything random                             1
  --device NAME   cpu, cuda or cuda:N                              cuda if there is one
  --save FILE     where the trained net goes                       not saved
  --draw N        only draw N training and N/4 test digits into FOLDER
  --steps         print the loss of each step
)";

struct Options {
  std::string folder;
  int64_t epochs = 3;
  int64_t batch = 64;
  double lr = 0.02;
  int64_t workers = 1;
  int64_t seed = 1;
  std::string device;
  std::string save;
  int64_t draw = 0;
  bool steps = false;
  bool help = false;
};

/// What the user can put right.
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

int64_t whole_number(const std::string& option, const std::string& text, int64_t least) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < least || value > 1000000000) {
    throw UserError(option + " takes a whole number from " + std::to_string(least) + ", not '" + text + "'");
  }
  return value;
}

double positive_number(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value > 0 && value < 1e9)) {
    throw UserError(option + " takes a positive number, not '" + text + "'");
  }
  return value;
}

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto value = [&]() -> std::string {
      if (++i >= argc) {
        throw UserError(option + " needs a value");
      }
      return argv[i];
    };
    if (option == "--help") {
      options.help = true;
    } else if (option == "--epochs") {
      options.epochs = whole_number(option, value(), 0);
    } else if (option == "--batch") {
      options.batch = whole_number(option, value(), 1);
    } else if (option == "--lr") {
      options.lr = positive_number(option, value());
    } else if (option == "--workers") {
      options.workers = whole_number(option, value(), 0);
    } else if (option == "--seed") {
      options.seed = whole_number(option, value(), 0);
    } else if (option == "--device") {
      options.device = value();
    } else if (option == "--save") {
      options.save = value();
    } else if (option == "--draw") {
      options.draw = whole_number(option, value(), 4);
    } else if (option == "--steps") {
      options.steps = true;
    } else if (option.rfind("-", 0) == 0) {
      throw UserError("there is no option " + option + "; --help lists them");
    } else if (options.folder.empty()) {
      options.folder = option;
    } else {
      throw UserError("one folder only, not " + options.folder + " and " + option);
    }
  }
  return options;
}

using torch::data::datasets::MNIST;

/// Brightness as the training images of MNIST have it: mean and standard deviation.
auto batches_of(MNIST images) {
  return images.map(torch::data::transforms::Normalize<>(0.1307, 0.3081)).map(torch::data::transforms::Stack<>());
}

/// Shows how training goes: libtensor's bar, or with libtorch nothing.
class Steps {
 public:
#if __has_include(<torch/progress.h>)
  Steps(int64_t epoch, int64_t count, int64_t batch)
      : bar_(
            count,
            torch::ProgressOptions()
                .label("epoch " + std::to_string(epoch))
                .rate_unit("images")
                .rate_per_step(static_cast<double>(batch))) {}
  void advance(double loss) {
    bar_.mean("loss", loss).advance();
  }

 private:
  torch::Progress bar_;
#else
  Steps(int64_t, int64_t, int64_t) {}
  void advance(double) {}
#endif
};

template <class Loader>
double train_epoch(
    Net& net, Loader& loader, torch::optim::Optimizer& optimizer, torch::Device device, Steps steps, bool print_steps) {
  net->train();
  double sum = 0;
  int64_t count = 0;
  for (auto& batch : loader) {
    optimizer.zero_grad();
    torch::Tensor loss = torch::nll_loss(net->forward(batch.data.to(device)), batch.target.to(device));
    loss.backward();
    optimizer.step();
    const double value = loss.template item<double>();
    if (print_steps) {
      std::printf("step %ld  loss %.6f\n", static_cast<long>(count), value);
    }
    sum += value;
    ++count;
    steps.advance(value);
  }
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

/// The share of images whose digit the net finds.
template <class Loader>
double accuracy(Net& net, Loader& loader, torch::Device device) {
  torch::NoGradGuard no_grad;
  net->eval();
  int64_t right = 0, count = 0;
  for (auto& batch : loader) {
    const torch::Tensor digits = net->forward(batch.data.to(device)).argmax(1);
    right += digits.eq(batch.target.to(device)).sum().template item<int64_t>();
    count += digits.size(0);
  }
  return count > 0 ? static_cast<double>(right) / static_cast<double>(count) : 0;
}

torch::Device open_device(const std::string& name) {
  if (name.empty()) {
    return torch::Device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  }
  try {
    torch::Device device(name);
    torch::zeros({1}, device);
    return device;
  } catch (const c10::Error& error) {
    throw UserError("--device " + name + " cannot be used: " + error.what_without_backtrace());
  }
}

MNIST open_images(const std::string& folder, MNIST::Mode mode) {
  try {
    return MNIST(folder, mode);
  } catch (const c10::Error& error) {
    throw UserError(error.what_without_backtrace());
  }
}

int run(Options options) {
  if (options.help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (options.folder.empty()) {
    options.folder = "drawn-digits";
    if (options.draw == 0 && access("drawn-digits/t10k-labels-idx1-ubyte", R_OK) != 0) {
      write_drawn_digits(options.folder, 4000, 1000, 1);
    }
  }
  if (options.draw > 0) {
    write_drawn_digits(options.folder, options.draw, options.draw / 4, static_cast<uint32_t>(options.seed));
    std::printf("drew %ld digits into %s\n", static_cast<long>(options.draw), options.folder.c_str());
    return 0;
  }
  const torch::Device device = open_device(options.device);
  MNIST train_images = open_images(options.folder, MNIST::Mode::kTrain);
  MNIST test_images = open_images(options.folder, MNIST::Mode::kTest);
  const auto images = static_cast<int64_t>(*train_images.size());
  std::printf(
      "%ld images to learn from, %ld to test with, on %s\n", static_cast<long>(images),
      static_cast<long>(*test_images.size()), device.str().c_str());
  std::fflush(stdout);

  torch::manual_seed(static_cast<uint64_t>(options.seed));
  Net net;
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(options.lr).momentum(0.9));
  const auto loader_options = torch::data::DataLoaderOptions()
                                  .batch_size(static_cast<size_t>(options.batch))
                                  .workers(static_cast<size_t>(options.workers));
  auto train = torch::data::make_data_loader(batches_of(train_images), loader_options);
  auto test =
      torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(batches_of(test_images), loader_options);
  for (int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    Steps steps(epoch, (images + options.batch - 1) / options.batch, options.batch);
    const double loss = train_epoch(net, *train, optimizer, device, std::move(steps), options.steps);
    std::printf(
        "epoch %ld: loss %.4f, %.2f %% of the test images right\n", static_cast<long>(epoch), loss,
        100 * accuracy(net, *test, device));
    std::fflush(stdout);
  }
  if (!options.save.empty()) {
    torch::save(net, options.save);
    std::printf("saved %s\n", options.save.c_str());
  }
  return 0;
}

} // namespace

} // namespace mnist

int main(int argc, char** argv) {
  try {
    return mnist::run(mnist::parse_options(argc, argv));
  } catch (const mnist::UserError& error) {
    std::fprintf(stderr, "mnist: %s\n", error.what());
    return 2;
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "mnist: %s\n", error.what_without_backtrace());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mnist: %s\n", error.what());
  }
  return 1;
}
