// Calls the operators of ops.cpp unboxed and boxed, on several backends, and checks what comes back.
#include <torch/torch.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

void require(bool condition, const std::string& what) {
  if (!condition) {
    throw std::runtime_error("wrong: " + what);
  }
}

c10::OperatorHandle find(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
}

void unboxed_calls() {
  const at::Tensor a = torch::arange(6, torch::kFloat).view({2, 3});
  const auto scale_add = find("outside::scale_add").typed<at::Tensor(const at::Tensor&, const at::Tensor&, double)>();
  require(torch::equal(scale_add.call(a, torch::ones({2, 3}), 0.5), a + 0.5), "scale_add");

  const auto shifted =
      find("outside::shifted").typed<std::tuple<at::Tensor, int64_t>(const at::Tensor&, int64_t, const std::string&)>();
  require(torch::equal(std::get<0>(shifted.call(a, 3, "down")), a - 3), "shifted");

  const auto sum_of = find("outside::sum_of").typed<at::Tensor(const std::vector<at::Tensor>&)>();
  require(torch::equal(sum_of.call({a, a, a}), a * 3), "sum_of");

  // A boxed kernel under an unboxed call.
  const auto count = find("outside::count_arguments")
                         .typed<std::tuple<int64_t, at::Tensor>(
                             const at::Tensor&, at::IntArrayRef, std::optional<std::string_view>)>();
  const std::vector<int64_t> sizes = {1, 2, 3};
  const auto [number, first] = count.call(a, sizes, std::nullopt);
  require(number == 3 && first.is_same(a), "count_arguments");

  at::Tensor b = a.clone();
  const auto added_later = find("outside::added_later").typed<at::Tensor&(at::Tensor&)>();
  require(added_later.call(b).is_same(b) && torch::equal(b, a + 1), "added_later");
}

void boxed_calls() {
  const at::Tensor a = torch::ones({2, 2}, torch::kDouble);
  torch::jit::Stack stack;
  torch::jit::push(stack, a, a, 4.0);
  find("outside::scale_add").callBoxed(&stack);
  require(stack.size() == 1 && torch::equal(stack[0].toTensor(), a * 5), "scale_add boxed");

  stack.clear();
  torch::jit::push(stack, a, int64_t{2}, std::string("up"));
  find("outside::shifted").callBoxed(&stack);
  require(stack.size() == 2 && torch::equal(stack[0].toTensor(), a + 2) && stack[1].toInt() == 2, "shifted boxed");

  stack.clear();
  torch::jit::push(stack, std::vector<at::Tensor>{a, a});
  find("outside::sum_of").callBoxed(stack);
  require(torch::equal(torch::jit::pop(stack).toTensor(), a * 2), "sum_of boxed");

  stack.clear();
  torch::jit::push(stack, a, std::vector<int64_t>{7}, c10::IValue());
  find("outside::count_arguments").callBoxed(&stack);
  require(stack.size() == 2 && stack[0].toInt() == 3, "count_arguments boxed");

  // The library's own operators are called the same way.
  stack.clear();
  torch::jit::push(stack, a, a, 1);
  c10::Dispatcher::singleton().findSchemaOrThrow("aten::add", "Tensor").callBoxed(&stack);
  require(torch::equal(stack[0].toTensor(), a * 2), "aten::add boxed");
}

void backends_and_gradients() {
  const auto scale_add = find("outside::scale_add").typed<at::Tensor(const at::Tensor&, const at::Tensor&, double)>();
  const at::Tensor shape_only = torch::empty({1000000, 1000000}, torch::kMeta);
  require(scale_add.call(shape_only, shape_only, 1).is_meta(), "scale_add on meta tensors");

  const auto cube = find("outside::cube").typed<at::Tensor(const at::Tensor&)>();
  const at::Tensor x = torch::full({3}, 2.0, torch::requires_grad());
  cube.call(x).sum().backward();
  require(torch::allclose(x.grad(), torch::full({3}, 12.0)), "gradient of cube");
}

template <class Call>
void must_throw(const std::string& what, const std::string& text, Call call) {
  try {
    call();
  } catch (const c10::Error& error) {
    require(std::string(error.what()).find(text) != std::string::npos, what + " says: " + error.what());
    return;
  }
  throw std::runtime_error("no error: " + what);
}

void errors() {
  must_throw("unknown operator", "outside::missing", [] { find("outside::missing"); });
  must_throw("wrong C++ type", "outside::scale_add", [] { find("outside::scale_add").typed<at::Tensor(int64_t)>(); });
  must_throw("no kernel for a backend", "outside::count_arguments", [] {
    torch::jit::Stack stack;
    torch::jit::push(stack, torch::empty({1}, torch::kMeta), std::vector<int64_t>{}, c10::IValue());
    find("outside::count_arguments").callBoxed(&stack);
  });
  must_throw("too few arguments", "", [] {
    torch::jit::Stack stack;
    torch::jit::push(stack, torch::ones({1}));
    find("outside::scale_add").callBoxed(&stack);
  });
  must_throw("sizes that do not fit", "must match", [] { torch::ones({2, 3}) + torch::ones({2, 4}); });
}

} // namespace

int main() {
  try {
    unboxed_calls();
    boxed_calls();
    backends_and_gradients();
    errors();
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
  std::printf("OK\n");
  return 0;
}
