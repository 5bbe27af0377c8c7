#include "readers.h"

#include <torch/export.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <c10/core/CPUAllocator.h>
#include <caffe2/serialize/in_memory_adapter.h>
#include <caffe2/serialize/inline_container.h>
#include <csrc/jit/runtime/jit_exception.h>
#include <csrc/serialize/pickle_file.h>
#include <csrc/serialize/safetensors.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

namespace fuzz {

namespace {

using torch::IValue;
using torch::Tensor;

[[noreturn]] void report(const char* what, const char* detail) {
  std::fprintf(stderr, "fuzz_readers: %s: %s\n", what, detail);
  std::abort();
}

// What a file of some bytes may ask for in one block: expanded numbers (a byte to a float, a digit to a value) and a
// floor.
std::atomic<size_t> block_limit{SIZE_MAX};

/// Hands on to the library's allocator, but ends the process when a block is too big.
class BoundedAllocator final : public c10::Allocator {
 public:
  explicit BoundedAllocator(c10::Allocator* base) : base_(base) {}
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes > block_limit) {
      report("a block far beyond the size of the file", std::to_string(bytes).c_str());
    }
    return base_->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return base_->raw_deleter();
  }

 private:
  c10::Allocator* base_;
};

bool bound_allocations() {
  // Kept for ever: tensors in static variables are released last of all.
  c10::SetCPUAllocator(new BoundedAllocator(c10::GetCPUAllocator()), /*priority=*/255);
  return true;
}

// A folder for readers of files, removed at the end.
class Folder {
 public:
  Folder() : path_((std::filesystem::temp_directory_path() / "fuzz_readers.XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) {
      report("no folder", path_.c_str());
    }
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const {
    return path_;
  }
  std::string write(const char* name, const std::string& bytes) const {
    const std::string file = path_ + "/" + name;
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file;
  }

 private:
  std::string path_;
};

const Folder& folder() {
  static const Folder made;
  return made;
}

volatile uint8_t sink;

/// Reads every byte, so that storages must really be there.
void use(const Tensor& tensor) {
  if (!tensor.defined() || tensor.is_meta() ||
      tensor.numel() > (1 << 14)) { // expanded tensors are large without memory
    return;
  }
  if (tensor.layout() != torch::kStrided) {
    return use(tensor.to_dense());
  }
  const Tensor plain = tensor.detach().contiguous();
  const auto* bytes = static_cast<const uint8_t*>(plain.const_data_ptr());
  uint8_t sum = 0;
  for (size_t i = 0; i < plain.nbytes(); ++i) {
    sum = static_cast<uint8_t>(sum + bytes[i]);
  }
  sink = sum;
}

// A value may hold one and the same list many times, and so be far larger than its file when it is walked.
void use(const IValue& value, int& steps) {
  if (--steps < 0) {
    return;
  }
  if (value.isTensor()) {
    use(value.toTensor());
  } else if (value.isList()) {
    for (const IValue& element : value.toListRef()) {
      use(element, steps);
    }
  } else if (value.isTuple()) {
    for (const IValue& element : value.toTupleRef().elements()) {
      use(element, steps);
    }
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      use(entry.key(), steps);
      use(entry.value(), steps);
    }
  }
}

void use(const IValue& value) {
  int steps = 10000;
  use(value, steps);
}

void use(torch::serialize::InputArchive& archive) {
  for (const std::string& key : archive.keys()) {
    torch::serialize::InputArchive nested;
    IValue value;
    if (archive.try_read(key, nested)) {
      use(nested);
    } else {
      archive.read(key, value);
      use(value);
    }
  }
}

torch::nn::Sequential small_net() {
  return torch::nn::Sequential(torch::nn::Linear(3, 2), torch::nn::BatchNorm1d(2));
}

void use(const torch::nn::Module& module) {
  for (const Tensor& tensor : module.parameters()) {
    use(tensor);
  }
  for (const Tensor& tensor : module.buffers()) {
    use(tensor);
  }
}

template <typename Optimizer>
void read_optimizer(const std::string& bytes) {
  auto net = small_net();
  Optimizer optimizer(net->parameters());
  torch::serialize::InputArchive archive;
  archive.load_from(bytes.data(), bytes.size());
  optimizer.load(archive);
  use(optimizer.state_dict());
}

template <typename Images>
void read_images(const Images& images) {
  use(images.images());
  use(images.targets());
}

void read_mnist(const std::string& bytes) {
  // Both files in one input: the length of the first as a byte, times 16.
  const size_t length = bytes.empty() ? 0 : std::min(bytes.size() - 1, size_t{static_cast<uint8_t>(bytes[0])} * 16);
  folder().write("t10k-images-idx3-ubyte", bytes.empty() ? bytes : bytes.substr(1, length));
  folder().write("t10k-labels-idx1-ubyte", bytes.empty() ? bytes : bytes.substr(1 + length));
  using torch::data::datasets::MNIST;
  MNIST images(folder().path(), MNIST::Mode::kTest);
  read_images(images);
  use(images.get(0).data);
}

void read_cifar10(const std::string& bytes) {
  folder().write("test_batch.bin", bytes);
  using torch::data::datasets::CIFAR10;
  CIFAR10 images(folder().path(), CIFAR10::Mode::kTest);
  read_images(images);
  use(images.get(0).data);
}

