// What a program must not do: layers given other shapes, settings out of range, containers asked for what they have
// not, optimizers of nothing. Each call is refused by an exception, or by none, in both libraries.
#include <torch/torch.h>

#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "report.h"

using report::throws;
using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

namespace {

std::vector<Tensor> some_parameters() {
  const Tensor parameter = torch::ones({3}, torch::requires_grad());
  parameter.mutable_grad() = torch::ones(3);
  return {parameter};
}

void containers() {
  const nn::Linear empty{nullptr};
  throws("member of an empty holder", [&] { empty->weight; });
  throws("empty holder forward", [] { nn::Linear(nullptr)->forward(torch::ones({1, 2})); });
  throws("empty Sequential", [] {
    nn::Sequential s{nullptr};
    s->forward(torch::ones(2));
  });
  throws("sequential without modules", [] {
    nn::Sequential s;
    s->forward(torch::ones(2));
  });
  throws("sequential push empty holder", [] {
    nn::Sequential s;
    s->push_back(nn::Linear(nullptr));
  });
  throws("sequential index", [] {
    nn::Sequential s(nn::Linear(2, 3));
    s[1];
  });
  throws("sequential at wrong type", [] {
    nn::Sequential s(nn::Linear(2, 3));
    s->at<nn::Conv2dImpl>(0);
  });
  throws("sequential at range", [] {
    nn::Sequential s(nn::Linear(2, 3));
    s->at<nn::LinearImpl>(3);
  });
  throws("sequential ptr range", [] {
    nn::Sequential s(nn::Linear(2, 3));
    s->ptr(3);
  });
  throws("sequential wrong arg type", [] {
    nn::Sequential s(nn::Linear(2, 3));
    s->forward(3);
  });
  throws("sequential int64 arg", [] {
    nn::Sequential s(nn::Linear(2, 3));
    s->forward(int64_t(3));
  });
  throws("sequential wrong arg count", [] {
    nn::Sequential s(nn::Linear(2, 3));
    s->forward(torch::ones({1, 2}), torch::ones({1, 2}));
  });
  throws("sequential wrong return", [] {
    nn::Sequential s(nn::LSTM(2, 3));
    s->forward(torch::ones({1, 1, 2}));
  });
  throws("sequential lstm then linear", [] {
    nn::Sequential s(nn::LSTM(2, 3), nn::Linear(3, 1));
    s->forward(torch::ones({1, 1, 2}));
  });
  throws("sequential names twice", [] { nn::Sequential s({{"a", nn::Linear(1, 2)}, {"a", nn::Linear(2, 3)}}); });
  throws("sequential name dot", [] {
    nn::Sequential s;
    s->push_back("a.b", nn::Linear(1, 2));
  });
  throws("sequential name empty", [] {
    nn::Sequential s;
    s->push_back("", nn::Linear(1, 2));
  });
}

void layers_and_losses() {
  throws("linear shape", [] { nn::Linear(2, 3)(torch::ones({1, 5})); });
  throws("linear undefined", [] { nn::Linear(2, 3)(Tensor()); });
  throws("linear int", [] { nn::Linear(2, 3)(torch::ones({1, 2}, torch::kLong)); });
  throws("linear double", [] { nn::Linear(2, 3)(torch::ones({1, 2}, torch::kDouble)); });
  throws("linear negative", [] { nn::Linear(-2, 3); });
  throws("bilinear shape", [] { nn::Bilinear(2, 3, 4)(torch::ones({1, 2}), torch::ones({1, 4})); });
  throws("bilinear zero", [] { nn::Bilinear(0, 3, 4); });
  throws("conv2d dim", [] { nn::Conv2d(3, 4, 3)(torch::ones({3, 8})); });
  throws("conv2d channels", [] { nn::Conv2d(3, 4, 3)(torch::ones({1, 2, 8, 8})); });
  throws("conv2d groups", [] { nn::Conv2d(nn::Conv2dOptions(3, 4, 3).groups(2)); });
  throws("conv2d groups 0", [] { nn::Conv2d(nn::Conv2dOptions(3, 4, 3).groups(0)); });
  throws("conv2d groups out", [] { nn::Conv2d(nn::Conv2dOptions(4, 3, 3).groups(2)); });
  throws("conv2d kernel big", [] { nn::Conv2d(1, 1, 9)(torch::ones({1, 1, 4, 4})); });
  throws("conv2d kernel 0", [] { nn::Conv2d(1, 1, 0)(torch::ones({1, 1, 4, 4})); });
  throws("conv2d stride 0", [] { nn::Conv2d(nn::Conv2dOptions(1, 1, 1).stride(0))(torch::ones({1, 1, 4, 4})); });
  throws("conv2d padding negative", [] {
    nn::Conv2d(nn::Conv2dOptions(1, 1, 1).padding(-1))(torch::ones({1, 1, 4, 4}));
  });
  throws("conv2d same stride", [] { nn::Conv2d(nn::Conv2dOptions(1, 1, 3).stride(2).padding(torch::kSame)); });
  throws("conv2d same stride fwd", [] {
    nn::Conv2d(nn::Conv2dOptions(1, 1, 3).stride(2).padding(torch::kSame))(torch::ones({1, 1, 4, 4}));
  });
  throws("conv2d reflect big", [] {
    nn::Conv2d(nn::Conv2dOptions(1, 1, 3).padding(9).padding_mode(torch::kReflect))(torch::ones({1, 1, 4, 4}));
  });
  throws("conv1d", [] { nn::Conv1d(1, 1, 3)(torch::ones({1, 4, 4, 4})); });
  throws("transposed convolution output_padding", [] {
    nn::ConvTranspose2d(nn::ConvTranspose2dOptions(1, 1, 3).output_padding(4))(torch::ones({1, 1, 4, 4}));
  });
  throws("batch norm of vectors", [] { nn::BatchNorm2d(3)(torch::ones({2, 3})); });
  throws("batch norm dim", [] { nn::BatchNorm1d(3)(torch::ones({2, 3, 4, 5})); });
  throws("batch norm channels", [] { nn::BatchNorm2d(3)(torch::ones({2, 4, 5, 5})); });
  throws("batch norm one value", [] { nn::BatchNorm1d(3)(torch::ones({1, 3})); });
  throws("batch norm int", [] { nn::BatchNorm2d(3)(torch::ones({2, 3, 4, 5}, torch::kInt)); });
  throws("instance norm dim", [] { nn::InstanceNorm2d(3)(torch::ones({2, 3})); });
  throws("instance norm channels", [] {
    nn::InstanceNorm1d(nn::InstanceNorm1dOptions(3).affine(true))(torch::ones({2, 4, 5}));
  });
  throws("layer norm shape", [] { nn::LayerNorm(nn::LayerNormOptions({4}))(torch::ones({2, 5})); });
  throws("layer norm of nothing", [] {
    nn::LayerNorm(nn::LayerNormOptions(std::vector<int64_t>{}))(torch::ones({2, 5}));
  });
  throws("group norm groups fwd", [] { nn::GroupNorm(2, 3)(torch::ones({1, 3, 2})); });
  throws("group norm of no groups", [] { nn::GroupNorm(0, 3)(torch::ones({1, 3, 2})); });
  throws("dropout p", [] { nn::Dropout(1.5); });
  throws("dropout p negative", [] { nn::Dropout(-0.5); });
  throws("dropout2d p", [] { nn::Dropout2d(2.0)(torch::ones({1, 1, 1, 1})); });
  throws("F dropout p", [] { F::dropout(torch::ones(2), F::DropoutFuncOptions().p(1.5)); });
  throws("alpha_dropout p", [] { nn::AlphaDropout(-1.0); });
  throws("embedding range", [] { nn::Embedding(3, 2)(torch::tensor({3})); });
  throws("embedding negative", [] { nn::Embedding(3, 2)(torch::tensor({-1})); });
  throws("embedding float", [] { nn::Embedding(3, 2)(torch::ones(2)); });
  throws("embedding padding", [] { nn::Embedding(nn::EmbeddingOptions(3, 2).padding_idx(5)); });
  throws("embedding padding negative", [] { nn::Embedding(nn::EmbeddingOptions(3, 2).padding_idx(-5)); });
  throws("embedding from pretrained", [] { nn::Embedding::from_pretrained(torch::ones(3)); });
  throws("embedding weight shape", [] { nn::Embedding(nn::EmbeddingOptions(3, 2)._weight(torch::ones({4, 4}))); });
  throws("embeddingbag no offsets", [] { nn::EmbeddingBag(3, 2)(torch::tensor({1, 2})); });
  throws("embeddingbag 3d", [] { nn::EmbeddingBag(3, 2)(torch::ones({1, 2, 3}, torch::kLong)); });
  throws("embeddingbag offsets first", [] {
    nn::EmbeddingBag(3, 2)->forward(torch::tensor({1, 2}), torch::tensor({1}));
  });
  throws("embeddingbag 2d offsets", [] {
    nn::EmbeddingBag(3, 2)->forward(torch::ones({1, 2}, torch::kLong), torch::tensor({0}));
  });
  throws("lstm dim", [] { nn::LSTM(2, 3)(torch::ones({5})); });
  throws("lstm feature", [] { nn::LSTM(2, 3)(torch::ones({5, 1, 4})); });
  throws("lstm layers 0", [] { nn::LSTM(nn::LSTMOptions(2, 3).num_layers(0)); });
  throws("lstm dropout", [] { nn::LSTM(nn::LSTMOptions(2, 3).num_layers(2).dropout(1.5)); });
  throws("lstm proj", [] { nn::LSTM(nn::LSTMOptions(2, 3).proj_size(3)); });
  throws("lstm proj negative", [] { nn::LSTM(nn::LSTMOptions(2, 3).proj_size(-1)); });
  throws("lstm hidden shape", [] {
    nn::LSTM(2, 3)->forward(torch::ones({5, 1, 2}), std::make_tuple(torch::ones({1, 2, 3}), torch::ones({1, 1, 3})));
  });
  throws("lstm cell shape", [] {
    nn::LSTM(2, 3)->forward(torch::ones({5, 1, 2}), std::make_tuple(torch::ones({1, 1, 3}), torch::ones({1, 1, 4})));
  });
  throws("gru hidden", [] { nn::GRU(2, 3)->forward(torch::ones({5, 1, 2}), torch::ones({2, 1, 3})); });
  throws("rnn neg hidden", [] { nn::RNN(2, -3); });
  throws("lstm zero hidden", [] { nn::LSTM(2, 0)(torch::ones({5, 1, 2})); });
  throws("lstmcell shape", [] { nn::LSTMCell(2, 3)(torch::ones({1, 4})); });
  throws("lstmcell 3d", [] { nn::LSTMCell(2, 3)(torch::ones({1, 1, 2})); });
  throws("grucell hidden", [] { nn::GRUCell(2, 3)->forward(torch::ones({1, 2}), torch::ones({2, 3})); });
  throws("attention heads", [] { nn::MultiheadAttention(5, 2); });
  throws("attention dim", [] {
    nn::MultiheadAttention(4, 2)->forward(torch::ones({2, 1, 5}), torch::ones({2, 1, 5}), torch::ones({2, 1, 5}));
  });
  throws("transformer d_model", [] { nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(5, 2)); });
  throws("softmax dim", [] { nn::Softmax(3)(torch::ones({2})); });
  throws("softmax2d dim", [] { nn::Softmax2d()(torch::ones({2})); });
  throws("glu odd", [] { nn::GLU()(torch::ones({3})); });
  throws("prelu", [] { nn::PReLU(nn::PReLUOptions().num_parameters(3))(torch::ones({1, 2})); });
  throws("hardtanh", [] { nn::Hardtanh(nn::HardtanhOptions().min_val(2).max_val(1)); });
  throws("rrelu", [] { nn::RReLU(nn::RReLUOptions().lower(1).upper(0.5))(torch::ones(2)); });
  throws("maxpool 0", [] { nn::MaxPool2d(0)(torch::ones({1, 1, 4, 4})); });
  throws("maxpool pad", [] { nn::MaxPool2d(nn::MaxPool2dOptions(2).padding(2))(torch::ones({1, 1, 4, 4})); });
  throws("maxpool dims", [] { nn::MaxPool2d(2)(torch::ones({4, 4})); });
  throws("maxpool small", [] { nn::MaxPool2d(5)(torch::ones({1, 1, 4, 4})); });
  throws("avgpool divisor", [] {
    nn::AvgPool2d(nn::AvgPool2dOptions(2).divisor_override(0))(torch::ones({1, 1, 4, 4}));
  });
  throws("adaptive negative", [] {
    nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({-1, 2}))(torch::ones({1, 1, 4, 4}));
  });
  throws("maxunpool", [] {
    nn::MaxUnpool2d(2)->forward(torch::ones({1, 1, 2, 2}), torch::full({1, 1, 2, 2}, 99, torch::kLong));
  });
  throws("fractional", [] { nn::FractionalMaxPool2d(nn::FractionalMaxPool2dOptions(2))(torch::ones({1, 1, 4, 4})); });
  throws("fractional ratio", [] {
    nn::FractionalMaxPool2d(nn::FractionalMaxPool2dOptions(2).output_ratio(std::vector<double>{10.5, 0.5}));
  });
  throws("lppool", [] { nn::LPPool2d(2.0, 0)(torch::ones({1, 1, 4, 4})); });
  throws("fold", [] { nn::Fold(nn::FoldOptions({4, 4}, {2, 2}))(torch::ones({1, 3, 9})); });
  throws("fold L", [] { nn::Fold(nn::FoldOptions({4, 4}, {2, 2}))(torch::ones({1, 4, 5})); });
  throws("unfold", [] { nn::Unfold(nn::UnfoldOptions({9, 9}))(torch::ones({1, 1, 4, 4})); });
  throws("upsample none", [] { nn::Upsample()(torch::ones({1, 1, 4, 4})); });
  throws("upsample wrong count", [] {
    nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{2, 2, 2}))(torch::ones({1, 1, 4, 4}));
  });
  throws("upsample zero", [] {
    nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{0, 0}))(torch::ones({1, 1, 4, 4}));
  });
  throws("pixelshuffle", [] { nn::PixelShuffle(2)(torch::ones({1, 3, 4, 4})); });
  throws("pixelshuffle 0", [] { nn::PixelShuffle(0)(torch::ones({1, 3, 4, 4})); });
  throws("flatten dims", [] { nn::Flatten(nn::FlattenOptions().start_dim(5))(torch::ones({1, 3})); });
  throws("unflatten", [] { nn::Unflatten(nn::UnflattenOptions(1, {2, 2}))(torch::ones({1, 3})); });
  throws("pad odd", [] { F::pad(torch::ones({1, 3}), F::PadFuncOptions({1})); });
  throws("pad many", [] { F::pad(torch::ones({3}), F::PadFuncOptions({1, 1, 1, 1})); });
  throws("pad reflect 2", [] { nn::ReflectionPad2d(5)(torch::ones({1, 1, 3, 3})); });
  throws("pad reflect modes", [] { F::pad(torch::ones({3}), F::PadFuncOptions({1, 1}).mode(torch::kReflect)); });
  throws("pad value reflect", [] {
    F::pad(torch::ones({1, 3, 3}), F::PadFuncOptions({1, 1}).mode(torch::kReflect).value(2));
  });
  throws("mse shape", [] { nn::MSELoss()(torch::ones({3}), torch::ones({2})); });
  throws("cross entropy shape", [] { nn::CrossEntropyLoss()(torch::ones({3, 2}), torch::zeros({2}, torch::kLong)); });
  throws("cross entropy range", [] { nn::CrossEntropyLoss()(torch::ones({3, 2}), torch::full({3}, 2, torch::kLong)); });
  throws("cross entropy negative", [] {
    nn::CrossEntropyLoss()(torch::ones({3, 2}), torch::full({3}, -1, torch::kLong));
  });
  throws("cross entropy float target", [] { nn::CrossEntropyLoss()(torch::ones({3, 2}), torch::zeros({3})); });
  throws("nll int", [] { nn::NLLLoss()(torch::ones({3, 2}, torch::kLong), torch::zeros({3}, torch::kLong)); });
  throws("bce range", [] { nn::BCELoss()(torch::full({2}, 1.5), torch::ones({2})); });
  throws("bce size", [] { nn::BCELoss()(torch::full({2}, 0.5), torch::ones({3})); });
  throws("bce target dtype", [] { nn::BCELoss()(torch::full({2}, 0.5), torch::ones({2}, torch::kLong)); });
  throws("bce with logits size", [] { nn::BCEWithLogitsLoss()(torch::full({2}, 0.5), torch::ones({3})); });
  throws("kldiv", [] { nn::KLDivLoss()(torch::ones({2}), torch::ones({3})); });
  throws("cosine", [] { nn::CosineEmbeddingLoss()(torch::ones({2, 3}), torch::ones({2, 4}), torch::ones(2)); });
  throws("hinge", [] { nn::HingeEmbeddingLoss()(torch::ones({2}), torch::ones({3})); });
  throws("margin ranking", [] { nn::MarginRankingLoss()(torch::ones({2}), torch::ones({2}), torch::ones({3})); });
  throws("margin ranking dims", [] {
    nn::MarginRankingLoss()(torch::ones({2}), torch::ones({2}), torch::ones({2, 1}));
  });
  throws("multimargin range", [] { nn::MultiMarginLoss()(torch::ones({2, 3}), torch::full({2}, 3, torch::kLong)); });
  throws("multilabelmargin", [] {
    nn::MultiLabelMarginLoss()(torch::ones({2, 3}), torch::full({2, 3}, 3, torch::kLong));
  });
  throws("triplet", [] { nn::TripletMarginLoss()(torch::ones({2, 3}), torch::ones({2, 4}), torch::ones({2, 3})); });
  throws("ctc lengths", [] {
    nn::CTCLoss()(torch::ones({2, 1, 3}), torch::ones({1, 1}, torch::kLong), torch::tensor({5}), torch::tensor({1}));
  });
  throws("gaussian nll", [] { F::poisson_nll_loss(torch::ones(2), torch::ones(3)); });
  throws("smooth beta", [] { nn::SmoothL1Loss(nn::SmoothL1LossOptions().beta(-1))(torch::ones(2), torch::ones(2)); });
  throws("huber delta", [] { nn::HuberLoss(nn::HuberLossOptions().delta(0))(torch::ones(2), torch::ones(2)); });
  throws(
      "cossim", [] { nn::CosineSimilarity(nn::CosineSimilarityOptions().dim(3))(torch::ones({2}), torch::ones({2})); });
  throws("pairwise", [] { nn::PairwiseDistance()(torch::ones({2, 3}), torch::ones({2, 4})); });
  throws("lrn 0", [] { nn::LocalResponseNorm(0)(torch::ones({1, 2, 3})); });
  throws("lrn dims", [] { nn::LocalResponseNorm(2)(torch::ones({2})); });
  throws("crossmap", [] { nn::CrossMapLRN2d(2)(torch::ones({2})); });
  throws("one_hot", [] { F::one_hot(torch::tensor({3}), 2); });
  throws("one_hot negative", [] { F::one_hot(torch::tensor({-3})); });
  throws("grid_sample", [] { F::grid_sample(torch::ones({1, 1, 2, 2}), torch::ones({1, 2, 2, 3})); });
  throws("affine_grid", [] { F::affine_grid(torch::ones({1, 2, 3}), {1, 1, 2}); });
  throws("affine_grid negative", [] { F::affine_grid(torch::ones({1, 2, 3}), {1, 1, -2, 2}); });
  throws("normalize", [] { F::normalize(torch::ones({2}), F::NormalizeFuncOptions().dim(3)); });
  throws("gumbel", [] { F::gumbel_softmax(torch::ones({2}), F::GumbelSoftmaxFuncOptions().dim(4)); });
  throws("adaptive log softmax", [] {
    nn::AdaptiveLogSoftmaxWithLoss(nn::AdaptiveLogSoftmaxWithLossOptions(4, 10, {5, 3}));
  });
}

