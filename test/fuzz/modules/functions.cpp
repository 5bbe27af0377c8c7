// Functions of torch::nn::functional, losses, indexing, packed sequences, initialisation and the tools of nn::utils.
#include <sstream>

#include "test/fuzz/modules/draw.h"

namespace fuzz::modules {
namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;

Tensor weights(Random& r, int64_t n) {
  return r.chance(70) ? Tensor() : tensor_of(r, {r.chance(90) ? n : size(r)}, torch::kFloat);
}
template <class Options>
Options reduced(Random& r, Options o) {
  switch (r.below(3)) {
    case 0:
      return o.reduction(torch::kNone);
    case 1:
      return o.reduction(torch::kSum);
    default:
      return o;
  }
}
/// A loss of two tensors, mostly of one shape.
template <class Holder>
Case pair_loss(const char* name, Holder (*make)(Random&)) {
  return {name, [=](Random& r) {
            const Tensor x = input(r, 2);
            if (!x.defined()) {
              return;
            }
            const Tensor y = r.chance(80) ? tensor_of(r, x.sizes().vec(), dtype(r)) : input(r, 2);
            differentiate(make(r)(x, y));
          }};
}
/// A loss of scores of classes and positions of the right ones.
template <class Holder>
Case class_loss(const char* name, Holder (*make)(Random&, int64_t)) {
  return {name, [=](Random& r) {
            const int64_t classes = r.between(1, 5), rows = r.between(0, 4);
            const std::vector<int64_t> more = r.chance(70) ? std::vector<int64_t>() : sizes(r, 2);
            std::vector<int64_t> scores{rows, classes}, targets{rows};
            scores.insert(scores.end(), more.begin(), more.end());
            targets.insert(targets.end(), more.begin(), more.end());
            differentiate(make(r, classes)(
                tensor_of(r, scores, dtype(r)), r.chance(95) ? positions(r, targets, classes) : input(r, 2)));
          }};
}

at::indexing::TensorIndex index(Random& r, const Tensor& x) {
  using at::indexing::Slice;
  const auto bound = [&]() -> std::optional<c10::SymInt> {
    if (flag(r)) {
      return std::nullopt;
    }
    return c10::SymInt(r.chance(80) ? r.between(-4, 9) : odd_integer(r));
  };
  switch (r.below(8)) {
    case 0:
      return at::indexing::None;
    case 1:
      return at::indexing::Ellipsis;
    case 2:
      return r.chance(80) ? r.between(-3, 3) : odd_integer(r);
    case 3:
      return flag(r);
    case 4:
      return positions(r, sizes(r, 2), 3);
    case 5:
      return x.defined() && x.dim() > 0 ? x.select(0, 0).gt(0) : Tensor();
    default:
      return Slice(bound(), bound(), r.chance(70) ? std::nullopt : bound());
  }
}
void indexing(Random& r) {
  Tensor x = input(r, r.between(1, 4));
  std::vector<at::indexing::TensorIndex> at;
  for (size_t i = r.below(5); i > 0; --i) {
    at.push_back(index(r, x));
  }
  differentiate(x.index(at));
  Tensor y = x.detach().clone();
  flag(r) ? (void)y.index_put_(at, number(r)) : (void)y.index_put_(at, input(r, 1));
}

void packing(Random& r) {
  const bool batch_first = flag(r), sorted = flag(r);
  const Tensor x = input(r, 3);
  Tensor lengths =
      positions(r, {x.defined() && x.dim() > 1 ? x.size(batch_first ? 0 : 1) : 1}, 6) + (r.chance(90) ? 1 : 0);
  if (sorted) {
    lengths = std::get<0>(lengths.sort(0, /*descending=*/true));
  }
  const auto packed = nn::utils::rnn::pack_padded_sequence(x, lengths, batch_first, sorted);
  nn::LSTM lstm(packed.data().dim() > 1 ? packed.data().size(1) : 1, 2);
  const auto out = std::get<0>(lstm->forward_with_packed_input(packed));
  differentiate(nn::utils::rnn::pad_packed_sequence(out, batch_first, number(r), maybe(r, size(r))));
  std::vector<Tensor> sequences;
  for (size_t i = r.below(4); i > 0; --i) {
    sequences.push_back(input(r, 2, 3));
  }
  nn::utils::rnn::pad_sequence(sequences, batch_first, number(r));
  nn::utils::rnn::pack_sequence(sequences, flag(r));
}

void initialise(Random& r) {
  Tensor x = input(r, r.between(1, 5));
  if (x.defined()) {
    x = x.detach();
  }
  switch (r.below(12)) {
    case 0:
      nn::init::orthogonal_(x, number(r));
      break;
    case 1:
      nn::init::sparse_(x, number(r), number(r));
      break;
    case 2:
      nn::init::dirac_(x);
      break;
    case 3:
      nn::init::eye_(x);
      break;
    case 4:
      nn::init::xavier_uniform_(x, number(r));
      break;
    case 5:
      nn::init::xavier_normal_(x, number(r));
      break;
    case 6:
      nn::init::kaiming_uniform_(x, number(r));
      break;
    case 7:
      nn::init::kaiming_normal_(x, number(r), torch::kFanOut, torch::kReLU);
      break;
    case 8:
      nn::init::uniform_(x, number(r), number(r));
      break;
    case 9:
      nn::init::normal_(x, number(r), number(r));
      break;
    case 10:
      nn::init::trunc_normal_(x, number(r), number(r), number(r), number(r));
      break;
    default:
      nn::init::constant_(x, number(r));
  }
}

void parameters(Random& r) {
  std::vector<Tensor> list;
  for (size_t i = r.below(4); i > 0; --i) {
    list.push_back(input(r, r.between(0, 3)));
    if (list.back().defined() && flag(r) && list.back().is_leaf() && list.back().is_floating_point()) {
      list.back().mutable_grad() = torch::rand_like(list.back());
    }
  }
  nn::utils::clip_grad_norm_(list, number(r), number(r), flag(r));
  nn::utils::clip_grad_value_(list, number(r));
  const Tensor flat = nn::utils::parameters_to_vector(list);
  torch::NoGradGuard guard;
  nn::utils::vector_to_parameters(r.chance(80) ? flat : input(r, 1), list);
}

void printing(Random& r) {
  std::ostringstream text;
  const Tensor x = input(r, r.between(0, 4));
  text << x;
  torch::print(text, x, r.chance(80) ? 80 : static_cast<int64_t>(small(r)));
}

void factories(Random& r) {
  switch (r.below(12)) {
    case 0:
      torch::arange(number(r) * 9, number(r) * 9, number(r));
      break;
    case 1:
      torch::linspace(number(r), number(r), small(r));
      break;
    case 2:
      torch::full(sizes(r), number(r), dtype(r));
      break;
    case 3:
      torch::randint(small(r), size(r), sizes(r), dtype(r));
      break;
    case 4:
      torch::randperm(small(r));
      break;
    case 5:
      torch::eye(size(r), small(r));
      break;
    case 6:
      torch::empty_strided(sizes(r), sizes(r));
      break;
    case 7:
      torch::zeros({4}).as_strided(sizes(r), sizes(r), small(r));
      break;
    case 8:
      torch::zeros(sizes(r)).view(sizes(r));
      break;
    case 9:
      torch::zeros(sizes(r)).expand(sizes(r));
      break;
    case 10:
      torch::zeros(sizes(r)).permute(sizes(r));
      break;
    default:
      torch::zeros({12}).unfold(small(r), size(r), size(r));
  }
}

void accessors(Random& r) {
  const Tensor x = input(r, 2);
  switch (r.below(6)) {
    case 0:
      x.accessor<float, 2>();
      break;
    case 1:
      x.data_ptr<float>();
      break;
    case 2:
      x.item();
      break;
    case 3:
      x.item<int64_t>();
      break;
    case 4:
      x.size(small(r));
      break;
    default:
      x[small(r)];
  }
}

} // namespace

