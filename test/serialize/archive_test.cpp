#include "support.h"

#include <fstream>
#include <sstream>

using namespace serialize_test;
using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;

TEST_CASE("archives of libtorch are read: values", "[serialize][archive]") {
  InputArchive archive;
  archive.load_from(data_file("cpp_values.pt"));
  const auto value = [&](const std::string& key) {
    IValue out;
    archive.read(key, out);
    return out;
  };
  CHECK(archive.keys().size() == 25);
  CHECK(archive.keys().front() == "int");
  CHECK(value("int").toInt() == 5);
  CHECK(value("negative").toInt() == -7);
  CHECK(value("big").toInt() == int64_t(1) << 40);
  CHECK(value("float").toDouble() == 2.5);
  CHECK(value("bool").toBool());
  CHECK(value("str").toStringRef() == "tab\t \"quote\"");
  CHECK(value("none").isNone());
  CHECK(value("complex").toComplexDouble() == c10::complex<double>(1, -2));
  CHECK(value("ints").toIntVector() == std::vector<int64_t>{1, 2, 3});
  CHECK(value("floats").toDoubleVector() == std::vector<double>{0.5, 1.5});
  CHECK(value("bools").type()->annotation_str() == "List[bool]");
  CHECK(value("strs").to<std::vector<std::string>>() == std::vector<std::string>{"a", "b"});
  CHECK(value("tensors").toTensorVector().size() == 2);
  CHECK(value("empty_list").type()->annotation_str() == "List[int]");
  CHECK(
      value("tuple").to<std::tuple<int64_t, double, std::string>>() ==
      std::tuple<int64_t, double, std::string>{1, 2.0, "x"});
  CHECK(value("empty_tuple").toTupleRef().size() == 0);
  CHECK(value("device").toDevice() == torch::Device("cuda:1"));
  CHECK(value("dict").to<c10::Dict<std::string, int64_t>>().at("y") == 2);
  CHECK(value("dict_of_lists").type()->annotation_str() == "Dict[int, List[float]]");
  CHECK(value("any_list").type()->annotation_str() == "List[Any]");
  CHECK(value("weird key").isTensor());

  InputArchive nested, deep;
  archive.read("nested", nested);
  nested.read("deep", deep);
  Tensor z;
  deep.read("z", z, /*is_buffer=*/true);
  CHECK_THAT(z, EqualsTensor({0}));
  CHECK_THROWS_MATCHES(deep.read("y", z), c10::Error, test::Says("No such serialized tensor 'nested.deep.y'"));
  CHECK_THROWS_MATCHES(nested.read("int", deep), c10::Error, test::Says("No such serialized submodule: 'nested.int'"));
  IValue none;
  CHECK_THROWS_MATCHES(nested.read("int", none), c10::Error, test::Says("does not have a field with name 'int'"));
  CHECK_FALSE(archive.try_read("int", deep));
  CHECK_FALSE(archive.try_read("int", z));
}

TEST_CASE("archives of libtorch are read: tensors", "[serialize][archive]") {
  std::vector<Tensor> tensors;
  torch::load(tensors, data_file("cpp_dtypes.pt"));
  CHECK(tensors.size() == 17);
  for (const Tensor& tensor : tensors) {
    CHECK(same_bits(tensor, counting(tensor.scalar_type())));
  }

  std::vector<Tensor> views;
  torch::load(views, data_file("cpp_views.pt"));
  REQUIRE(views.size() == 6);
  views[0][2] = 40;
  CHECK_THAT(views[1], EqualsTensor({40, 5, 6, 7}));
  CHECK(views[2].strides() == torch::IntArrayRef({1, 3}));
  CHECK(views[3].requires_grad());
  CHECK(views[4].sizes() == torch::IntArrayRef({0, 3}));
  CHECK(views[5].item<float>() == 3.5f);
}

