// Names that libtorch's <torch/torch.h> and <torch/extension.h> bring along without being asked for them.
// Names that are deprecated are called on purpose.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <torch/torch.h>

#include <ATen/EmptyTensor.h>
#include <torch/extension.h>

#include <catch2/catch.hpp>

TEST_CASE("torch.h brings the helpers that libtorch's brings", "[names]") {
  CHECK(c10::multiply_integers(std::vector<int64_t>{2, 3}) == 6);
  CHECK(c10::sum_integers(std::vector<int64_t>{2, 3}) == 5);
  CHECK(c10::get_hash(1, 2) == c10::get_hash(1, 2));
  CHECK(c10::get_hash(1, 2) != c10::get_hash(2, 1));
  CHECK(c10::hash_combine(1, 2) != 1);
  CHECK(c10::fmap(std::vector<int>{1, 2}, [](int i) { return i + 1; }) == std::vector<int>{2, 3});
  const auto which = c10::overloaded([](int) { return 1; }, [](float) { return 2; });
  CHECK(which(0) == 1);
  CHECK(which(0.f) == 2);
  CHECK(at::has_internal_overlap(torch::zeros({1}).expand({3})) == at::MemOverlap::Yes);
  CHECK(c10::bit_cast<int32_t>(1.f) == 0x3f800000);
  CHECK(torch::kU16 == torch::kUInt16);
  CHECK_FALSE(torch::xpu::is_available());

  c10::Synchronized<int> guarded(1);
  CHECK(guarded.withLock([](int& value) { return ++value; }) == 2);
  c10::once_flag flag;
  int calls = 0;
  for (int i = 0; i < 3; ++i) {
    c10::call_once(flag, [&] { ++calls; });
  }
  CHECK(calls == 1);
}

TEST_CASE("torch.h brings strings into its namespaces, and types of values", "[names]") {
  using namespace torch;
  const string text = "text";
  CHECK(c10::string(text) == at::string("text"));
  CHECK(c10::IValue(text).type()->kind() == c10::StringType::Kind);
  CHECK(c10::EnumType::Kind != c10::ClassType::Kind);
  const at::Tensor x = torch::ones({2, 3});
  CHECK(*c10::TensorType::create(std::nullopt, std::nullopt, x.sizes(), x.strides(), std::nullopt)->numel() == 6);
}

TEST_CASE("torch.h brings observers, thread state and log lines", "[names]") {
  const auto handle = torch::addThreadLocalCallback(
      at::RecordFunctionCallback([](const at::RecordFunction& fn) -> std::unique_ptr<at::ObserverContext> {
        if (fn.scope() == at::RecordScope::USER_SCOPE) {
          LOG(INFO) << "in " << fn.name();
        }
        return nullptr;
      }).scopes({at::RecordScope::USER_SCOPE}));
  {
    const torch::RecordFunctionGuard on;
    CHECK(torch::hasThreadLocalCallbacks());
    RECORD_USER_SCOPE("names");
  }
  { RECORD_FUNCTION("names", std::vector<c10::IValue>()); }
  torch::removeCallback(handle);

  c10::InferenceMode inference;
  const at::ThreadLocalState state;
  bool inside = false;
  std::thread([&] {
    const at::ThreadLocalStateGuard guard(state);
    inside = c10::InferenceMode::is_enabled();
  }).join();
  CHECK(inside);

  const auto registered = torch::RegisterOperators();
  const std::optional<c10::Event> no_event;
  const c10::OptionalStreamGuard no_stream;
  CHECK_FALSE(no_stream.current_stream().has_value());
  CHECK_THROWS_AS(([] { LOG(FATAL) << "stop"; }()), c10::Error);
}

