#include "support.h"

#include <csrc/serialize/pickle_file.h>

#include <functional>
#include <sstream>

using namespace serialize_test;
using torch::serialize::load_pickle;
using torch::serialize::LoadOptions;
using torch::serialize::save_pickle;

TEST_CASE("values of Python's torch.save are read", "[serialize][pickle]") {
  LoadOptions options;
  options.map = GENERATE(true, false);
  const IValue file = load_pickle(data_file("python_values.pt"), options);
  const auto value = [&](const char* key) { return at_key(file, key); };

  CHECK(value("none").isNone());
  CHECK(value("yes").toBool());
  CHECK_FALSE(value("no").toBool());
  CHECK(value("int").toInt() == 5);
  CHECK(value("negative").toInt() == -7);
  CHECK(value("big").toInt() == int64_t(1) << 40);
  CHECK(value("float").toDouble() == 2.5);
  CHECK(value("complex").toComplexDouble() == c10::complex<double>(1, -2));
  CHECK(value("str").toStringRef() == "tab\t \"quote\" \u00e9");
  CHECK(value("ints").toIntVector() == std::vector<int64_t>{1, 2, 3});
  CHECK(value("floats").toDoubleVector() == std::vector<double>{0.5, 1.5});
  CHECK(value("strs").type()->annotation_str() == "List[str]");
  CHECK(value("mixed").toListRef()[1].toStringRef() == "two");
  CHECK(value("mixed").toListRef()[2].isNone());
  CHECK(value("empty_list").toListRef().empty());
  CHECK(value("tuple").toTupleRef().elements()[2].toStringRef() == "x");
  CHECK(value("empty_tuple").toTupleRef().size() == 0);
  CHECK(value("single").toTupleRef().size() == 1);
  CHECK(value("four").toTupleRef().elements()[3].toInt() == 4);
  CHECK(at_key(at_key(value("nested"), "a"), "b").toListRef()[1].toIntVector() == std::vector<int64_t>{2, 3});
  CHECK(value("int_keys").toGenericDict().at(1).toStringRef() == "one");
  CHECK(value("size").toTupleRef().elements()[1].toInt() == 3);
  CHECK(value("dtype").toScalarType() == torch::kHalf);
  CHECK(value("device").toDevice() == torch::Device("cuda:1"));
  CHECK(value("tensors").toTensorVector().size() == 2);
}

TEST_CASE("tensors of Python's torch.save keep dtype, strides, sharing and requires_grad", "[serialize][pickle]") {
  const IValue file = load_pickle(data_file("python_values.pt"));
  const auto tensor = [&](const char* key) { return at_key(file, key).toTensor(); };

  for (const auto& [name, dtype] : dtypes()) {
    INFO(name);
    CHECK(same_bits(at_key(at_key(file, "dtypes"), name).toTensor(), counting(dtype)));
  }
  CHECK_THAT(tensor("view_a"), EqualsTensor({2, 3, 4}));
  CHECK_THAT(tensor("view_b"), EqualsTensor({4, 5, 6, 7}));
  tensor("view_a")[2] = 40;
  CHECK_THAT(tensor("view_b"), EqualsTensor({40, 5, 6, 7}));
  CHECK(tensor("transposed").strides() == torch::IntArrayRef({1, 3}));
  CHECK_THAT(tensor("transposed").reshape({6}), EqualsTensor({0, 3, 1, 4, 2, 5}));
  CHECK(tensor("scalar").dim() == 0);
  CHECK(tensor("scalar").item<float>() == 3.5f);
  CHECK(tensor("empty").sizes() == torch::IntArrayRef({0, 3}));
  CHECK_THAT(tensor("expanded"), EqualsTensor({1, 1, 1}));
  CHECK(tensor("parameter").requires_grad());
  CHECK(tensor("parameter").is_leaf());
  CHECK_FALSE(tensor("frozen").requires_grad());
  CHECK(tensor("requires_grad").requires_grad());
  CHECK(tensor("conjugated").item<c10::complex<float>>() == c10::complex<float>(1, -2));
}

namespace {

// 1, 2, 3 at (0, 2), (1, 0), (1, 2), the second as the sum of two where nothing is summed up yet.
void check_sparse(const std::function<Tensor(const char*)>& tensor, bool flags) {
  const Tensor coo = tensor("coo"), coalesced = tensor("coalesced"), csr = tensor("csr");
  CHECK_THAT(coo.to_dense().flatten(), EqualsTensor({0, 0, 1, 2, 0, 3}));
  CHECK_FALSE(coo.is_coalesced());
  CHECK_THAT(coo._values(), EqualsTensor({1, 1, 1, 3}));
  CHECK_THAT(coalesced.to_dense().flatten(), EqualsTensor({0, 0, 1, 2, 0, 3}));
  CHECK(coalesced.is_coalesced() == flags);
  CHECK(csr.layout() == torch::kSparseCsr);
  CHECK_THAT(csr.to_dense().flatten(), EqualsTensor({0, 0, 1, 2, 0, 3}));
}

} // namespace