void add_functions(std::vector<Case>& cases) {
  const auto add = [&](std::vector<Case> more) { cases.insert(cases.end(), more.begin(), more.end()); };
  add(
      {pair_loss<nn::L1Loss>("L1Loss", [](Random& r) { return nn::L1Loss(reduced(r, nn::L1LossOptions())); }),
       pair_loss<nn::MSELoss>("MSELoss", [](Random& r) { return nn::MSELoss(reduced(r, nn::MSELossOptions())); }),
       pair_loss<nn::HuberLoss>(
           "HuberLoss", [](Random& r) { return nn::HuberLoss(reduced(r, nn::HuberLossOptions().delta(number(r)))); }),
       pair_loss<nn::SmoothL1Loss>(
           "SmoothL1Loss",
           [](Random& r) { return nn::SmoothL1Loss(reduced(r, nn::SmoothL1LossOptions().beta(number(r)))); }),
       pair_loss<nn::KLDivLoss>(
           "KLDivLoss",
           [](Random& r) { return nn::KLDivLoss(reduced(r, nn::KLDivLossOptions().log_target(flag(r)))); }),
       pair_loss<nn::BCELoss>(
           "BCELoss", [](Random& r) { return nn::BCELoss(reduced(r, nn::BCELossOptions().weight(weights(r, 3)))); }),
       pair_loss<nn::BCEWithLogitsLoss>(
           "BCEWithLogitsLoss",
           [](Random& r) {
             return nn::BCEWithLogitsLoss(
                 reduced(r, nn::BCEWithLogitsLossOptions().weight(weights(r, 3)).pos_weight(weights(r, 3))));
           }),
       pair_loss<nn::SoftMarginLoss>(
           "SoftMarginLoss", [](Random& r) { return nn::SoftMarginLoss(reduced(r, nn::SoftMarginLossOptions())); }),
       pair_loss<nn::PoissonNLLLoss>(
           "PoissonNLLLoss",
           [](Random& r) {
             return nn::PoissonNLLLoss(
                 reduced(r, nn::PoissonNLLLossOptions().log_input(flag(r)).full(flag(r)).eps(number(r))));
           }),
       pair_loss<nn::HingeEmbeddingLoss>(
           "HingeEmbeddingLoss",
           [](Random& r) {
             return nn::HingeEmbeddingLoss(reduced(r, nn::HingeEmbeddingLossOptions().margin(number(r))));
           }),
       pair_loss<nn::MultiLabelMarginLoss>("MultiLabelMarginLoss", [](Random& r) {
         return nn::MultiLabelMarginLoss(reduced(r, nn::MultiLabelMarginLossOptions()));
       })});
  add(
      {class_loss<nn::CrossEntropyLoss>(
           "CrossEntropyLoss",
           [](Random& r, int64_t n) {
             return nn::CrossEntropyLoss(reduced(
                 r,
                 nn::CrossEntropyLossOptions()
                     .weight(weights(r, n))
                     .ignore_index(small(r))
                     .label_smoothing(number(r))));
           }),
       class_loss<nn::NLLLoss>(
           "NLLLoss",
           [](Random& r, int64_t n) {
             return nn::NLLLoss(reduced(r, nn::NLLLossOptions().weight(weights(r, n)).ignore_index(small(r))));
           }),
       class_loss<nn::MultiMarginLoss>("MultiMarginLoss", [](Random& r, int64_t n) {
         return nn::MultiMarginLoss(
             reduced(r, nn::MultiMarginLossOptions().weight(weights(r, n)).p(small(r)).margin(number(r))));
       })});
  add(
      {{"TripletMarginLoss",
        [](Random& r) {
          auto o = nn::TripletMarginLossOptions().margin(number(r)).p(number(r)).eps(number(r)).swap(flag(r));
          differentiate(nn::TripletMarginLoss(reduced(r, o))(input(r, 2, 3), input(r, 2, 3), input(r, 2, 3)));
        }},
       {"CosineEmbeddingLoss",
        [](Random& r) {
          differentiate(nn::CosineEmbeddingLoss(reduced(r, nn::CosineEmbeddingLossOptions().margin(number(r))))(
              input(r, 2, 3), input(r, 2, 3), positions(r, {r.between(1, 4)}, 2)));
        }},
       {"CTCLoss",
        [](Random& r) {
          const int64_t time = r.between(1, 6), batch = r.between(1, 3), classes = r.between(2, 4);
          auto o = nn::CTCLossOptions().blank(small(r)).zero_infinity(flag(r));
          differentiate(nn::CTCLoss(reduced(r, o))(
              tensor_of(r, {time, batch, classes}, dtype(r)), positions(r, {batch, r.between(0, 4)}, classes),
              positions(r, {r.chance(95) ? batch : size(r)}, time + 1), positions(r, {batch}, 4)));
        }},
       {"gumbel_softmax",
        [](Random& r) {
          differentiate(F::gumbel_softmax(
              input(r, 2), F::GumbelSoftmaxFuncOptions().tau(number(r)).hard(flag(r)).dim(static_cast<int>(small(r)))));
        }},
       {"normalize",
        [](Random& r) {
          differentiate(F::normalize(input(r, 3), F::NormalizeFuncOptions().p(number(r)).dim(small(r)).eps(number(r))));
        }},
       {"one_hot", [](Random& r) { F::one_hot(positions(r, sizes(r, 2), 5), r.chance(50) ? -1 : size(r)); }},
       {"pad",
        [](Random& r) {
          std::vector<int64_t> amounts(2 * r.below(4) + (r.chance(95) ? 0 : 1));
          for (int64_t& n : amounts) {
            n = r.chance(90) ? r.between(-1, 2) : odd_integer(r);
          }
          auto o = F::PadFuncOptions(amounts).value(number(r));
          if (r.chance(30)) {
            o.mode(torch::kReflect);
          }
          if (r.chance(30)) {
            o.mode(torch::kCircular);
          }
          differentiate(F::pad(input(r, 4), o));
        }},
       {"interpolate",
        [](Random& r) {
          const auto shape = sizes(r);
          auto o = F::InterpolateFuncOptions()
                       .size(maybe(r, shape))
                       .antialias(r.chance(20))
                       .recompute_scale_factor(maybe(r, flag(r)));
          if (flag(r)) {
            o.scale_factor(std::vector<double>(r.between(1, 3), number(r) * 2));
          }
          if (flag(r)) {
            o.mode(torch::kBilinear);
          }
          if (r.chance(20)) {
            o.mode(torch::kArea);
          }
          differentiate(F::interpolate(input(r, 4), o));
        }},
       {"grid_sample",
        [](Random& r) {
          const Tensor x = input(r, 4);
          auto o = F::GridSampleFuncOptions().align_corners(flag(r));
          if (flag(r)) {
            o.mode(torch::kBicubic);
          }
          if (flag(r)) {
            o.padding_mode(torch::kReflection);
          }
          differentiate(F::grid_sample(x, input(r, 4, 2, -1) * number(r), o));
        }},
       {"affine_grid", [](Random& r) { differentiate(F::affine_grid(input(r, 3), sizes(r, 5), flag(r))); }},
       {"scaled_dot_product_attention",
        [](Random& r) {
          const int64_t width = size(r);
          const auto words = [&] { return input(r, 4, width, -1); };
          differentiate(at::scaled_dot_product_attention(
              words(), words(), words(), maybe(r, input(r, 2)), r.chance(80) ? 0.0 : number(r), flag(r),
              maybe(r, number(r)), r.chance(20)));
        }},
       {"indexing", indexing},
       {"packed sequences", packing},
       {"nn::init", initialise},
       {"nn::utils", parameters},
       {"printing", printing},
       {"factories", factories},
       {"accessors", accessors}});
}

} // namespace fuzz::modules
