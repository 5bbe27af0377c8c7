// Helpers of libtorch's headers that stand beside tensors: texts with places, objects in tensors, tensors without
// memory.
#include <ATen/OpaqueTensorImpl.h>
#include <ATen/code_template.h>
#include <ATen/cpp_custom_type_hack.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

using Catch::Matchers::Contains;

TEST_CASE("a template of code is filled with texts and lists", "[api]") {
  at::jit::TemplateEnv globals;
  globals.s("name", "scale");
  globals.d("n", 3);
  at::jit::TemplateEnv env(globals);
  env.v("arguments", {"float* x", "int n"});
  env.v("none", {});
  env.v("body", {"for (int i = 0; i < n; ++i) {", "  x[i] *= 2;\n  ++x;", "}"});
  CHECK(
      at::jit::CodeTemplate("void ${name}_$n($arguments${,none}) {\n  $body\n}").format(env) ==
      "void scale_3(float* x, int n) {\n  for (int i = 0; i < n; ++i) {\n    x[i] *= 2;\n    ++x;\n  }\n}");
  CHECK(at::jit::format("f(a${,arguments}, ${arguments,}b)", env) == "f(a, float* x, int n, float* x, int n, b)");
  env.s("arguments", "void");
  CHECK(at::jit::format("f($arguments)", env) == "f(void)");
  CHECK(env.keyIsString("name"));
  CHECK_THROWS_WITH(at::jit::format("$missing", env), Contains("key not found: missing"));
  CHECK_THROWS_WITH(at::jit::format("${name", env), Contains("EOS found in key"));
  CHECK_THROWS_WITH(at::jit::format("${name b}", env), Contains("missing terminating '}'"));
}

namespace {

struct Packed {
  explicit Packed(int v) : value(v) {
    ++alive;
  }
  Packed() : Packed(0) {}
  Packed(const Packed& other) : Packed(other.value) {}
  Packed& operator=(const Packed&) = default;
  ~Packed() {
    --alive;
  }
  int value;
  static inline int alive = 0;
};
struct Other {};

} // namespace

CAFFE_KNOWN_TYPE(Packed);
CAFFE_KNOWN_TYPE(Other);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST_CASE("a tensor of bytes owns an object", "[api]") {
  namespace hack = at::cpp_custom_type_hack;
  {
    const at::Tensor packed = hack::create(std::make_unique<Packed>(7), at::TensorOptions());
    CHECK(Packed::alive == 1);
    CHECK(packed.dtype() == torch::kByte);
    CHECK(hack::isa<Packed>(packed));
    CHECK_FALSE(hack::isa<Other>(packed));
    CHECK(hack::cast<Packed>(packed).value == 7);
    CHECK_THROWS_WITH(hack::cast<Other>(packed), Contains("the tensor does not hold a"));
    CHECK_THROWS_WITH(hack::cast<Packed>(torch::ones({2})), Contains("expected a tensor of bytes"));
  }
  CHECK(Packed::alive == 0);
}
#pragma GCC diagnostic pop

TEST_CASE("an opaque tensor has sizes and a handle, and neither strides nor a storage", "[api]") {
  using Handle = std::shared_ptr<int>;
  using Impl = at::OpaqueTensorImpl<Handle>;
  const auto handle = std::make_shared<int>(5);
  const at::Tensor t = at::detail::make_tensor<Impl>(
      c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), caffe2::TypeMeta::Make<float>(),
      c10::Device(c10::kPrivateUse1, 0), handle, c10::IntArrayRef{2, 3});
  CHECK(t.sizes() == std::vector<int64_t>{2, 3});
  CHECK(t.numel() == 6);
  CHECK(t.dtype() == torch::kFloat);
  CHECK_FALSE(t.has_storage());
  CHECK_THROWS_AS(t.storage(), c10::Error);
  CHECK_THROWS_AS(t.strides(), c10::Error);
  CHECK_THROWS_AS(t.is_contiguous(), c10::Error);
  CHECK_THROWS_WITH(t.unsafeGetTensorImpl()->set_size(0, 1), Contains("opaque tensors do not have set_size"));
  const at::Tensor copy(t.unsafeGetTensorImpl()->shallow_copy_and_detach(c10::VariableVersion(0), true));
  CHECK(static_cast<Impl*>(copy.unsafeGetTensorImpl())->opaque_handle() == handle);
  CHECK(copy.sizes() == t.sizes());
  const auto another = std::make_shared<int>(6);
  const at::Tensor from =
      at::detail::make_tensor<Impl>(t.key_set(), t.dtype(), t.device(), another, c10::IntArrayRef{4});
  copy.unsafeGetTensorImpl()->shallow_copy_from(from.getIntrusivePtr());
  CHECK(static_cast<Impl*>(copy.unsafeGetTensorImpl())->unsafe_opaque_handle() == another);
  CHECK(copy.sizes() == std::vector<int64_t>{4});
}
