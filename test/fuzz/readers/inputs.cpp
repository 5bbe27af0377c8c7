// Inputs to start from, and checksums.
#include "readers.h"

#include <torch/export.h>
#include <torch/torch.h>

#include <caffe2/serialize/inline_container.h>
#include <csrc/serialize/pickle_file.h>
#include <csrc/serialize/safetensors.h>
#include <csrc/utils/crc32.h>

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace fuzz {

namespace {

using std::string_literals::operator""s;
using torch::IValue;
using torch::Tensor;

std::vector<std::string> inputs;

void add(std::string_view reader, const std::string& bytes) {
  for (size_t i = 0; i < readers().size(); ++i) {
    if (readers()[i].name == reader) {
      inputs.push_back(static_cast<char>(i) + bytes);
      return;
    }
  }
  throw std::logic_error("no reader " + std::string(reader));
}

template <typename... Values>
std::string saved(const Values&... values) {
  std::ostringstream out;
  torch::save(values..., out);
  return out.str();
}

IValue values() {
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  const Tensor base = torch::arange(12, torch::kFloat);
  dict.insert("weight", base.view({3, 4}));
  dict.insert("view", base.slice(0, 2, 6));
  dict.insert("half", torch::ones({2}, torch::kHalf));
  dict.insert("flags", torch::tensor({true, false}));
  dict.insert("sparse", torch::eye(3).to_sparse());
  dict.insert("compressed", torch::eye(3).to_sparse_csr());
  dict.insert("text", "a longer text");
  dict.insert("numbers", std::vector<int64_t>{1, -2, int64_t{1} << 40});
  dict.insert("rates", std::vector<double>{0.5, 1e-9});
  dict.insert("nested", std::make_tuple(int64_t{1}, std::string("x"), torch::zeros({1}, torch::kLong)));
  dict.insert("none", IValue());
  return dict;
}

void add_zip_files() {
  const std::vector<char> pickled = torch::pickle_save(values());
  for (const char* reader : {"pickle", "pickle_file", "archive", "records"}) {
    add(reader, std::string(pickled.begin(), pickled.end()));
  }
  torch::serialize::OutputArchive archive, nested;
  archive.write("epoch", IValue(int64_t{3}));
  archive.write("name", IValue(std::string("x")));
  archive.write("weight", torch::ones({2, 2}));
  nested.write("sizes", IValue(std::vector<int64_t>{1, 2}));
  nested.write("buffer", torch::arange(3), /*is_buffer=*/true);
  archive.write("nested", nested);
  std::ostringstream out;
  archive.save_to(out);
  add("archive", out.str());
  torch::manual_seed(1);
  torch::nn::Sequential net(torch::nn::Linear(3, 2), torch::nn::BatchNorm1d(2));
  add("module", saved(net));
  torch::optim::Adam adam(net->parameters());
  torch::optim::LBFGS lbfgs(net->parameters(), torch::optim::LBFGSOptions().max_iter(3));
  const auto loss = [&] {
    net->zero_grad();
    Tensor value = net->forward(torch::ones({2, 3}) + torch::eye(2, 3)).square().sum();
    value.backward();
    return value;
  };
  adam.step(loss);
  lbfgs.step(loss);
  add("adam", saved(adam));
  add("lbfgs", saved(lbfgs));
  const std::vector<char> state = torch::pickle_save(adam.state_dict());
  add("adam_state_dict", std::string(state.begin(), state.end()));
}

void add_safetensors() {
  c10::Dict<std::string, Tensor> tensors;
  tensors.insert("a", torch::arange(6, torch::kFloat).view({2, 3}));
  tensors.insert("b \"quoted\"", torch::ones({3}, torch::kBFloat16));
  tensors.insert("empty", torch::zeros({0, 2}));
  c10::Dict<std::string, std::string> metadata;
  metadata.insert("format", "pt");
  std::string path = (std::filesystem::temp_directory_path() / "fuzz_readers_safetensors.XXXXXX").string();
  const int file = ::mkstemp(path.data());
  if (file < 0) {
    throw std::runtime_error("cannot write " + path);
  }
  ::close(file);
  torch::serialize::save_safetensors(tensors, path, metadata);
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  std::filesystem::remove(path);
  add("safetensors", bytes.str());
  add("safetensors_file", bytes.str());
}

/// A tensor of this many dimensions, all of size 1.
Tensor with_dimensions(size_t count) {
  return torch::ones({1}).view(std::vector<int64_t>(count, 1));
}

/// Dimensions beyond what anybody needs cost a file two bytes each.
void add_dimensions() {
  for (const size_t count : {size_t{70}, size_t{3000}, size_t{60000}}) {
    const Tensor tensor = with_dimensions(count);
    const std::vector<char> pickled = torch::pickle_save(tensor);
    for (const char* reader : {"pickle", "pickle_file"}) {
      add(reader, std::string(pickled.begin(), pickled.end()));
    }
    torch::serialize::OutputArchive archive;
    archive.write("weight", tensor);
    std::ostringstream out;
    archive.save_to(out);
    add("archive", out.str());
    std::string header = R"({"a":{"dtype":"F32","data_offsets":[0,4],"shape":[1)";
    for (size_t i = 1; i < count; ++i) {
      header += ",1";
    }
    header += "]}}";
    header.append((8 - header.size() % 8) % 8, ' ');
    const uint64_t length = header.size();
    add("safetensors", std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + "\0\0\0\0"s);
  }
}

void add_images() {
  const auto number = [](uint32_t value) {
    return std::string{
        static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
        static_cast<char>(value)};
  };
  const std::string images = number(2051) + number(2) + number(4) + number(4) + std::string(32, '\x50');
  const std::string labels = number(2049) + number(2) + std::string("\1\2");
  add("mnist", static_cast<char>(images.size() / 16) + images + labels);
  add("cifar10", std::string(1, '\7') + std::string(3072, '\x60') + std::string(1, '\1') + std::string(3072, '\x20'));
  add("cifar100", std::string("\3\5") + std::string(3072, '\x60'));
}

// The archive with nothing compressed, so that changes reach its code.
std::string stored(const std::filesystem::path& path) {
  caffe2::serialize::PyTorchStreamReader reader(path.string());
  std::string bytes;
  caffe2::serialize::PyTorchStreamWriter writer([&](const void* data, size_t size) {
    bytes.append(static_cast<const char*>(data), size);
    return size;
  });
  for (const std::string& name : reader.getAllRecords()) {
    if (name != "version" && name.rfind(".data/", 0) != 0) {
      const auto [data, size] = reader.getRecord(name);
      writer.writeRecord(name, data.get(), size);
    }
  }
  writer.writeEndOfFile();
  return bytes;
}

// Archives of programs, which PyTorch wrote.
void add_programs() {
  for (const auto& entry : std::filesystem::directory_iterator(FUZZ_PROGRAMS)) {
    std::ostringstream bytes;
    bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    add("program", bytes.str());
    add("program", stored(entry.path()));
    add("program_file", stored(entry.path()));
  }
}

// Programs of torch.export, of PyTorch and of this library.
void add_exported() {
  const auto folder = std::filesystem::path(FUZZ_PROGRAMS) / "../../../programs/data/export";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".pt2") {
      std::ostringstream bytes;
      bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      add("exported", bytes.str());
    }
  }
  torch::manual_seed(1);
  torch::nn::Sequential net(torch::nn::Linear(3, 4), torch::nn::BatchNorm1d(4), torch::nn::Linear(4, 2));
  const auto f = [&](const std::vector<Tensor>& xs, const std::map<std::string, Tensor>& d, double scale) {
    torch::NoGradGuard no_grad;
    const auto parts = d.at("a").split(1);
    return std::make_tuple(net->forward(xs[0]) * scale, torch::cat({parts[1], parts[0]}), xs[0].size(0) / 2);
  };
  torch::ExportOptions options;
  options.arg_names = {"xs", "d", "scale"};
  options.modules = {net.ptr()};
  options.dynamic = {{"xs[0]", 0, 2, 64}};
  const auto program = torch::export_(
      f,
      std::make_tuple(
          std::vector<Tensor>{torch::ones({4, 3})}, std::map<std::string, Tensor>{{"a", torch::ones({2, 1})}}, 0.5),
      options);
  std::ostringstream out;
  program.save(out);
  add("exported", out.str());
  add("exported_file", out.str());
}