void initialization_and_utilities() {
  throws("init kaiming 1d", [] { nn::init::kaiming_uniform_(torch::ones(3)); });
  throws("init xavier 0d", [] { nn::init::xavier_normal_(torch::ones({})); });
  throws("init dirac 2d", [] { nn::init::dirac_(torch::ones({2, 2})); });
  throws("init eye 3d", [] { nn::init::eye_(torch::ones({2, 2, 2})); });
  throws("init orthogonal 1d", [] { nn::init::orthogonal_(torch::ones({2})); });
  throws("init sparse 1d", [] { nn::init::sparse_(torch::ones({2}), 0.5); });
  throws("init sparse big", [] { nn::init::sparse_(torch::ones({2, 2}), 1.5); });
  throws("init undefined", [] { nn::init::zeros_(Tensor()); });
  throws("init normal negative", [] { nn::init::normal_(torch::ones(3), 0, -1); });
  throws("init uniform swap", [] { nn::init::uniform_(torch::ones(3), 2, 1); });
  throws("vector_to_parameters", [] {
    std::vector<Tensor> p{torch::ones(3)};
    nn::utils::vector_to_parameters(torch::ones(2), p);
  });
  throws("parameters_to_vector none", [] { nn::utils::parameters_to_vector({}); });
  throws("pack lengths", [] { nn::utils::rnn::pack_padded_sequence(torch::ones({3, 2, 1}), torch::tensor({2, 3})); });
  throws("pack lengths zero", [] {
    nn::utils::rnn::pack_padded_sequence(torch::ones({3, 2, 1}), torch::tensor({2, 0}));
  });
  throws("pack lengths count", [] {
    nn::utils::rnn::pack_padded_sequence(torch::ones({3, 2, 1}), torch::tensor({3, 2, 1}));
  });
  throws("pack seq empty", [] { nn::utils::rnn::pack_sequence({}); });
  throws("pad seq empty", [] { nn::utils::rnn::pad_sequence({}); });
  throws("modulelist at", [] {
    nn::ModuleList l(nn::Linear(1, 2));
    l[5];
  });
  throws("modulelist insert", [] {
    nn::ModuleList l(nn::Linear(1, 2));
    l->insert(4, nn::Linear(1, 2).ptr());
  });
  throws("moduledict missing", [] {
    nn::ModuleDict d;
    d["a"];
  });
  throws("moduledict pop", [] {
    nn::ModuleDict d;
    d->pop("a");
  });
  throws("parameterdict missing", [] {
    nn::ParameterDict d;
    d["a"];
  });
  throws("parameterdict pop", [] {
    nn::ParameterDict d;
    d->pop("a");
  });
  throws("parameterlist at", [] {
    nn::ParameterList l;
    l[2];
  });
  throws("anymodule empty", [] {
    nn::AnyModule a;
    a.forward(torch::ones(1));
  });
  throws("anymodule get", [] {
    nn::AnyModule a(nn::Linear(1, 2));
    a.get<nn::Conv2d>();
  });
  throws("anymodule ret", [] {
    nn::AnyModule a(nn::Linear(1, 2));
    a.forward<int>(torch::ones({1, 1}));
  });
  throws("anymodule arg", [] {
    nn::AnyModule a(nn::Linear(1, 2));
    a.forward("x");
  });
  throws("anymodule ptr", [] {
    nn::AnyModule a;
    a.ptr();
  });
  throws("anymodule type", [] {
    nn::AnyModule a;
    a.type_info();
  });
  throws("anymodule moved", [] {
    nn::AnyModule a(nn::Linear(1, 2));
    auto b = std::move(a);
    a.forward(torch::ones({1, 1}));
  });
  throws("moved holder", [] {
    nn::Linear a(1, 2);
    auto b = std::move(a);
    a->forward(torch::ones({1, 1}));
  });
  throws("moved tensor", [] {
    Tensor a = torch::ones(2);
    auto b = std::move(a);
    a.sum();
  });
  throws("undefined tensor sum", [] { Tensor().sum(); });
  throws("undefined tensor item", [] { Tensor().item<float>(); });
  throws("undefined backward", [] { Tensor().backward(); });
  throws("functional empty", [] {
    nn::Functional f(std::function<Tensor(Tensor)>{});
    f(torch::ones(1));
  });
  throws("ordered dict", [] {
    torch::OrderedDict<std::string, Tensor> d;
    d["x"];
  });
  throws("ordered dict insert", [] {
    torch::OrderedDict<std::string, Tensor> d;
    d.insert("x", torch::ones(1));
    d.insert("x", torch::ones(1));
  });
  throws("ordered dict index", [] {
    torch::OrderedDict<std::string, Tensor> d;
    d[3];
  });
  throws("ordered dict front", [] {
    torch::OrderedDict<std::string, Tensor> d;
    d.front();
  });
  throws("module to bad", [] { nn::Linear(1, 2)->to(torch::kInt); });
  throws("parse device", [] { torch::Device("gpu"); });
  throws("parse device cuda:x", [] { torch::Device("cuda:x"); });
  throws("tied double weights", [] {
    nn::Linear a(2, 2);
    a->weight = torch::ones({3, 3});
    a(torch::ones({1, 2}));
  });
}