TEST_CASE("torch.h brings what is asked of a tensor's place and owners", "[names]") {
  const torch::Tensor x = torch::rand({2, 3});
  CHECK(x.is_uniquely_owned());
  CHECK_FALSE(
      (x.is_nested() || x.is_metal() || x.is_lazy() || x.is_mtia() || x.is_maia() || x.is_ve() || x.is_distributed()));
  CHECK(x.sym_is_contiguous().guard_bool(__FILE__, __LINE__));
  CHECK(at::symint::size<int64_t>(x, 1) == 3);
  CHECK(at::symint::numel<c10::SymInt>(x) == 6);
  CHECK(at::symint::strides<int64_t>(x) == x.strides());
  const at::TensorBase& base = x;
  CHECK(base.expect_contiguous()->is_same(x));
  const at::TensorBase transposed = x.t();
  CHECK(transposed.expect_contiguous()->is_contiguous());
  CHECK(x.hash_tensor().equal(at::hash_tensor(x)));
  CHECK_FALSE(x._fw_grad(0).defined());
  CHECK(torch::equal_if_defined(x, x.clone()));
  CHECK(torch::equal_if_defined({}, {}));
  CHECK_FALSE(torch::equal_if_defined(x, {}));
  CHECK(at::MPS(at::kFloat).backend() == at::Backend::MPS);
  at::PackedTensorAccessor<float, 2> accessor = x.packed_accessor<float, 2>();
  CHECK(accessor[1][2] == x[1][2].item<float>());
  CHECK(torch::indexing::get_item(x, {1, 2}, true).equal(x[1][2]));
}

TEST_CASE("torch.h brings shapes of expanded tensors", "[names]") {
  using Sizes = std::vector<int64_t>;
  const torch::Tensor a = torch::rand({4, 1}), b = torch::rand({3}), c = torch::rand({2, 1, 1});
  const auto [x, y, z] = at::expand_outplace(a, b, c, "fused");
  for (const torch::Tensor* t : {&*x, &*y, &*z}) {
    CHECK(t->sizes() == Sizes{2, 4, 3});
  }
  const auto [v, w] = at::expand_inplace(torch::rand({4, 3}), a, b);
  CHECK(v->sizes() == w->sizes());
  CHECK_THROWS_WITH(
      at::expand_outplace(a, torch::Tensor(), "fused"),
      Catch::Matchers::Contains("fused(...) called with an undefined Tensor"));
  const auto [sizes, strides] = at::inferExpandGeometry({4, 1}, {1, 4}, {2, -1, 3});
  const torch::Tensor expanded = torch::rand({1, 4}).t().expand({2, -1, 3});
  CHECK(expanded.sizes() == sizes);
  CHECK(expanded.strides() == strides);
  CHECK_THROWS_WITH(
      at::inferExpandGeometry({4}, {1}, {3}), Catch::Matchers::Contains("must match the existing size (4)"));
  const torch::Tensor gaps = torch::rand({2, 8, 3}).slice(1, 0, 8, 2).transpose(0, 2);
  CHECK(at::infer_dense_strides(gaps.sizes(), gaps.strides()) == torch::empty_like(gaps).strides());
  CHECK(at::infer_size_symdimvector(a.sym_sizes(), b.sym_sizes())[1] == 3);
  CHECK(at::is_expandable_to(a.sym_sizes(), expanded.sym_sizes()));

  at::TensorGeometry geometry(gaps);
  CHECK_FALSE(geometry.is_contiguous());
  CHECK(geometry.transpose(0, 2).sizes() == Sizes{2, 4, 3});
  geometry.mutable_strides().assign({8, 2, 1});
  geometry.recompute();
  CHECK(geometry.sym_numel() == 24);
  CHECK(at::geometry_is_contiguous({2, 1, 3}, {3, 7, 1}));
  CHECK(at::TensorGeometry({2, 3}, {3, 1}).is_contiguous());
}