void read_cifar100(const std::string& bytes) {
  folder().write("test.bin", bytes);
  using torch::data::datasets::CIFAR100;
  CIFAR100 images(folder().path(), CIFAR100::Mode::kTest);
  read_images(images);
  use(images.coarse_targets());
}

/// Reads the attributes of a module and those in it, and compiles their methods. Nothing is called: a changed program
/// may run for ever.
void use_program(const torch::jit::Module& root) {
  int modules = 1000;
  for (const torch::jit::Module& module : root.modules()) {
    if (--modules < 0) {
      return;
    }
    for (const IValue& value : module.attributes(/*recurse=*/false)) {
      use(value);
    }
    for (const torch::jit::Method& method : module.get_methods()) {
      try {
        method.function().ensure_defined();
      } catch (const c10::Error& error) {
        sink = static_cast<uint8_t>(error.what()[0]);
      }
    }
  }
}

void read_program(const std::string& bytes, const std::function<torch::jit::Module(const std::string&)>& load) {
  try {
    use_program(load(bytes));
  } catch (const torch::jit::JITException&) { // raised by __setstate__
  }
}

/// Looks at all of a program, prints its graph and reads it again, and saves it. It is not run: a changed program may
/// ask for any amount of memory.
void use(const torch::ExportedProgram& program) {
  use(program.module());
  program.graph().lint();
  sink = static_cast<uint8_t>(program.graph().format_tabular().size());
  std::ostringstream out;
  try {
    sink = static_cast<uint8_t>(torch::fx::Graph::parse(program.graph().to_string())->size());
    program.save(out);
  } catch (const c10::Error& error) { // what is in the graph alone need not be in a text or in a file
    sink = static_cast<uint8_t>(error.what()[0]);
    return;
  }
  const std::string bytes = out.str();
  use(torch::load_program(bytes.data(), bytes.size()).module());
}

} // namespace

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all = {
      {"pickle",
       [](const std::string& bytes) {
         use(torch::pickle_load({bytes.begin(), bytes.end()}));
       }},
      {"pickle_file",
       [](const std::string& bytes) { use(torch::serialize::load_pickle(folder().write("a.pt", bytes))); }},
      {"archive",
       [](const std::string& bytes) {
         torch::serialize::InputArchive archive;
         archive.load_from(bytes.data(), bytes.size());
         use(archive);
       }},
      {"module",
       [](const std::string& bytes) {
         auto net = small_net();
         torch::load(net, bytes.data(), bytes.size());
         use(*net);
       }},
      {"adam", &read_optimizer<torch::optim::Adam>},
      {"lbfgs", &read_optimizer<torch::optim::LBFGS>},
      {"adam_state_dict",
       [](const std::string& bytes) {
         auto net = small_net();
         torch::optim::Adam optimizer(net->parameters());
         optimizer.load_state_dict(torch::pickle_load({bytes.begin(), bytes.end()}));
         use(optimizer.state_dict());
       }},
      {"safetensors",
       [](const std::string& bytes) {
         for (const auto& entry : torch::serialize::load_safetensors(bytes.data(), bytes.size()).tensors) {
           use(entry.value());
         }
       }},
      {"safetensors_file",
       [](const std::string& bytes) {
         for (const auto& entry : torch::serialize::load_safetensors(folder().write("a.safetensors", bytes)).tensors) {
           use(entry.value());
         }
       }},
      {"mnist", &read_mnist},
      {"cifar10", &read_cifar10},
      {"cifar100", &read_cifar100},
      {"records",
       [](const std::string& bytes) {
         using caffe2::serialize::PyTorchStreamReader;
         PyTorchStreamReader reader(std::make_shared<caffe2::serialize::MemoryReadAdapter>(bytes.data(), bytes.size()));
         for (const std::string& name : reader.getAllRecords()) {
           const auto [data, size] = reader.getRecord(name);
           use(torch::from_blob(data.get(), {static_cast<int64_t>(size)}, torch::kByte));
         }
       }},
      {"program",
       [](const std::string& bytes) {
         read_program(bytes, [](const std::string& content) {
           std::istringstream stream(content);
           return torch::jit::load(stream);
         });
       }},
      {"program_file",
       [](const std::string& bytes) {
         read_program(
             bytes, [](const std::string& content) { return torch::jit::load(folder().write("program.pt", content)); });
       }},
      {"exported", [](const std::string& bytes) { use(torch::load_program(bytes.data(), bytes.size())); }},
      {"exported_file", [](const std::string& bytes) { use(torch::load_program(folder().write("a.pt2", bytes))); }},
  };
  return all;
}

void read_input(const uint8_t* data, size_t size) {
  static const bool bounded = bound_allocations();
  (void)bounded;
  if (size == 0) {
    return;
  }
  const Reader& reader = readers()[data[0] % readers().size()];
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  block_limit = (size_t{1} << 20) + 32 * size;
  try {
    reader.read(bytes);
  } catch (const c10::OutOfMemoryError& error) {
    report(reader.name, error.what());
  } catch (const c10::Error&) {
  } catch (const std::exception& error) {
    report(reader.name, error.what());
  }
  block_limit = SIZE_MAX;
}

} // namespace fuzz
