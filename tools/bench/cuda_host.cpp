// What calls on a GPU cost the host, and what they ask of the GPU, with a device that does nothing:
// tools/bench/cuda_host builds this against libtensor and against libtorch, runs both on the idle runtime
// (test/cuda/idle_cuda) and compares. A line a case:
//   name<TAB>nanoseconds<TAB>launches<TAB>products<TAB>copies<TAB>memsets<TAB>blocks<TAB>waits<TAB>other
// each of one call: processor time of all threads, launches of kernels, products by cuBLAS, copies, memsets, blocks
// from the caching allocator, waits of the host, other calls of the runtime.
//   cuda_host [PART OF A NAME]        times the cases
//   cuda_host --counts NAME           runs one case a thousand times in the function `measured`, for callgrind
#include <torch/torch.h>

#include <ATen/autocast_mode.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gpt2.h"
#include "../../test/cuda/idle_cuda/counts.h"

namespace {

using at::Tensor;

const at::Device kGpu(at::kCUDA, 0);

struct Case {
  std::string name;
  std::function<void()> run;
  bool recorded = false;
};
using Cases = std::vector<Case>;

/// Processor time of all threads: on the way back a library may use others.
double now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

/// The least of several rows of calls, of some two milliseconds each.
double nanoseconds(const std::function<void()>& call) {
  double best = 1e18;
  std::int64_t count = 1;
  for (int row = 0; row < 8;) {
    const double start = now();
    for (std::int64_t i = 0; i < count; ++i) {
      call();
    }
    const double took = now() - start;
    if (took < 2e6 && count < (1 << 20)) {
      count *= 2;
      continue;
    }
    best = std::min(best, took / static_cast<double>(count));
    ++row;
  }
  return best;
}

std::int64_t blocks() {
  return c10::cuda::CUDACachingAllocator::getDeviceStats(0).allocation[0].allocated;
}

void report(const Case& c) {
  static const auto& counts = *static_cast<const IdleCudaCounts*>(dlsym(RTLD_DEFAULT, "idle_cuda_counts"));
  const double took = nanoseconds(c.run);
  constexpr int kCalls = 4;
  const IdleCudaCounts before = counts;
  const std::int64_t blocks_before = blocks();
  for (int i = 0; i < kCalls; ++i) {
    c.run();
  }
  const std::int64_t made = blocks() - blocks_before;
  const auto each = [](std::int64_t n) { return static_cast<double>(n) / kCalls; };
  std::printf(
      "%s\t%.1f\t%g\t%g\t%g\t%g\t%g\t%g\t%g\n", c.name.c_str(), took, each(counts.launches - before.launches),
      each(counts.library_calls - before.library_calls), each(counts.copies - before.copies),
      each(counts.memsets - before.memsets), each(made), each(counts.waits - before.waits),
      each(counts.other_calls - before.other_calls));
  std::fflush(stdout);
}

at::TensorOptions gpu(at::ScalarType dtype = at::kFloat) {
  return at::TensorOptions(kGpu).dtype(dtype);
}

// What the cases work on; lives as long as the program.
struct Inputs {
  Tensor s = torch::ones({16}, gpu()), t = torch::ones({16}, gpu()), square = torch::ones({16, 16}, gpu());
  Tensor half = torch::ones({16}, gpu(at::kHalf)), ints = torch::zeros({4}, gpu(at::kLong)),
         mask = torch::zeros({16, 16}, gpu(at::kBool));
  Tensor bias = torch::ones({16}, gpu()), batch = torch::ones({4, 16, 16}, gpu()),
         image = torch::ones({2, 4, 8, 8}, gpu());
  Tensor channels = torch::ones({4}, gpu()), on_host = torch::ones({16}), pinned = torch::ones({16}).pin_memory();
  Tensor targets = torch::zeros({16}, gpu(at::kLong)), heads = torch::ones({2, 4, 16, 64}, gpu(at::kBFloat16)),
         out = torch::empty({16}, gpu());
  Tensor number = torch::ones({}, gpu()), offsets = torch::zeros({1}, gpu(at::kLong)),
         inner = torch::ones({2, 4, 6, 6}, gpu());
  Tensor leaf = torch::ones({16}, gpu().requires_grad(true));
};

void add_factories(Cases& cases, Inputs& in) {
  cases.insert(
      cases.end(),
      {{"empty", [] { torch::empty({16}, gpu()); }},
       {"empty_like", [&] { at::empty_like(in.s); }},
       {"zeros", [] { torch::zeros({16}, gpu()); }},
       {"full", [] { torch::full({16}, 2.5, gpu()); }},
       {"arange", [] { torch::arange(16, gpu()); }},
       {"randn", [] { torch::randn({16}, gpu()); }},
       {"zero_", [&] { in.out.zero_(); }},
       {"fill_", [&] { in.out.fill_(1.5); }}});
}

void add_pointwise(Cases& cases, Inputs& in) {
  cases.insert(
      cases.end(),
      {{"add", [&] { in.s + in.t; }},
       {"add_", [&] { in.s.add_(in.t); }},
       {"add, out", [&] { at::add_out(in.out, in.s, in.t); }},
       {"add scalar", [&] { in.s + 2; }},
       {"mul scalar", [&] { in.s * 0.5; }},
       {"mul_ scalar", [&] { in.s.mul_(1.0); }},
       {"add, broadcast", [&] { in.square + in.bias; }},
       {"add, half and float", [&] { in.half + in.s; }},
       {"add, transposed", [&] { in.square + in.square.t(); }},
       {"view and add", [&] { in.square.view({256}) + 1.5; }},
       {"relu", [&] { at::relu(in.s); }},
       {"gelu", [&] { at::gelu(in.s); }},
       {"exp", [&] { at::exp(in.s); }},
       {"pow 2", [&] { at::pow(in.s, 2); }},
       {"eq", [&] { in.s == in.t; }},
       {"where", [&] { at::where(in.mask, in.square, in.square); }},
       {"masked_fill", [&] { in.square.masked_fill(in.mask, 0.0); }},
       {"clamp", [&] { in.s.clamp(-1, 1); }},
       {"lerp_", [&] { in.s.lerp_(in.t, 0.1); }},
       {"addcmul_", [&] { in.s.addcmul_(in.t, in.t, 0.0); }},
       {"dropout", [&] { at::native_dropout(in.s, 0.5, true); }},
       {"to(half)", [&] { in.s.to(at::kHalf); }},
       {"clone", [&] { in.s.clone(); }},
       {"contiguous of t()", [&] { in.square.t().contiguous(); }},
       {"copy_", [&] { in.out.copy_(in.s); }},
       {"copy from pinned", [&] { in.out.copy_(in.pinned, true); }},
       {"to the host", [&] { in.s.to(at::kCPU); }},
       {"to the device", [&] { in.on_host.to(kGpu); }},
       {"item", [&] { in.s[0].item<float>(); }}});
}

void add_reductions(Cases& cases, Inputs& in) {
  cases.insert(
      cases.end(),
      {{"sum", [&] { in.s.sum(); }},
       {"sum of rows", [&] { in.square.sum(1); }},
       {"mean", [&] { in.square.mean(); }},
       {"max", [&] { in.s.max(); }},
       {"max of rows", [&] { in.square.max(1); }},
       {"argmax", [&] { in.square.argmax(1); }},
       {"norm", [&] { in.s.norm(); }},
       {"var", [&] { in.s.var(); }},
       {"all", [&] { in.mask.all(); }},
       {"softmax", [&] { at::softmax(in.square, 1); }},
       {"log_softmax", [&] { at::log_softmax(in.square, 1); }},
       {"layer_norm", [&] { at::layer_norm(in.square, {16}, in.bias, in.bias); }},
       {"group_norm", [&] { at::group_norm(in.image, 2, in.channels, in.channels); }},
       {"batch_norm", [&] { at::batch_norm(in.image, in.channels, in.channels, {}, {}, true, 0.1, 1e-5, false); }},
       {"cumsum", [&] { in.square.cumsum(1); }},
       {"sort", [&] { in.square.sort(1); }},
       {"topk", [&] { in.square.topk(3, 1); }},
       {"cross_entropy", [&] { at::cross_entropy_loss(in.square, in.targets); }},
       {"mse_loss", [&] { at::mse_loss(in.s, in.t); }}});
}

void add_rearranging(Cases& cases, Inputs& in) {
  cases.insert(
      cases.end(),
      {{"cat",
        [&] {
          at::cat({in.square, in.square});
        }},
       {"stack",
        [&] {
          at::stack({in.s, in.s});
        }},
       {"index_select", [&] { in.square.index_select(0, in.ints); }},
       {"x[tensor]", [&] { in.square.index({in.ints}); }},
       {"x[tensor] = y", [&] { in.square.index_put_({in.ints}, in.bias); }},
       {"gather",
        [&] {
          in.square.gather(0, in.ints.view({1, 4}));
        }},
       {"embedding", [&] { at::embedding(in.square, in.ints); }},
       {"x[1]", [&] { in.square[1]; }},
       {"repeat", [&] { in.s.repeat({4}); }},
       {"tril", [&] { in.square.tril(); }},
       {"pad",
        [&] {
          at::constant_pad_nd(in.square, {1, 1});
        }},
       {"max_pool2d",
        [&] {
          at::max_pool2d(in.image, {2, 2});
        }},
       {"avg_pool2d",
        [&] {
          at::avg_pool2d(in.image, {2, 2});
        }},
       {"upsample", [&] {
          at::upsample_nearest2d(in.image, {16, 16});
        }}});
}

/// Operators that pick and place by index, order elements, pad, pool, and go along an inner dimension.
void add_picking(Cases& cases, Inputs& in) {
  const Tensor rows = in.square.narrow(0, 0, 4).clone(), places = in.ints.view({1, 4}),
               line = torch::ones({4, 2048}, gpu());
  const Tensor scores = torch::ones({16, 2048}, gpu()), table = torch::ones({16, 16}, gpu()),
               volume = torch::ones({2, 4, 8, 8, 8}, gpu());
  const Tensor chances = torch::ones({4, 16}, gpu());
  const Tensor small = torch::ones({2, 4, 4, 4}, gpu()), small3 = torch::ones({2, 4, 4, 4, 4}, gpu());
  const auto pooled = std::make_shared<std::tuple<Tensor, Tensor>>(at::max_pool2d_with_indices(in.image, {2, 2}));
  const auto pooled3 = std::make_shared<std::tuple<Tensor, Tensor>>(at::max_pool3d_with_indices(volume, {2, 2, 2}));
  const auto adapted = std::make_shared<std::tuple<Tensor, Tensor>>(at::adaptive_max_pool2d(in.image, {4, 4}));
  cases.insert(
      cases.end(),
      {{"x[tensor, tensor]",
        [&] {
          in.square.index({in.ints, in.ints});
        }},
       {"x[tensor, tensor] = y",
        [&] {
          in.square.index_put_({in.ints, in.ints}, in.channels);
        }},
       {"x[tensor] = number", [&] { in.square.index_put_({in.ints}, in.number); }},
       {"x[mask]", [&] { in.square.index({in.mask}); }},
       {"x[mask] = number", [&] { in.square.index_put_({in.mask}, in.number); }},
       {"x[tensor] += y", [&, rows] { in.square.index_put_({in.ints}, rows, true); }},
       {"index_fill_", [&] { in.square.index_fill_(0, in.ints, 1.0); }},
       {"index_copy_", [&, rows] { in.square.index_copy_(0, in.ints, rows); }},
       {"index_add_", [&, rows] { in.square.index_add_(0, in.ints, rows); }},
       {"index_add_, alpha", [&, rows] { in.square.index_add_(0, in.ints, rows, 0.5); }},
       {"index_reduce_", [&, rows] { in.square.index_reduce_(0, in.ints, rows, "amax"); }},
       {"scatter_", [&, places, rows] { in.square.scatter_(0, places, rows); }},
       {"scatter_ number", [&, places] { in.square.scatter_(0, places, 1.0); }},
       {"scatter_add_", [&, places, rows] { in.square.scatter_add_(0, places, rows); }},
       {"scatter_reduce_ amax", [&, places, rows] { in.square.scatter_reduce_(0, places, rows, "amax"); }},
       {"scatter_reduce_ mean", [&, places, rows] { in.square.scatter_reduce_(0, places, rows, "mean"); }},
       {"scatter_reduce_ amin, without",
        [&, places, rows] { in.square.scatter_reduce_(0, places, rows, "amin", false); }},
       {"masked_fill_", [&] { in.square.masked_fill_(in.mask, 1.0); }},
       {"masked_fill_ tensor", [&] { in.square.masked_fill_(in.mask, in.number); }},
       {"masked_scatter_", [&] { in.square.masked_scatter_(in.mask, in.square); }},
       {"masked_select", [&] { in.square.masked_select(in.mask); }},
       {"nonzero", [&] { in.square.nonzero(); }},
       {"take", [&] { in.square.take(in.ints); }},
       {"put_", [&] { in.square.put_(in.ints, in.channels); }},
       {"take_along_dim", [&, places] { at::take_along_dim(in.square, places, 0); }},
       {"embedding backward", [&, rows] { at::embedding_dense_backward(rows, in.ints, 16, -1, false); }},
       {"embedding_renorm_",
        [&, table] {
          Tensor t = table;
          at::embedding_renorm_(t, in.ints, 1.0, 2.0);
        }},
       {"embedding_bag", [&] { at::embedding_bag(in.square, in.ints, in.offsets, false, 1); }},
       {"multinomial", [chances] { chances.multinomial(1); }},
       {"multinomial, 4 without", [chances] { chances.multinomial(4); }},
       {"multinomial, 4 with", [chances] { chances.multinomial(4, true); }},
       {"sort, 0", [&] { in.square.sort(0); }},
       {"sort, descending", [&] { in.square.sort(1, true); }},
       {"sort of 2048", [line] { line.sort(1); }},
       {"argsort", [&] { in.square.argsort(std::int64_t{1}); }},
       {"msort", [&] { at::msort(in.square); }},
       {"topk, 0", [&] { in.square.topk(3, 0); }},
       {"topk of 2048", [line] { line.topk(3, 1); }},
       {"topk of 16 x 2048", [scores] { scores.topk(3, 1); }},
       {"kthvalue", [&] { in.square.kthvalue(3, 1); }},
       {"kthvalue of 2048", [line] { line.kthvalue(3, 1); }},
       {"median", [&] { in.s.median(); }},
       {"median of rows", [&] { in.square.median(1); }},
       {"median of 2048", [line] { line.median(1); }},
       {"nanmedian of rows", [&] { in.square.nanmedian(1); }},
       {"mode", [&] { in.square.mode(1); }},
       {"quantile", [&] { in.s.quantile(0.5); }},
       {"unique", [&] { at::_unique2(in.s); }},
       {"unique_consecutive", [&] { at::unique_consecutive(in.s); }},
       {"randperm", [] { torch::randperm(16, gpu(at::kLong)); }},
       {"searchsorted", [&] { at::searchsorted(in.s, in.t); }},
       {"bincount", [&] { at::bincount(in.targets); }},
       {"histc", [&] { at::histc(in.s, 10, 0, 1); }},
       {"flip", [&] { in.square.flip(1); }},
       {"roll", [&] { in.square.roll(1, 1); }},
       {"cumsum, 0", [&] { in.square.cumsum(0); }},
       {"cumsum of 2048", [line] { line.cumsum(1); }},
       {"cumprod", [&] { in.square.cumprod(1); }},
       {"cummax", [&] { in.square.cummax(1); }},
       {"logcumsumexp", [&] { in.square.logcumsumexp(1); }},
       {"softmax, 0", [&] { at::softmax(in.square, 0); }},
       {"log_softmax, 0", [&] { at::log_softmax(in.square, 0); }},
       {"softmax backward, 0", [&] { at::_softmax_backward_data(in.square, in.square, 0, at::kFloat); }},
       {"softmax backward", [&] { at::_softmax_backward_data(in.square, in.square, 1, at::kFloat); }},
       {"pad, images",
        [&] {
          at::constant_pad_nd(in.image, {1, 1, 1, 1});
        }},
       {"pad, reflect",
        [&] {
          at::pad(in.image, {1, 1, 1, 1}, "reflect");
        }},
       {"pad, replicate",
        [&] {
          at::pad(in.image, {1, 1, 1, 1}, "replicate");
        }},
       {"pad, circular",
        [&] {
          at::pad(in.image, {1, 1, 1, 1}, "circular");
        }},
       {"pad, reflect, 1-D",
        [&] {
          at::pad(in.batch, {1, 1}, "reflect");
        }},
       {"pad, replicate, 3-D",
        [volume] {
          at::pad(volume, {1, 1, 1, 1, 1, 1}, "replicate");
        }},
       {"pad backward, reflect",
        [&] {
          at::reflection_pad2d_backward(in.image, in.inner, {1, 1, 1, 1});
        }},
       {"pad backward, replicate",
        [&] {
          at::replication_pad2d_backward(in.image, in.inner, {1, 1, 1, 1});
        }},
       {"max_pool1d", [&] { at::max_pool1d(in.batch, {2}); }},
       {"max_pool3d",
        [volume] {
          at::max_pool3d(volume, {2, 2, 2});
        }},
       {"avg_pool1d", [&] { at::avg_pool1d(in.batch, {2}); }},
       {"avg_pool3d",
        [volume] {
          at::avg_pool3d(volume, {2, 2, 2});
        }},
       {"adaptive_avg_pool1d", [&] { at::adaptive_avg_pool1d(in.batch, {4}); }},
       {"adaptive_avg_pool2d",
        [&] {
          at::adaptive_avg_pool2d(in.image, {4, 4});
        }},
       {"adaptive_avg_pool2d of 1",
        [&] {
          at::adaptive_avg_pool2d(in.image, {1, 1});
        }},
       {"adaptive_avg_pool3d",
        [volume] {
          at::adaptive_avg_pool3d(volume, {4, 4, 4});
        }},
       {"adaptive_max_pool1d", [&] { at::adaptive_max_pool1d(in.batch, {4}); }},
       {"adaptive_max_pool2d",
        [&] {
          at::adaptive_max_pool2d(in.image, {4, 4});
        }},
       {"adaptive_max_pool3d",
        [volume] {
          at::adaptive_max_pool3d(volume, {4, 4, 4});
        }},
       {"max_pool2d backward",
        [&, small, pooled] {
          at::max_pool2d_with_indices_backward(small, in.image, {2, 2}, {}, {0}, {1}, false, std::get<1>(*pooled));
        }},
       {"max_pool3d backward",
        [volume, small3, pooled3] {
          at::max_pool3d_with_indices_backward(small3, volume, {2, 2, 2}, {}, {0}, {1}, false, std::get<1>(*pooled3));
        }},
       {"avg_pool2d backward",
        [&, small] {
          at::avg_pool2d_backward(small, in.image, {2, 2}, {}, {0}, false, true, std::nullopt);
        }},
       {"avg_pool3d backward",
        [volume, small3] {
          at::avg_pool3d_backward(small3, volume, {2, 2, 2}, {}, {0}, false, true, std::nullopt);
        }},
       {"adaptive_avg_pool2d backward", [&, small] { at::_adaptive_avg_pool2d_backward(small, in.image); }},
       {"adaptive_max_pool2d backward",
        [&, small, adapted] { at::adaptive_max_pool2d_backward(small, in.image, std::get<1>(*adapted)); }},
       {"max_unpool2d", [pooled] {
          at::max_unpool2d(std::get<0>(*pooled), std::get<1>(*pooled), {8, 8});
        }}});
}

void add_products(Cases& cases, Inputs& in) {
  cases.insert(
      cases.end(),
      {{"mm", [&] { in.square.mm(in.square); }},
       {"addmm", [&] { at::addmm(in.bias, in.square, in.square); }},
       {"linear", [&] { at::linear(in.square, in.square, in.bias); }},
       {"matmul of a vector", [&] { in.square.matmul(in.s); }},
       {"bmm", [&] { in.batch.bmm(in.batch); }},
       {"matmul of batches", [&] { in.batch.matmul(in.square); }},
       {"attention", [&] { at::scaled_dot_product_attention(in.heads, in.heads, in.heads, {}, 0.0, true); }}});
}

/// Parameters with gradients and an optimizer that steps them.
template <class Optimizer, class Options>
Case step(const char* name, int count, const Options& options) {
  std::vector<Tensor> parameters;
  for (int i = 0; i < count; ++i) {
    parameters.push_back(torch::ones({16, 16}, gpu().requires_grad(true)));
    parameters.back().mutable_grad() = torch::ones({16, 16}, gpu());
  }
  return {name, [optimizer = std::make_shared<Optimizer>(parameters, options)] { optimizer->step(); }};
}

void add_optimizers(Cases& cases) {
  cases.push_back(step<torch::optim::SGD>("SGD, 100", 100, torch::optim::SGDOptions(1e-3)));
  cases.push_back(step<torch::optim::SGD>("SGD momentum, 100", 100, torch::optim::SGDOptions(1e-3).momentum(0.9)));
  cases.push_back(step<torch::optim::Adam>("Adam, 100", 100, torch::optim::AdamOptions(1e-3)));
  cases.push_back(step<torch::optim::AdamW>("AdamW, 100", 100, torch::optim::AdamWOptions(1e-3)));
  cases.push_back(step<torch::optim::RMSprop>("RMSprop, 100", 100, torch::optim::RMSpropOptions(1e-3)));
  auto lists = std::make_shared<std::vector<std::vector<Tensor>>>();
  for (int kind = 0; kind < 4; ++kind) {
    lists->emplace_back();
    for (int i = 0; i < 100; ++i) {
      lists->back().push_back(torch::ones({16, 16}, gpu()));
    }
  }
  auto steps = std::make_shared<std::vector<Tensor>>();
  for (int i = 0; i < 100; ++i) {
    steps->push_back(torch::ones({}, gpu()));
  }
  cases.push_back({"_foreach_add_, 100", [lists] { at::_foreach_add_((*lists)[0], (*lists)[1], 0.1); }});
  cases.push_back({"_foreach_mul_, 100", [lists] { at::_foreach_mul_((*lists)[0], 0.5); }});
  cases.push_back({"_foreach_zero_, 100", [lists] { at::_foreach_zero_((*lists)[0]); }});
  cases.push_back({"_foreach_norm, 100", [lists] { at::_foreach_norm((*lists)[0]); }});
  cases.push_back(
      {"_foreach_addcdiv_, 100", [lists] { at::_foreach_addcdiv_((*lists)[0], (*lists)[1], (*lists)[2], 0.1); }});
  cases.push_back({"_fused_adam_, 100", [lists, steps] {
                     auto& l = *lists;
                     at::_fused_adam_(l[0], l[1], l[2], l[3], {}, *steps, 1e-3, 0.9, 0.999, 0.0, 1e-8, false, false);
                   }});
  std::vector<Tensor> parameters;
  for (int i = 0; i < 100; ++i) {
    parameters.push_back((*lists)[0][static_cast<std::size_t>(i)].detach().requires_grad_());
    parameters.back().mutable_grad() = (*lists)[1][static_cast<std::size_t>(i)];
  }
  cases.push_back({"clip_grad_norm_, 100", [parameters] { torch::nn::utils::clip_grad_norm_(parameters, 1.0); }});
}

void add_recorded(Cases& cases, Inputs& in) {
  cases.push_back({"add, recorded", [&] { in.leaf + in.s; }, true});
  cases.push_back(
      {"mul, sum, backward",
       [&] {
         (in.leaf * in.leaf).sum().backward();
         in.leaf.mutable_grad().reset();
       },
       true});
  cases.push_back({"mul, sum, backward, added", [&] { (in.leaf * in.leaf).sum().backward(); }, true});
  auto net = std::make_shared<torch::nn::Sequential>(
      torch::nn::Linear(16, 32), torch::nn::ReLU(), torch::nn::Linear(32, 32), torch::nn::ReLU(),
      torch::nn::Linear(32, 16));
  (*net)->to(kGpu);
  auto optimizer = std::make_shared<torch::optim::AdamW>((*net)->parameters(), torch::optim::AdamWOptions(1e-3));
  cases.push_back({"MLP forward", [&in, net] { (*net)->forward(in.square); }, true});
  const auto pass = [&in, net] {
    (*net)->zero_grad();
    at::cross_entropy_loss((*net)->forward(in.square), in.targets).backward();
  };
  cases.push_back({"MLP forward, backward", pass, true});
  cases.push_back(
      {"MLP training step",
       [pass, optimizer] {
         pass();
         optimizer->step();
       },
       true});
  torch::nn::TransformerEncoderLayer layer(
      torch::nn::TransformerEncoderLayerOptions(64, 4).dropout(0.1).dim_feedforward(128));
  layer->to(kGpu);
  const Tensor words = torch::ones({8, 2, 64}, gpu());
  cases.push_back(
      {"TransformerEncoderLayer", [layer, words]() mutable { layer->forward(words).sum().backward(); }, true});
}

/// A training step of GPT-2 small in parts, with autocast to bfloat16 as people train it.
void add_gpt2(Cases& cases) {
  auto model = std::make_shared<gpt2::Gpt2>();
  (*model)->to(kGpu);
  auto optimizer = std::make_shared<torch::optim::AdamW>(
      (*model)->parameters(), torch::optim::AdamWOptions(6e-4).betas({0.9, 0.95}));
  const Tensor text = torch::zeros({2, gpt2::Gpt2Impl::kLength}, gpu(at::kLong));
  const Tensor positions = torch::arange(gpt2::Gpt2Impl::kLength, gpu(at::kLong));
  at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
  const auto forward = [model, text, positions] {
    at::autocast::set_autocast_enabled(at::kCUDA, true);
    const Tensor loss = (*model)->forward(text, text, positions);
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCUDA, false);
    return loss;
  };
  const auto pass = [model, forward] {
    (*model)->zero_grad();
    forward().backward();
  };
  cases.push_back({"GPT-2 forward", [forward] { forward(); }, true});
  cases.push_back({"GPT-2 forward, backward", pass, true});
  pass();
  cases.push_back({"GPT-2 AdamW", [optimizer] { optimizer->step(); }, true});
}