TEST_CASE("a tensor, a vector, a stream, a function: save and load", "[serialize][archive]") {
  const Folder folder;
  const Tensor want = torch::arange(6, torch::kFloat).view({2, 3});
  torch::save(want, folder.file("a.pt"));
  Tensor got;
  torch::load(got, folder.file("a.pt"));
  CHECK(same_bits(got, want));

  std::stringstream stream;
  torch::save(want, stream);
  Tensor again;
  torch::load(again, stream);
  CHECK(same_bits(again, want));

  const std::string bytes = stream.str();
  Tensor from_memory;
  torch::load(from_memory, bytes.data(), bytes.size());
  CHECK(same_bits(from_memory, want));

  std::string collected;
  torch::save(want, [&](const void* data, size_t size) {
    collected.append(static_cast<const char*>(data), size);
    return size;
  });
  CHECK(collected == bytes); // the same content gives the same file
  Tensor from_function;
  torch::load(
      from_function,
      [&](uint64_t position, void* buffer, size_t size) {
        const size_t part = std::min<size_t>(size, 100);
        std::memcpy(buffer, collected.data() + position, part);
        return part;
      },
      [&] { return collected.size(); });
  CHECK(same_bits(from_function, want));

  std::vector<Tensor> all;
  for (const auto& [name, dtype] : dtypes()) {
    all.push_back(counting(dtype));
  }
  torch::save(all, folder.file("all.pt"));
  std::vector<Tensor> loaded;
  torch::load(loaded, folder.file("all.pt"), torch::kCPU);
  REQUIRE(loaded.size() == all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    CHECK(same_bits(loaded[i], all[i]));
  }
}

TEST_CASE("an undefined tensor is not saved", "[serialize][archive][errors]") {
  std::ostringstream out;
  CHECK_THROWS_MATCHES(torch::save(Tensor(), out), c10::Error, test::Says("tensor 0 is undefined"));
  CHECK_THROWS_MATCHES(
      torch::save(std::vector<Tensor>{torch::ones({2}), Tensor()}, out), c10::Error,
      test::Says("tensor 1 is undefined"));
  CHECK(out.str().empty());
}

TEST_CASE("tensors on the meta device keep sizes and strides in an archive", "[serialize][archive]") {
  const Tensor base = torch::empty({4, 3}, torch::kMeta);
  std::stringstream stream;
  torch::save(std::vector<Tensor>{base, base.t(), base.slice(0, 1), torch::empty({0}, torch::kMeta)}, stream);
  CHECK(stream.str().size() < 4000);
  std::vector<Tensor> read;
  torch::load(read, stream);
  REQUIRE(read.size() == 4);
  for (const Tensor& tensor : read) {
    CHECK(tensor.is_meta());
  }
  CHECK(read[0].sizes() == base.sizes());
  CHECK(read[1].strides() == base.t().strides());
  CHECK(read[1].is_alias_of(read[0]));
  CHECK(read[2].storage_offset() == 3);

  // Nothing is allocated for sizes that no memory holds.
  std::stringstream large;
  torch::save(torch::empty({1 << 20, 1 << 20, 1 << 18}, torch::kMeta), large);
  Tensor same;
  torch::load(same, large, torch::kCPU);
  CHECK(same.is_meta());
  CHECK(same.numel() == int64_t{1} << 58);

  torch::nn::Linear on_meta(torch::nn::LinearOptions(2, 3));
  on_meta->to(torch::kMeta);
  std::stringstream model;
  torch::save(on_meta, model);
  torch::nn::Linear other(torch::nn::LinearOptions(2, 3));
  other->to(torch::kMeta);
  torch::load(other, model);
  CHECK(other->weight.is_meta());
}

TEST_CASE("values and nested archives: save and load", "[serialize][archive]") {
  OutputArchive out;
  out.write("int", IValue(int64_t(5)));
  out.write("empty", IValue(std::vector<double>{}));
  out.write("dict", IValue(std::map<std::string, std::vector<int64_t>>{{"a", {1, 2}}, {"b", {}}}));
  out.write("odd \"key\"\n", IValue("x"));
  out.write("undefined", Tensor());
  OutputArchive nested;
  nested.write("weight", torch::ones({2}));
  out.write("first", nested);
  out.write("second", nested);
  nested.write("late", IValue(true)); // nested archives are shared
  std::stringstream stream;
  out.save_to(stream);

  InputArchive in;
  in.load_from(stream);
  CHECK(in.keys() == std::vector<std::string>{"int", "empty", "dict", "odd \"key\"\n", "undefined", "first", "second"});
  IValue value;
  in.read("empty", value);
  CHECK(value.isDoubleList());
  in.read("dict", value);
  CHECK(value.type()->annotation_str() == "Dict[str, List[int]]");
  in.read("odd \"key\"\n", value);
  CHECK(value.toStringRef() == "x");
  Tensor tensor;
  CHECK_FALSE(in.try_read("undefined", tensor));
  InputArchive second;
  in.read("second", second);
  second.read("weight", tensor);
  CHECK_THAT(tensor, EqualsTensor({1, 1}));
  second.read("late", value);
  CHECK(value.toBool());
}