void optimizers() {
  using namespace torch::optim;
  throws("sgd negative lr", [] { SGD o(some_parameters(), SGDOptions(-0.1)); });
  throws("sgd momentum negative", [] { SGD o(some_parameters(), SGDOptions(0.1).momentum(-1)); });
  throws("sgd negative weight decay", [] { SGD o(some_parameters(), SGDOptions(0.1).weight_decay(-1)); });
  throws("sgd nesterov", [] { SGD o(some_parameters(), SGDOptions(0.1).nesterov(true)); });
  throws("sgd nesterov damp", [] {
    SGD o(some_parameters(), SGDOptions(0.1).momentum(0.9).dampening(0.1).nesterov(true));
  });
  throws("adam lr", [] { Adam o(some_parameters(), AdamOptions(-1)); });
  throws("adam eps", [] { Adam o(some_parameters(), AdamOptions(1).eps(-1)); });
  throws("adam beta0", [] { Adam o(some_parameters(), AdamOptions(1).betas({1.0, 0.9})); });
  throws("adam beta1", [] { Adam o(some_parameters(), AdamOptions(1).betas({0.9, 1.5})); });
  throws("adam weight decay", [] { Adam o(some_parameters(), AdamOptions(1).weight_decay(-1)); });
  throws("adamw lr", [] { AdamW o(some_parameters(), AdamWOptions(-1)); });
  throws("adamw weight decay", [] { AdamW o(some_parameters(), AdamWOptions(1).weight_decay(-1)); });
  throws("adagrad lr", [] { Adagrad o(some_parameters(), AdagradOptions(-1)); });
  throws("adagrad lr_decay", [] { Adagrad o(some_parameters(), AdagradOptions(1).lr_decay(-1)); });
  throws("adagrad init", [] { Adagrad o(some_parameters(), AdagradOptions(1).initial_accumulator_value(-1)); });
  throws("rmsprop lr", [] { RMSprop o(some_parameters(), RMSpropOptions(-1)); });
  throws("rmsprop alpha", [] { RMSprop o(some_parameters(), RMSpropOptions(1).alpha(-1)); });
  throws("rmsprop momentum", [] { RMSprop o(some_parameters(), RMSpropOptions(1).momentum(-1)); });
  throws("lbfgs groups", [] {
    LBFGS o(
        std::vector<OptimizerParamGroup>{
            OptimizerParamGroup(some_parameters()), OptimizerParamGroup(some_parameters())},
        LBFGSOptions(1));
  });
  throws("lbfgs null closure", [] {
    LBFGS o(some_parameters(), LBFGSOptions(1));
    o.step(nullptr);
  });
  throws("sgd nonleaf", [] {
    auto x = torch::ones(3, torch::requires_grad()) * 2;
    SGD o(std::vector<Tensor>{x}, SGDOptions(0.1));
  });
  throws("sgd undefined", [] { SGD o(std::vector<Tensor>{Tensor()}, SGDOptions(0.1)); });
  throws("sgd undefined step", [] {
    SGD o(std::vector<Tensor>{Tensor()}, SGDOptions(0.1));
    o.step();
  });
  throws("sgd undefined zero", [] {
    SGD o(std::vector<Tensor>{Tensor()}, SGDOptions(0.1));
    o.zero_grad();
  });
  throws("base options set_lr", [] {
    OptimizerOptions b;
    b.set_lr(0.1);
  });
  throws("base options clone", [] {
    OptimizerOptions b;
    b.clone();
  });
  throws("base state clone", [] {
    OptimizerParamState b;
    b.clone();
  });
  throws("group no options", [] {
    OptimizerParamGroup g(some_parameters());
    g.options();
  });
  throws("null options group", [] {
    OptimizerParamGroup g(some_parameters(), nullptr);
    g.options();
  });
  throws("grad shape", [] {
    auto p = some_parameters();
    p[0].mutable_grad() = torch::ones(4);
    SGD o(p, SGDOptions(0.1));
    o.step();
  });
  throws("grad shape adam", [] {
    auto p = some_parameters();
    p[0].mutable_grad() = torch::ones(4);
    Adam o(p, AdamOptions(0.1));
    o.step();
  });
  throws("sparse grad adam", [] {
    auto p = some_parameters();
    p[0].mutable_grad() = torch::ones(3).to_sparse();
    Adam o(p, AdamOptions(0.1));
    o.step();
  });
  throws("sparse grad rmsprop", [] {
    auto p = some_parameters();
    p[0].mutable_grad() = torch::ones(3).to_sparse();
    RMSprop o(p, RMSpropOptions(0.1));
    o.step();
  });
  throws("plateau factor", [] {
    SGD o(some_parameters(), SGDOptions(0.1));
    ReduceLROnPlateauScheduler s(o, ReduceLROnPlateauScheduler::min, 1.5);
  });
}