extern "C" __attribute__((noinline)) void measured(const std::function<void()>& call) {
  for (int i = 0; i < 1000; ++i) {
    call();
  }
  asm volatile("");
}

} // namespace

int main(int argc, char** argv) {
  if (!torch::cuda::is_available() || dlsym(RTLD_DEFAULT, "idle_cuda_counts") == nullptr) {
    std::fprintf(stderr, "cuda_host: run by tools/bench/cuda_host, which brings the idle runtime\n");
    return 2;
  }
  const bool counts = argc == 3 && std::strcmp(argv[1], "--counts") == 0;
  const std::string wanted = counts ? argv[2] : argc == 2 ? argv[1] : "";
  at::set_num_threads(1);
  // There is no idle cuDNN.
  at::globalContext().setUserEnabledCuDNN(false);
  at::globalContext().setSDPUseCuDNN(false);
  Inputs in;
  Cases cases;
  add_factories(cases, in);
  add_pointwise(cases, in);
  add_reductions(cases, in);
  add_rearranging(cases, in);
  add_picking(cases, in);
  add_products(cases, in);
  add_optimizers(cases);
  add_recorded(cases, in);
  if (wanted.empty() || wanted.starts_with("GPT")) {
    add_gpt2(cases);
  }
  for (const Case& c : cases) {
    if (counts ? c.name != wanted : c.name.find(wanted) == std::string::npos) {
      continue;
    }
    const at::AutoGradMode recording(c.recorded);
    try {
      if (counts) {
        c.run();
        measured(c.run);
      } else {
        report(c);
      }
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s: %s\n", c.name.c_str(), e.what());
    }
  }
  return 0;
}