template <typename T>
T number_at(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

} // namespace

std::vector<std::string> written_inputs() {
  inputs.clear();
  add_zip_files();
  add_safetensors();
  add_dimensions();
  add_images();
  add_programs();
  add_exported();
  return inputs;
}

void reseal(uint8_t* input, size_t size) {
  if (size < 64 || std::memcmp(input + 1, "PK\3\4", 4) != 0) {
    return;
  }
  uint8_t* const file = input + 1;
  const size_t file_size = size - 1;
  // Every record of the directory (PKWARE APPNOTE 4.3.12), and the header of its entry (4.3.7).
  for (size_t record = 0; record + 46 <= file_size; ++record) {
    if (std::memcmp(file + record, "PK\1\2", 4) != 0) {
      continue;
    }
    if (number_at<uint16_t>(file + record + 10) != 0) {
      continue; // compressed: the checksum is that of what it stands for
    }
    const size_t entry_size = number_at<uint32_t>(file + record + 24), header = number_at<uint32_t>(file + record + 42);
    if (header + 30 > file_size) {
      continue;
    }
    const size_t data = header + 30 + number_at<uint16_t>(file + header + 26) + number_at<uint16_t>(file + header + 28);
    if (data > file_size || entry_size > file_size - data) {
      continue;
    }
    const uint32_t crc = torch::utils::crc32(file + data, entry_size);
    std::memcpy(file + record + 16, &crc, sizeof(crc));
    std::memcpy(file + header + 14, &crc, sizeof(crc));
  }
}

} // namespace fuzz