void values() {
  throws("load directory", [] {
    Tensor t;
    torch::load(t, ".");
  });
  throws("read fresh", [] {
    torch::serialize::InputArchive a;
    Tensor t;
    a.read("zz", t);
  });
  throws("load stream empty", [] {
    std::istringstream f("");
    Tensor t;
    torch::load(t, f);
  });
  throws("pickle garbage", [] { torch::pickle_load(std::vector<char>{'a', 'b'}); });
  throws("pickle empty", [] { torch::pickle_load(std::vector<char>{}); });
  throws("backward non scalar", [] { torch::ones(2, torch::requires_grad()).mul(2).backward(); });
  throws("backward no grad", [] { torch::ones({}).backward(); });
  throws("backward grad shape", [] { torch::ones(2, torch::requires_grad()).mul(2).backward(torch::ones(3)); });
  throws("grad empty outs", [] { torch::autograd::grad({}, {}); });
  throws("in-place leaf", [] {
    auto a = torch::ones(2, torch::requires_grad());
    a.add_(1);
  });
  throws("requires grad int", [] { torch::ones(2, torch::kLong).requires_grad_(); });
  throws("item many", [] { torch::ones(2).item<float>(); });
  throws("accessor dims", [] {
    Tensor q = torch::ones(2);
    q.accessor<float, 2>();
  });
  throws("accessor type", [] {
    Tensor q = torch::ones(2);
    q.accessor<double, 1>();
  });
  throws("data_ptr type", [] { torch::ones(2).data_ptr<int>(); });
  throws("from_blob negative", [] {
    float f[2];
    torch::from_blob(f, {-2});
  });
  throws("tensor ragged", [] { torch::tensor({{1, 2}, {3}}); });
  throws("index out of range", [] { torch::ones({2, 2}).index({2}); });
  throws("index many", [] { torch::ones({2, 2}).index({0, 0, 0}); });
  throws("operator[] 0d", [] { torch::ones({})[0]; });
  throws("operator[] out of range", [] { torch::ones({2})[5]; });
  throws("size out of range", [] { torch::ones({2}).size(3); });
  throws("IValue toTensor", [] { c10::IValue(3).toTensor(); });
  throws("IValue toInt none", [] { c10::IValue().toInt(); });
  throws("IValue toList", [] { c10::IValue(1.5).toList(); });
  throws("Scalar complex", [] { c10::Scalar(c10::complex<double>(1, 2)).toDouble(); });
  throws("Scalar overflow", [] { c10::Scalar(1e300).toInt(); });
}

} // namespace

int main() {
  torch::manual_seed(0);
  containers();
  layers_and_losses();
  initialization_and_utilities();
  optimizers();
  values();
}
