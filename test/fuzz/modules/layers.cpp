// Modules of torch::nn with drawn options and inputs: made, printed, called, differentiated, copied.
#include <sstream>

#include "test/fuzz/modules/draw.h"

namespace fuzz::modules {
namespace {

namespace nn = torch::nn;

/// What a program does with any module.
template <class Holder>
void use(Random& r, Holder& module) {
  std::ostringstream text;
  text << *module;
  if (r.chance(10)) {
    module->eval();
  }
  if (r.chance(5)) {
    module->to(torch::kDouble);
  }
  if (r.chance(5)) {
    module->clone();
  }
}
template <class Holder, class... Inputs>
void run(Random& r, Holder module, const Inputs&... inputs) {
  use(r, module);
  differentiate(module->forward(inputs...));
}

/// A layer that takes one tensor of `dims` dimensions.
template <class Holder, class Options>
Case plain(const char* name, int64_t dims, Options (*options)(Random&)) {
  return {name, [=](Random& r) { run(r, Holder(options(r)), input(r, dims)); }};
}

template <size_t D>
nn::ConvOptions<D> conv(Random& r) {
  auto o = nn::ConvOptions<D>(size(r), size(r), array<D>(r, size))
               .stride(array<D>(r, size))
               .dilation(array<D>(r, size))
               .bias(flag(r));
  if (r.chance(30)) {
    o.groups(size(r));
  }
  if (r.chance(10)) {
    o.padding(torch::kSame);
  } else if (r.chance(60)) {
    o.padding(array<D>(r, small));
  }
  if (r.chance(10)) {
    o.padding_mode(torch::kReflect);
  }
  if (r.chance(10)) {
    o.padding_mode(torch::kCircular);
  }
  return o;
}
template <size_t D, class Holder>
Case convolution(const char* name) {
  return {name, [](Random& r) {
            const auto o = conv<D>(r);
            run(r, Holder(o), input(r, D + 2, o.in_channels()));
          }};
}
template <size_t D, class Holder>
Case transposed(const char* name) {
  return {
      name, [](Random& r) {
        auto o =
            nn::ConvTransposeOptions<D>(size(r), size(r), array<D>(r, size)).stride(array<D>(r, size)).bias(flag(r));
        o.padding(array<D>(r, small)).output_padding(array<D>(r, small));
        if (r.chance(30)) {
          o.groups(size(r)).dilation(array<D>(r, size));
        }
        run(r, Holder(o), input(r, D + 2, o.in_channels()));
      }};
}

template <size_t D>
nn::MaxPoolOptions<D> max_pool(Random& r) {
  auto o = nn::MaxPoolOptions<D>(array<D>(r, size)).padding(array<D>(r, small)).ceil_mode(flag(r));
  if (flag(r)) {
    o.stride(array<D>(r, size));
  }
  if (r.chance(30)) {
    o.dilation(array<D>(r, size));
  }
  return o;
}
template <size_t D>
nn::AvgPoolOptions<D> avg_pool(Random& r) {
  auto o = nn::AvgPoolOptions<D>(array<D>(r, size))
               .padding(array<D>(r, small))
               .ceil_mode(flag(r))
               .count_include_pad(flag(r));
  if (flag(r)) {
    o.stride(array<D>(r, size));
  }
  if constexpr (D > 1) {
    if (r.chance(20)) {
      o.divisor_override(small(r));
    }
  }
  return o;
}
template <size_t D>
nn::LPPoolOptions<D> lp_pool(Random& r) {
  return nn::LPPoolOptions<D>(number(r), array<D>(r, size)).ceil_mode(flag(r));
}
template <size_t D>
nn::FractionalMaxPoolOptions<D> fractional(Random& r) {
  nn::FractionalMaxPoolOptions<D> o(array<D>(r, size));
  if (r.chance(90)) {
    flag(r) ? (void)o.output_size(array<D>(r, size))
            : (void)o.output_ratio(torch::ExpandingArray<D, double>(number(r)));
  }
  return o;
}
template <size_t D, class Holder>
Case unpool(const char* name) {
  return {name, [](Random& r) {
            auto o = nn::MaxUnpoolOptions<D>(array<D>(r, size)).padding(array<D>(r, small));
            const torch::Tensor x = input(r, D + 2);
            if (!x.defined()) {
              return;
            }
            run(r, Holder(o), x, positions(r, x.sizes().vec(), 8),
                std::optional<std::vector<int64_t>>(maybe(r, sizes(r, 5))));
          }};
}

template <class Holder, class Options>
Case norm(const char* name, int64_t dims) {
  return {name, [=](Random& r) {
            auto o = Options(size(r));
            o.eps(number(r)).affine(flag(r)).track_running_stats(flag(r));
            run(r, Holder(o), input(r, dims, o.num_features()));
          }};
}

/// How many layers: each takes memory, so a great number is no mistake that could be told from an earnest wish.
int64_t layers(Random& r) {
  return r.chance(90) ? r.between(1, 2) : ~small(r);
}
template <class Holder, class Options>
Case recurrent(const char* name) {
  return {name, [](Random& r) {
            auto o = Options(size(r), size(r)).num_layers(layers(r)).bias(flag(r));
            o.batch_first(flag(r)).bidirectional(flag(r));
            if (r.chance(20)) {
              o.dropout(number(r));
            }
            run(r, Holder(o), input(r, r.chance(80) ? 3 : 2, o.input_size(), -1));
          }};
}
template <class Holder>
Case cell(const char* name) {
  return {name, [](Random& r) {
            const int64_t in = size(r);
            run(r, Holder(in, size(r)), input(r, 2, in));
          }};
}

nn::Upsample upsample(Random& r, int64_t dims) {
  auto o = nn::UpsampleOptions();
  const std::vector<int64_t> to(r.chance(85) ? dims - 2 : r.between(0, 4), size(r));
  if (flag(r)) {
    o.size(to);
  } else if (r.chance(90)) {
    o.scale_factor(std::vector<double>(to.size(), r.chance(80) ? r.uniform(0.3, 3) : number(r)));
  }
  switch (r.below(5)) {
    case 0:
      o.mode(torch::kLinear);
      break;
    case 1:
      o.mode(torch::kBilinear);
      break;
    case 2:
      o.mode(torch::kBicubic);
      break;
    case 3:
      o.mode(torch::kTrilinear);
      break;
    default:
      o.mode(torch::kNearest);
  }
  if (r.chance(40)) {
    o.align_corners(flag(r));
  }
  return nn::Upsample(o);
}

void attention(Random& r) {
  const int64_t heads = r.chance(90) ? r.between(1, 3) : odd_integer(r),
                width = r.chance(90)
      ? static_cast<int64_t>(static_cast<uint64_t>(heads) * static_cast<uint64_t>(r.between(1, 3)))
      : size(r);
  auto o = nn::MultiheadAttentionOptions(width, heads).bias(flag(r)).add_bias_kv(flag(r)).add_zero_attn(flag(r));
  if (r.chance(20)) {
    o.dropout(number(r));
  }
  nn::MultiheadAttention module(o);
  use(r, module);
  const int64_t batch = r.between(1, 3), from = r.between(1, 4), to = r.between(1, 4);
  const auto words = [&](int64_t n) {
    return tensor_of(r, {n, batch, r.chance(95) ? o.embed_dim() : size(r)}, dtype(r));
  };
  const torch::Tensor keys = words(to), padding = flag(r) ? torch::rand({batch, to}) > 0.7 : torch::Tensor();
  const torch::Tensor mask = flag(r) ? tensor_of(r, {from, r.chance(95) ? to : size(r)}, dtype(r)) : torch::Tensor();
  differentiate(module->forward(words(from), keys, r.chance(90) ? keys : words(to), padding, flag(r), mask, flag(r)));
}

void transformer(Random& r) {
  const int64_t heads = r.between(1, 2), width = heads * r.between(1, 3);
  auto o =
      nn::TransformerOptions(r.chance(95) ? width : size(r), r.chance(95) ? heads : small(r), layers(r), layers(r));
  o.dim_feedforward(size(r)).dropout(number(r));
  nn::Transformer module(o);
  use(r, module);
  differentiate(module->forward(input(r, 3, width, -1), input(r, 3, width, -1)));
}

void containers(Random& r) {
  nn::Sequential net(nn::Linear(3, size(r)), nn::ReLU(), nn::Dropout(r.uniform(0, 1)));
  if (flag(r)) {
    net->push_back(nn::LSTM(3, 3));
  }
  if (flag(r)) {
    net->push_back("name." + std::to_string(r.below(2)), nn::Identity());
  }
  if (flag(r)) {
    net->push_back(std::string(r.below(2), 'a'), nn::Flatten());
  }
  use(r, net);
  net->named_parameters();
  if (flag(r)) {
    net->at<nn::LinearImpl>(r.below(6));
  }
  if (flag(r)) {
    net->ptr(r.below(8));
  }
  differentiate(net->forward(input(r, 2, 3, -1)));
  nn::ModuleList list(nn::Linear(2, 2), nn::ReLU());
  if (flag(r)) {
    list->insert(r.below(4), nn::Identity());
  }
  (*list)[r.below(4)];
  nn::ModuleDict dict;
  dict->update({{"a", nn::Linear(1, 1).ptr()}});
  dict[flag(r) ? "a" : "b"];
}

} // namespace

void add_layers(std::vector<Case>& cases) {
  const auto add = [&](std::vector<Case> more) { cases.insert(cases.end(), more.begin(), more.end()); };
  add(
      {convolution<1, nn::Conv1d>("Conv1d"), convolution<2, nn::Conv2d>("Conv2d"), convolution<3, nn::Conv3d>("Conv3d"),
       transposed<1, nn::ConvTranspose1d>("ConvTranspose1d"), transposed<2, nn::ConvTranspose2d>("ConvTranspose2d"),
       transposed<3, nn::ConvTranspose3d>("ConvTranspose3d")});
  add(
      {plain<nn::MaxPool1d>("MaxPool1d", 3, &max_pool<1>), plain<nn::MaxPool2d>("MaxPool2d", 4, &max_pool<2>),
       plain<nn::MaxPool3d>("MaxPool3d", 5, &max_pool<3>), plain<nn::AvgPool1d>("AvgPool1d", 3, &avg_pool<1>),
       plain<nn::AvgPool2d>("AvgPool2d", 4, &avg_pool<2>), plain<nn::AvgPool3d>("AvgPool3d", 5, &avg_pool<3>),
       plain<nn::LPPool1d>("LPPool1d", 3, &lp_pool<1>), plain<nn::LPPool2d>("LPPool2d", 4, &lp_pool<2>),
       plain<nn::FractionalMaxPool2d>("FractionalMaxPool2d", 4, &fractional<2>),
       plain<nn::FractionalMaxPool3d>("FractionalMaxPool3d", 5, &fractional<3>),
       unpool<1, nn::MaxUnpool1d>("MaxUnpool1d"), unpool<2, nn::MaxUnpool2d>("MaxUnpool2d"),
       unpool<3, nn::MaxUnpool3d>("MaxUnpool3d")});
  add(
      {{"AdaptiveAvgPool2d",
        [](Random& r) {
          run(r, nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({size(r), size(r)})), input(r, 4));
        }},
       {"AdaptiveMaxPool1d", [](Random& r) { run(r, nn::AdaptiveMaxPool1d(size(r)), input(r, 3)); }},
       {"AdaptiveMaxPool3d", [](Random& r) { run(r, nn::AdaptiveMaxPool3d(size(r)), input(r, 5)); }}});
  add(
      {norm<nn::BatchNorm1d, nn::BatchNorm1dOptions>("BatchNorm1d", 2),
       norm<nn::BatchNorm2d, nn::BatchNorm2dOptions>("BatchNorm2d", 4),
       norm<nn::BatchNorm3d, nn::BatchNorm3dOptions>("BatchNorm3d", 5),
       norm<nn::InstanceNorm1d, nn::InstanceNorm1dOptions>("InstanceNorm1d", 3),
       norm<nn::InstanceNorm2d, nn::InstanceNorm2dOptions>("InstanceNorm2d", 4),
       norm<nn::InstanceNorm3d, nn::InstanceNorm3dOptions>("InstanceNorm3d", 5)});
  add(
      {{"LayerNorm",
        [](Random& r) {
          const auto shape = sizes(r);
          run(r, nn::LayerNorm(nn::LayerNormOptions(shape).eps(number(r)).elementwise_affine(flag(r))),
              input(r, 3, shape.empty() ? 1 : shape.back(), -1));
        }},
       {"GroupNorm",
        [](Random& r) {
          const int64_t channels = size(r);
          run(r, nn::GroupNorm(nn::GroupNormOptions(size(r), channels).eps(number(r)).affine(flag(r))),
              input(r, 4, channels));
        }},
       {"LocalResponseNorm",
        [](Random& r) {
          run(r,
              nn::LocalResponseNorm(
                  nn::LocalResponseNormOptions(size(r)).alpha(number(r)).beta(number(r)).k(number(r))),
              input(r, 4));
        }},
       {"CrossMapLRN2d", [](Random& r) {
          run(r, nn::CrossMapLRN2d(nn::CrossMapLRN2dOptions(size(r)).alpha(number(r))), input(r, 4));
        }}});
  add(
      {recurrent<nn::RNN, nn::RNNOptions>("RNN"),
       recurrent<nn::GRU, nn::GRUOptions>("GRU"),
       recurrent<nn::LSTM, nn::LSTMOptions>("LSTM"),
       {"LSTM, projected",
        [](Random& r) { run(r, nn::LSTM(nn::LSTMOptions(3, size(r)).proj_size(small(r))), input(r, 3, 3, -1)); }},
       cell<nn::RNNCell>("RNNCell"),
       cell<nn::GRUCell>("GRUCell"),
       cell<nn::LSTMCell>("LSTMCell")});
  add(
      {{"Linear",
        [](Random& r) {
          const int64_t in = size(r);
          run(r, nn::Linear(nn::LinearOptions(in, size(r)).bias(flag(r))), input(r, r.between(1, 4), in, -1));
        }},
       {"Bilinear",
        [](Random& r) {
          const int64_t a = size(r), b = size(r);
          run(r, nn::Bilinear(nn::BilinearOptions(a, b, size(r)).bias(flag(r))), input(r, 2, a, -1),
              input(r, 2, b, -1));
        }},
       {"Embedding",
        [](Random& r) {
          const int64_t rows = size(r);
          auto o =
              nn::EmbeddingOptions(rows, size(r)).scale_grad_by_freq(flag(r)).sparse(r.chance(20)).norm_type(number(r));
          if (r.chance(30)) {
            o.padding_idx(small(r));
          }
          if (r.chance(30)) {
            o.max_norm(number(r));
          }
          run(r, nn::Embedding(o), positions(r, {r.between(0, 4), 2}, rows));
        }},
       {"EmbeddingBag",
        [](Random& r) {
          const int64_t rows = size(r);
          auto o = nn::EmbeddingBagOptions(rows, size(r)).include_last_offset(flag(r));
          if (r.chance(30)) {
            o.padding_idx(small(r));
          }
          if (r.chance(30)) {
            o.max_norm(number(r));
          }
          if (flag(r)) {
            o.mode(torch::kMax);
          }
          nn::EmbeddingBag module(o);
          use(r, module);
          differentiate(module->forward(
              positions(r, {r.between(0, 6)}, rows), std::get<0>(torch::sort(positions(r, {r.between(0, 3)}, 5)))));
        }},
       {"Upsample 1d", [](Random& r) { run(r, upsample(r, 3), input(r, 3)); }},
       {"Upsample 2d", [](Random& r) { run(r, upsample(r, 4), input(r, 4)); }},
       {"Upsample 3d", [](Random& r) { run(r, upsample(r, 5), input(r, 5)); }},
       {"Fold",
        [](Random& r) {
          run(r,
              nn::Fold(nn::FoldOptions(array<2>(r, size), array<2>(r, size))
                           .padding(array<2>(r, small))
                           .dilation(array<2>(r, size))
                           .stride(array<2>(r, size))),
              input(r, 3));
        }},
       {"Unfold",
        [](Random& r) {
          run(r,
              nn::Unfold(nn::UnfoldOptions(array<2>(r, size))
                             .padding(array<2>(r, small))
                             .dilation(array<2>(r, size))
                             .stride(array<2>(r, size))),
              input(r, 4));
        }},
       {"PixelShuffle", [](Random& r) { run(r, nn::PixelShuffle(size(r)), input(r, 4)); }},
       {"PixelUnshuffle", [](Random& r) { run(r, nn::PixelUnshuffle(size(r)), input(r, 4)); }},
       {"Flatten",
        [](Random& r) {
          run(r, nn::Flatten(nn::FlattenOptions().start_dim(small(r)).end_dim(~small(r))), input(r, 4));
        }},
       {"Unflatten", [](Random& r) { run(r, nn::Unflatten(nn::UnflattenOptions(small(r), sizes(r))), input(r, 3)); }},
       {"MultiheadAttention", attention},
       {"Transformer", transformer},
       {"containers", containers}});
  add(
      {{"ReflectionPad2d",
        [](Random& r) { run(r, nn::ReflectionPad2d(nn::ReflectionPad2dOptions(array<4>(r, small))), input(r, 4)); }},
       {"ReplicationPad3d",
        [](Random& r) { run(r, nn::ReplicationPad3d(nn::ReplicationPad3dOptions(array<6>(r, small))), input(r, 5)); }},
       {"ZeroPad2d", [](Random& r) { run(r, nn::ZeroPad2d(nn::ZeroPad2dOptions(array<4>(r, small))), input(r, 4)); }},
       {"ConstantPad1d",
        [](Random& r) {
          run(r, nn::ConstantPad1d(nn::ConstantPad1dOptions(array<2>(r, small), number(r))), input(r, 3));
        }},
       {"Softmax", [](Random& r) { run(r, nn::Softmax(small(r)), input(r, 3)); }},
       {"GLU", [](Random& r) { run(r, nn::GLU(small(r)), input(r, 3)); }},
       {"PReLU",
        [](Random& r) { run(r, nn::PReLU(nn::PReLUOptions().num_parameters(size(r)).init(number(r))), input(r, 3)); }},
       {"RReLU",
        [](Random& r) {
          run(r, nn::RReLU(nn::RReLUOptions().lower(number(r)).upper(number(r)).inplace(flag(r))), input(r, 3));
        }},
       {"Hardtanh",
        [](Random& r) {
          run(r, nn::Hardtanh(nn::HardtanhOptions().min_val(number(r)).max_val(number(r)).inplace(flag(r))),
              input(r, 3));
        }},
       {"Softplus",
        [](Random& r) {
          run(r, nn::Softplus(nn::SoftplusOptions().beta(number(r)).threshold(number(r))), input(r, 2));
        }},
       {"Dropout", [](Random& r) { run(r, nn::Dropout(nn::DropoutOptions(number(r)).inplace(flag(r))), input(r, 2)); }},
       {"Dropout2d", [](Random& r) { run(r, nn::Dropout2d(number(r)), input(r, 4)); }},
       {"AlphaDropout", [](Random& r) { run(r, nn::AlphaDropout(number(r)), input(r, 2)); }},
       {"CosineSimilarity",
        [](Random& r) {
          run(r, nn::CosineSimilarity(nn::CosineSimilarityOptions().dim(small(r)).eps(number(r))), input(r, 2),
              input(r, 2));
        }},
       {"PairwiseDistance",
        [](Random& r) {
          run(r, nn::PairwiseDistance(nn::PairwiseDistanceOptions().p(number(r))), input(r, 2), input(r, 2));
        }},
       {"AdaptiveLogSoftmaxWithLoss", [](Random& r) {
          const int64_t in = size(r), classes = r.between(1, 9);
          nn::AdaptiveLogSoftmaxWithLoss module(
              nn::AdaptiveLogSoftmaxWithLossOptions(in, classes, sizes(r)).div_value(number(r)));
          use(r, module);
          const int64_t rows = r.between(1, 4);
          differentiate(module->forward(tensor_of(r, {rows, in}, torch::kFloat), positions(r, {rows}, classes)).output);
        }}});
}

} // namespace fuzz::modules
