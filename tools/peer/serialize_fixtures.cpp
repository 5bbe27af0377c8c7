// Writes the archives of libtorch's torch::save for test/serialize into the working folder. Build it against libtorch:
//   T=$(python3 -c "import torch, os; print(os.path.dirname(torch.__file__))")
//   g++ -std=c++20 -O0 -I$T/include -I$T/include/torch/csrc/api/include tools/peer/serialize_fixtures.cpp \
//     -L$T/lib -ltorch -ltorch_cpu -lc10 -Wl,-rpath,$T/lib -o serialize_fixtures
// With the argument "check" it reads archives that libtensor has written (test_serialize "[write]") and compares.
#include <torch/torch.h>

#include <cstring>
#include <iostream>

namespace {

using torch::IValue;
using torch::Tensor;

struct Net : torch::nn::Module {
  Net() {
    fc = register_module("fc", torch::nn::Linear(3, 2));
    bn = register_module("bn", torch::nn::BatchNorm1d(2));
    seq = register_module("seq", torch::nn::Sequential(torch::nn::Linear(2, 2), torch::nn::ReLU()));
    scale = register_parameter("scale", torch::tensor({1.5f, 2.5f}));
    steps = register_buffer("steps", torch::tensor(int64_t(7)));
  }
  torch::nn::Linear fc{nullptr};
  torch::nn::BatchNorm1d bn{nullptr};
  torch::nn::Sequential seq{nullptr};
  Tensor scale, steps;
};

std::vector<Tensor> dtypes() {
  std::vector<Tensor> tensors;
  for (const auto dtype :
       {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16, torch::kChar, torch::kShort, torch::kInt,
        torch::kLong, torch::kByte, torch::kBool, torch::kComplexFloat, torch::kComplexDouble, at::kUInt16, at::kUInt32,
        at::kUInt64, at::kFloat8_e4m3fn, at::kFloat8_e5m2}) {
    tensors.push_back(torch::arange(4).to(dtype));
  }
  return tensors;
}

std::vector<Tensor> views() {
  const Tensor base = torch::arange(10);
  return {base.slice(0, 2, 5),
          base.slice(0, 4, 8),
          torch::arange(6).view({2, 3}).t(),
          torch::ones({2}).requires_grad_(true),
          torch::zeros({0, 3}),
          torch::tensor(3.5)};
}

torch::serialize::OutputArchive values() {
  torch::serialize::OutputArchive archive;
  archive.write("int", IValue(int64_t(5)));
  archive.write("negative", IValue(int64_t(-7)));
  archive.write("big", IValue(int64_t(1) << 40));
  archive.write("float", IValue(2.5));
  archive.write("bool", IValue(true));
  archive.write("str", IValue("tab\t \"quote\""));
  archive.write("none", IValue());
  archive.write("complex", IValue(c10::complex<double>(1, -2)));
  archive.write("ints", IValue(std::vector<int64_t>{1, 2, 3}));
  archive.write("floats", IValue(std::vector<double>{0.5, 1.5}));
  archive.write("bools", IValue(std::vector<bool>{true, false}));
  archive.write("strs", IValue(std::vector<std::string>{"a", "b"}));
  archive.write("tensors", IValue(std::vector<Tensor>{torch::ones({1}), torch::ones({2})}));
  archive.write("empty_list", IValue(std::vector<int64_t>{}));
  archive.write("tuple", IValue(std::make_tuple(int64_t(1), 2.0, std::string("x"))));
  archive.write("empty_tuple", IValue(c10::ivalue::Tuple::create(std::vector<IValue>{})));
  archive.write("device", IValue(torch::Device("cuda:1")));
  c10::Dict<std::string, int64_t> ints;
  ints.insert("x", 1);
  ints.insert("y", 2);
  archive.write("dict", IValue(ints));
  c10::Dict<int64_t, c10::List<double>> lists;
  lists.insert(7, c10::List<double>({1., 2.}));
  archive.write("dict_of_lists", IValue(lists));
  c10::impl::GenericList any(c10::AnyType::get());
  any.push_back(1);
  any.push_back("two");
  archive.write("any_list", IValue(any));
  archive.write("buffer", torch::ones({2}), /*is_buffer=*/true);
  archive.write("parameter", torch::ones({2}));
  archive.write("weird key", torch::zeros({1}));
  torch::serialize::OutputArchive nested, deep, empty;
  nested.write("k", IValue(int64_t(1)));
  deep.write("z", torch::zeros({1}), true);
  nested.write("deep", deep);
  archive.write("nested", nested);
  archive.write("empty", empty);
  return archive;
}

// Every value of the archive as text, to compare two archives.
void print(std::ostream& out, torch::serialize::InputArchive& archive, const std::string& prefix) {
  for (const std::string& key : archive.keys()) {
    torch::serialize::InputArchive nested;
    if (archive.try_read(key, nested)) {
      out << prefix << key << ":\n";
      print(out, nested, prefix + key + ".");
      continue;
    }
    IValue value;
    archive.read(key, value);
    out << prefix << key << " = ";
    if (value.isTensor()) {
      const Tensor tensor = value.toTensor();
      out << tensor.scalar_type() << tensor.sizes() << tensor.strides() << tensor.requires_grad() << " ";
      const Tensor bytes = tensor.contiguous().view(torch::kByte);
      for (int64_t i = 0; i < bytes.numel(); ++i) {
        out << int(bytes.data_ptr<uint8_t>()[i]) << " ";
      }
      out << "\n";
    } else {
      out << value.type()->annotation_str() << " " << value << "\n";
    }
  }
}

std::string text_of(const std::string& file) {
  torch::serialize::InputArchive archive;
  archive.load_from(file);
  std::ostringstream out;
  print(out, archive, "");
  return out.str();
}

} // namespace

int main(int argc, char** argv) {
  torch::manual_seed(0);
  torch::save(dtypes(), "cpp_dtypes.pt");
  torch::save(views(), "cpp_views.pt");
  torch::save(std::make_shared<Net>(), "cpp_module.pt");
  values().save_to("cpp_values.pt");
  if (argc < 2 || std::strcmp(argv[1], "check") != 0) {
    return 0;
  }
  int differences = 0;
  for (const std::string name : {"dtypes", "views", "module", "values"}) {
    const std::string want = text_of("cpp_" + name + ".pt"), got = text_of("written_" + name + ".pt");
    if (want != got) {
      ++differences;
      std::cout << name << " differs\n--- libtorch\n" << want << "--- libtensor\n" << got;
    } else {
      std::cout << name << ": " << got.size() << " bytes of text agree\n";
    }
  }
  return differences;
}