TEST_CASE("sparse tensors of Python's torch.save, and tensors without data", "[serialize][pickle]") {
  const IValue read = load_pickle(data_file("python_sparse.pt"));
  const Folder folder;
  save_pickle(read, folder.file("again.pt"));
  for (const IValue& file : {read, load_pickle(folder.file("again.pt"))}) {
    check_sparse([&](const char* name) { return at_key(file, name).toTensor(); }, true);
    const std::pair<const char*, torch::Layout> compressed[] = {
        {"csc", torch::kSparseCsc}, {"bsr", torch::kSparseBsr}, {"bsc", torch::kSparseBsc}};
    for (const auto& [name, layout] : compressed) {
      INFO(name);
      const Tensor tensor = at_key(file, name).toTensor();
      CHECK(tensor.layout() == layout);
      CHECK_THAT(tensor.to_dense().flatten(), EqualsTensor({0, 0, 1, 0, 2, 0, 3, 0}));
    }
    CHECK(at_key(file, "layout").toInt() == static_cast<int64_t>(torch::kSparseCsr));
    const Tensor meta = at_key(file, "meta").toTensor();
    CHECK(meta.is_meta());
    CHECK(meta.scalar_type() == torch::kHalf);
    CHECK(meta.strides() == torch::IntArrayRef({1, 2}));
  }
}

TEST_CASE("sparse tensors in archives", "[serialize][archive]") {
  const Tensor coo =
      torch::sparse_coo_tensor(torch::tensor({{0, 1, 1, 1}, {2, 0, 0, 2}}), torch::tensor({1., 1., 1., 3.}), {2, 3});
  torch::serialize::OutputArchive out;
  out.write("coo", coo);
  out.write("coalesced", coo.coalesce());
  out.write("csr", coo.to_sparse_csr());
  std::stringstream stream;
  out.save_to(stream);
  torch::serialize::InputArchive in;
  in.load_from(stream);
  const auto read = [&](const char* name) {
    Tensor tensor;
    in.read(name, tensor);
    return tensor;
  };
  check_sparse(read, false);
  out.write("bsr", torch::eye(4).to_sparse_bsr({2, 2}));
  CHECK_THROWS_MATCHES(out.save_to(stream), c10::Error, test::Says("cannot be saved in an archive"));
}

TEST_CASE("state_dicts of modules and optimizers, and other protocols", "[serialize][pickle]") {
  const IValue model = load_pickle(data_file("state_dict.pt"));
  const auto typed = c10::impl::toTypedDict<std::string, Tensor>(model.toGenericDict());
  CHECK(typed.size() == 7);
  CHECK(typed.at("0.weight").sizes() == torch::IntArrayRef({2, 3}));
  CHECK(typed.at("1.num_batches_tracked").item<int64_t>() == 0);

  const IValue adam = load_pickle(data_file("adam_state.pt"));
  const IValue first = at_key(adam, "state").toGenericDict().at(0);
  CHECK(at_key(first, "step").toTensor().item<float>() == 1);
  const IValue group = at_key(adam, "param_groups").toListRef()[0];
  CHECK(at_key(group, "lr").toDouble() == 0.1);
  CHECK(at_key(group, "params").toIntVector() == std::vector<int64_t>{0, 1});

  CHECK_THAT(at_key(load_pickle(data_file("protocol4.pt")), "a").toTensor(), EqualsTensor({1, 1}));
}

TEST_CASE("pickles that cannot be read say why", "[serialize][pickle]") {
  CHECK_THROWS_MATCHES(
      load_pickle(data_file("unknown_class.pt")), c10::Error, test::Says("'__main__.Unknown' is not known here"));
  CHECK_THROWS_MATCHES(
      load_pickle(data_file("cycle.pt")), c10::Error, test::Says("contain themselves are not supported"));
  CHECK_THROWS_MATCHES(load_pickle(data_file("legacy.pt")), c10::Error, test::Says("before version 1.6"));
  CHECK_THROWS_MATCHES(load_pickle(data_file("cpp_values.pt")), c10::Error, test::Says("load it with torch::load"));
  CHECK_THROWS_MATCHES(
      load_pickle("/nowhere/x.pt"), c10::Error, test::Says("'/nowhere/x.pt' for reading: No such file"));
  CHECK_THROWS_MATCHES(load_pickle("/tmp"), c10::Error, test::Says("is a directory"));
}