TEST_CASE("a stream is read from its beginning, again and again", "[serialize][archive]") {
  std::stringstream stream;
  torch::save(torch::arange(3, torch::kFloat), stream);
  Tensor tensor;
  InputArchive in;
  in.load_from(stream);
  CHECK_THROWS_MATCHES(in.read("weight", tensor), c10::Error, test::Says("No such serialized tensor 'weight'"));
  torch::load(tensor, stream);
  CHECK_THAT(tensor, EqualsTensor({0, 1, 2}));
  stream.seekg(0, std::stringstream::beg);
  REQUIRE(stream.good());
  torch::load(tensor, stream);
  stream.setstate(std::ios::failbit);
  CHECK_THROWS_MATCHES(torch::load(tensor, stream), c10::Error, test::Says("reading the stream failed"));
}

TEST_CASE("bytes are not read as numbers of another dtype", "[serialize][archive][errors]") {
  std::stringstream stream;
  torch::save(torch::nn::Linear(2, 2), stream);
  torch::nn::Linear wide(2, 2), narrow(2, 2), plain(2, 2);
  wide->to(torch::kDouble);
  narrow->to(torch::kHalf);
  const auto says =
      test::Says("the serialized tensor 'weight' has dtype Float, but the tensor that it is read into has");
  CHECK_THROWS_MATCHES(torch::load(wide, stream), c10::Error, says);
  CHECK_THROWS_MATCHES(torch::load(narrow, stream), c10::Error, says);
  CHECK(wide->weight.dtype() == torch::kDouble);
  CHECK_NOTHROW(torch::load(plain, stream));
}

TEST_CASE("reading into a tensor keeps it the same object", "[serialize][archive]") {
  std::stringstream stream;
  torch::save(torch::arange(3, torch::kFloat), stream);
  InputArchive in;
  in.load_from(stream);
  Tensor parameter = torch::zeros({5}, torch::requires_grad());
  const Tensor same = parameter;
  in.read("0", parameter);
  CHECK_THAT(same.detach(), EqualsTensor({0, 1, 2}));
  CHECK(same.requires_grad());
  CHECK(same.is_leaf());
}

TEST_CASE("a second write to a key", "[serialize][archive]") {
  OutputArchive archive;
  archive.write("x", IValue(int64_t(1)));
  archive.write("x", IValue(int64_t(2)));
  CHECK_THROWS_MATCHES(archive.write("x", IValue("text")), c10::Error, test::Says("already holds a value of type int"));
  CHECK_THROWS_MATCHES(archive.write("x", torch::ones({1})), c10::Error, test::Says("already holds"));
  CHECK_THROWS_MATCHES(archive.write("self", archive), c10::Error, test::Says("cannot hold itself"));
  OutputArchive outer;
  outer.write("inner", archive);
  CHECK_THROWS_MATCHES(archive.write("outer", outer), c10::Error, test::Says("cannot hold itself"));
}

TEST_CASE("a state_dict of Python is an archive too", "[serialize][archive]") {
  InputArchive archive, linear;
  archive.load_from(data_file("state_dict.pt"));
  CHECK(archive.keys() == std::vector<std::string>{"0", "1"});
  archive.read("0", linear);
  Tensor weight;
  linear.read("weight", weight);
  CHECK(weight.sizes() == torch::IntArrayRef({2, 3}));
  std::stringstream list;
  const std::vector<char> bytes = torch::pickle_save(std::vector<int64_t>{1});
  list.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  CHECK_THROWS_MATCHES(archive.load_from(list), c10::Error, test::Says("which has no names"));
}

TEST_CASE("torch::load says what is wrong", "[serialize][archive]") {
  const Folder folder;
  Tensor tensor;
  CHECK_THROWS_MATCHES(torch::load(tensor, "/nowhere/x.pt"), c10::Error, test::Says("cannot open '/nowhere/x.pt'"));
  CHECK_THROWS_MATCHES(
      torch::load(tensor, data_file("cpp_module.pt")), c10::Error, test::Says("No such serialized tensor '0'"));
  write_bytes(folder.file("text"), "no archive at all, but long enough to be one");
  CHECK_THROWS_MATCHES(
      torch::load(tensor, folder.file("text")), c10::Error, test::Says("does not begin as a ZIP file"));
  torch::save(torch::ones({2}), folder.file("a.pt"));
  std::string bytes = read_bytes(folder.file("a.pt"));
  bytes[64] ^= 1; // the first byte of the tensor
  write_bytes(folder.file("a.pt"), bytes);
  CHECK_THROWS_MATCHES(torch::load(tensor, folder.file("a.pt")), c10::Error, test::Says("CRC-32 is"));
}