TEST_CASE("torch.h brings small things of c10", "[names]") {
  const c10::IntArrayRef dims({2, 3, 4});
  CHECK(c10::size_from_dim_(1, dims) == 12);
  CHECK(c10::size_to_dim_(2, dims) == 6);
  CHECK(c10::size_between_dim_(2, 0, dims) == 3);
  CHECK(c10::canonical_axis_index_(-1, 3) == 2);
  CHECK_THROWS_AS(c10::size_to_dim_(4, dims), c10::Error);
  CHECK(c10::layout_from_backend(c10::Backend::SparseCPU) == c10::kSparse);
  CHECK(c10::layout_from_backend(c10::Backend::MkldnnCPU) == c10::kMkldnn);
  CHECK_THROWS_AS(c10::layout_from_backend(c10::Backend::SparseCsrCPU), c10::Error);
  const c10::OptionalScalarRef none;
  CHECK_FALSE(none.has_value());
  const auto storage = torch::rand({2}).storage().getWeakStorageImpl();
  CHECK(storage.expired());

  const c10::intrusive_ptr<torch::CustomClassHolder> holder = c10::make_intrusive<torch::CustomClassHolder>();
  const c10::intrusive_ptr<c10::intrusive_ptr_target> target =
      c10::static_intrusive_pointer_cast<c10::intrusive_ptr_target>(holder);
  CHECK(c10::dynamic_intrusive_pointer_cast<torch::CustomClassHolder>(target) == holder);
  CHECK(c10::dynamic_intrusive_pointer_cast<c10::StorageImpl>(target) == nullptr);
  CHECK(holder.use_count() == 2);
}

TEST_CASE("memory comes from below the dispatcher", "[names]") {
  const torch::Tensor x(
      at::detail::empty_cpu({2, 3, 4, 5}, at::kDouble, /*pin_memory=*/false, at::MemoryFormat::ChannelsLast));
  CHECK(x.is_contiguous(at::MemoryFormat::ChannelsLast));
  CHECK(x.scalar_type() == at::kDouble);
  CHECK(
      at::detail::empty_strided_cpu({2, 3}, {1, 2}, torch::TensorOptions(at::kHalf)).strides() ==
      std::vector<int64_t>{1, 2});
  CHECK(at::detail::empty_meta({2}, at::kFloat).is_meta());
  CHECK(at::detail::empty_strided_meta({2}, {3}, at::kFloat).stride(0) == 3);
  CHECK_THROWS_WITH(
      at::detail::empty_cpu({2}, torch::TensorOptions(at::kMeta)),
      Catch::Matchers::Contains("got device meta, must be cpu"));
}

TEST_CASE("a level of forward mode gives tensors tangents", "[names]") {
  const uint64_t level = torch::autograd::forward_ad::enter_dual_level();
  const torch::Tensor x = torch::rand({2}), tangent = torch::rand({2});
  x._set_fw_grad(tangent, level, /*is_inplace_op=*/false);
  CHECK(x._fw_grad(level).is_same(tangent));
  torch::autograd::forward_ad::exit_dual_level(level);
  CHECK_FALSE(x._fw_grad(level).defined());
  CHECK_THROWS_AS(torch::autograd::forward_ad::exit_dual_level(level), c10::Error);
}

namespace {

torch::Tensor twice(const torch::Tensor& x) {
  return 2 * x;
}
auto registry = torch::RegisterOperators("names_of_torch_h::twice", &twice);

struct HistoryOptions {
  TORCH_ARG(std::deque<torch::Tensor>, history);
};

} // namespace

TEST_CASE("an operator is registered by the constructor of RegisterOperators", "[names]") {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("names_of_torch_h::twice", "");
  CHECK(op.typed<torch::Tensor(const torch::Tensor&)>().call(torch::ones({2})).equal(torch::full({2}, 2.f)));
}

TEST_CASE("deques of an optimizer's state are saved", "[names]") {
  HistoryOptions saved, loaded;
  saved.history() = {torch::ones({2}), torch::zeros({3})};
  std::stringstream stream;
  {
    torch::serialize::OutputArchive archive;
    const auto history = [&] { return saved.history(); };
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG_DEQUE(history);
    archive.save_to(stream);
  }
  torch::serialize::InputArchive archive;
  archive.load_from(stream);
  const auto history = [&](std::deque<torch::Tensor> value) { loaded.history(std::move(value)); };
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_DEQUE(std::deque<torch::Tensor>, history);
  REQUIRE(loaded.history().size() == 2);
  CHECK(loaded.history()[1].equal(torch::zeros({3})));
}