namespace {

IValue sample() {
  c10::Dict<IValue, IValue> dict(c10::StringType::get(), c10::AnyType::get());
  dict.insert("none", IValue());
  dict.insert("bool", true);
  dict.insert("int", int64_t(-300));
  dict.insert("unsigned", UINT64_MAX);
  dict.insert("min", INT64_MIN);
  dict.insert("float", 1e300);
  dict.insert("complex", c10::complex<double>(1, -2));
  dict.insert("str", "caf\u00e9 \n");
  dict.insert("device", torch::Device("cuda:3"));
  dict.insert("ints", std::vector<int64_t>{1, 70000, int64_t(1) << 40});
  dict.insert("tensors", std::vector<Tensor>{torch::ones({2}), torch::zeros({0})});
  dict.insert("tuple", std::make_tuple(int64_t(1), std::string("x"), 2.5, true));
  const Tensor base = torch::arange(10);
  dict.insert("view_a", base.slice(0, 2, 5));
  dict.insert("view_b", base.slice(0, 4, 8).t());
  dict.insert("other_dtype", base.view(torch::kInt));
  dict.insert("grad", torch::ones({2}, torch::requires_grad()));
  for (const auto& [name, dtype] : dtypes()) {
    dict.insert(name, counting(dtype));
  }
  return dict;
}

void check_equal(const IValue& got, const IValue& want) {
  REQUIRE(got.tag() == want.tag());
  if (want.isTensor()) {
    CHECK(same_bits(got.toTensor(), want.toTensor()));
    CHECK(got.toTensor().strides() == want.toTensor().strides());
    CHECK(got.toTensor().requires_grad() == want.toTensor().requires_grad());
  } else if (want.isGenericDict()) {
    CHECK(got.toGenericDict().size() == want.toGenericDict().size());
    for (const auto& entry : want.toGenericDict()) {
      INFO(entry.key());
      check_equal(got.toGenericDict().at(entry.key()), entry.value());
    }
  } else if (want.isTuple()) {
    REQUIRE(got.toTupleRef().size() == want.toTupleRef().size());
    for (size_t i = 0; i < want.toTupleRef().size(); ++i) {
      check_equal(got.toTupleRef().elements()[i], want.toTupleRef().elements()[i]);
    }
  } else if (want.isList()) {
    REQUIRE(got.toListRef().size() == want.toListRef().size());
    for (size_t i = 0; i < want.toListRef().size(); ++i) {
      check_equal(got.toListRef()[i], want.toListRef()[i]);
    }
  } else {
    CHECK(got == want);
  }
}

} // namespace

TEST_CASE("what is saved as a pickle is loaded again", "[serialize][pickle]") {
  const IValue want = sample();
  const Folder folder;
  save_pickle(want, folder.file("a.pt"));
  check_equal(load_pickle(folder.file("a.pt")), want);
  check_equal(torch::pickle_load(torch::pickle_save(want)), want);

  const IValue got = load_pickle(folder.file("a.pt"));
  at_key(got, "view_a").toTensor()[2] = 40;
  CHECK(at_key(got, "view_b").toTensor()[0].item<int64_t>() == 40);
  CHECK(at_key(got, "other_dtype").toTensor()[8].item<int>() == 40);
  // The mapping is private: the file stays as it was.
  check_equal(load_pickle(folder.file("a.pt")), want);
}

TEST_CASE("the mapping serves aligned tensors, and may be written over", "[serialize][pickle]") {
  const Folder folder;
  const std::string path = folder.file("a.pt");
  save_pickle(torch::arange(1000), path);
  const Tensor first = load_pickle(path).toTensor();
  CHECK(reinterpret_cast<uintptr_t>(first.const_data_ptr()) % 64 == 0);
  save_pickle(first + 1, path); // replaces the file that `first` lies in
  CHECK(first.sum().item<int64_t>() == 499500);
  CHECK(load_pickle(path).toTensor().sum().item<int64_t>() == 500500);
}

TEST_CASE("values that a pickle cannot hold are refused", "[serialize][pickle]") {
  CHECK_THROWS_MATCHES(
      torch::pickle_save(torch::Storage(torch::ones({1}).storage())), c10::Error,
      test::Says("type Storage cannot be saved"));
  c10::List<IValue> list(c10::AnyType::get());
  for (int i = 0; i < 2000; ++i) {
    c10::List<IValue> outer(c10::AnyType::get());
    outer.push_back(list);
    list = outer;
  }
  CHECK_THROWS_MATCHES(torch::pickle_save(list), c10::Error, test::Says("levels deep"));
}
