// What a call costs in instructions: run by tools/bench/call_counts under callgrind, which counts what happens inside
// each function cost_NAME that `measured` calls. `warm_up` has called it before, to fill the dispatcher's tables and
// the pools. Compiles against libtorch too.
#include <torch/torch.h>

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <cstdint>

namespace {

constexpr int kRounds = 500;

at::Tensor first(const at::Tensor& self, const at::Tensor& /*other*/) {
  return self;
}

TORCH_LIBRARY(call_counts, m) {
  m.def("first(Tensor self, Tensor other) -> Tensor");
}
TORCH_LIBRARY_IMPL(call_counts, CPU, m) {
  m.impl("first", &first);
}

// What the calls work on.
struct Inputs {
  at::Tensor a = at::ones({1});
  at::Tensor b = at::ones({1});
  at::Tensor leaf = at::ones({1}).requires_grad_();
  at::Tensor matrix = at::ones({4, 6});
  at::Tensor square = at::ones({8, 8});
  at::Tensor row = at::ones({8});
  at::Tensor end; // of a chain of ten operators
  c10::OperatorHandle op = c10::Dispatcher::singleton().findSchemaOrThrow("call_counts::first", "");
  c10::TypedOperatorHandle<at::Tensor(const at::Tensor&, const at::Tensor&)> typed =
      op.typed<at::Tensor(const at::Tensor&, const at::Tensor&)>();
  torch::jit::Stack stack;
};

template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

} // namespace

// Functions that callgrind knows by name. The first argument tells how often.
#define COST(name) extern "C" __attribute__((noinline)) void cost_##name(int rounds, [[maybe_unused]] Inputs& in)

COST(nothing) {
  for (int i = 0; i < rounds; ++i) {
    keep(in.a);
  }
}
COST(custom_kernel) {
  at::Tensor (*volatile kernel)(const at::Tensor&, const at::Tensor&) = &first;
  for (int i = 0; i < rounds; ++i) {
    keep(kernel(in.a, in.b));
  }
}
COST(custom_unboxed) {
  for (int i = 0; i < rounds; ++i) {
    keep(in.typed.call(in.a, in.b));
  }
}
COST(custom_boxed) {
  for (int i = 0; i < rounds; ++i) {
    in.stack.clear();
    in.stack.emplace_back(in.a);
    in.stack.emplace_back(in.b);
    in.op.callBoxed(&in.stack);
    keep(in.stack);
  }
}
COST(empty_1) {
  for (int i = 0; i < rounds; ++i) {
    keep(at::empty({1}));
  }
}
COST(add_no_grad) {
  at::NoGradGuard no_grad;
  for (int i = 0; i < rounds; ++i) {
    keep(at::add(in.a, in.b));
  }
}
COST(add_recorded) {
  for (int i = 0; i < rounds; ++i) {
    keep(at::add(in.leaf, in.b));
  }
}
COST(add_scalar) {
  at::NoGradGuard no_grad;
  for (int i = 0; i < rounds; ++i) {
    keep(in.a + 1.0f);
  }
}
COST(add_broadcast) {
  at::NoGradGuard no_grad;
  for (int i = 0; i < rounds; ++i) {
    keep(at::add(in.square, in.row));
  }
}
COST(to_double) {
  at::NoGradGuard no_grad;
  for (int i = 0; i < rounds; ++i) {
    keep(in.row.to(at::kDouble));
  }
}
COST(from_blob) {
  at::NoGradGuard no_grad;
  static float data[16];
  for (int i = 0; i < rounds; ++i) {
    keep(at::from_blob(data, {16}, at::kFloat));
  }
}
COST(softmax) {
  at::NoGradGuard no_grad;
  for (int i = 0; i < rounds; ++i) {
    keep(at::softmax(in.row, 0));
  }
}
COST(matmul_8) {
  at::NoGradGuard no_grad;
  for (int i = 0; i < rounds; ++i) {
    keep(at::matmul(in.square, in.square));
  }
}
COST(tensor_make_free) {
  for (int i = 0; i < rounds; ++i) {
    keep(at::detail::make_tensor<c10::TensorImpl>(
        c10::Storage(in.a.storage()), c10::DispatchKeySet(c10::DispatchKey::CPU), caffe2::TypeMeta::Make<float>()));
  }
}
COST(view) {
  at::NoGradGuard no_grad;
  for (int i = 0; i < rounds; ++i) {
    keep(in.matrix.view({6, 4}));
  }
}
COST(index_row) {
  at::NoGradGuard no_grad;
  for (int i = 0; i < rounds; ++i) {
    keep(in.matrix[1]);
  }
}
COST(sum) {
  at::NoGradGuard no_grad;
  for (int i = 0; i < rounds; ++i) {
    keep(at::sum(in.a));
  }
}
COST(chain_10_backward) {
  for (int i = 0; i < rounds; ++i) {
    in.end.backward({}, /*retain_graph=*/true);
    in.leaf.mutable_grad() = at::Tensor();
  }
}

using Case = void (*)(int, Inputs&);

extern "C" __attribute__((noinline)) void warm_up(Case run, Inputs& in) {
  run(2, in);
  asm volatile("");
}
extern "C" __attribute__((noinline)) void measured(Case run, Inputs& in) {
  run(kRounds, in);
  asm volatile("");
}

// With an argument the program only starts.
int main(int argc, char**) {
  at::set_num_threads(1);
  if (argc > 1) {
    return 0;
  }
  Inputs in;
  in.end = in.leaf;
  for (int i = 0; i < 5; ++i) {
    in.end = at::add(at::mul(in.end, in.b), in.leaf);
  }
  const Case cases[] = {cost_nothing,       cost_custom_kernel,    cost_custom_unboxed, cost_custom_boxed,
                        cost_empty_1,       cost_add_no_grad,      cost_add_recorded,   cost_add_scalar,
                        cost_add_broadcast, cost_to_double,        cost_from_blob,      cost_softmax,
                        cost_matmul_8,      cost_tensor_make_free, cost_view,           cost_index_row,
                        cost_sum,           cost_chain_10_backward};
  for (const Case run : cases) {
    warm_up(run, in);
    measured(run, in);
  }
  return 0;
}
