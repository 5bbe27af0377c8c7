// Modules of every kind, described by what they print and hold. The source compiles against libtorch too.
#include "modules_list.h"

#include <functional>
#include <sstream>

namespace modules_list {

using namespace torch;

namespace {

std::vector<Description> all;

void add(const std::function<std::shared_ptr<nn::Module>()>& make) {
  torch::manual_seed(7);
  const std::shared_ptr<nn::Module> module = make();
  std::ostringstream text;
  text << *module;
  Description description{text.str(), {}};
  for (const auto& item : module->named_parameters()) {
    description.tensors.push_back({item.key(), item.value().sizes().vec(), item.value().detach().to(kDouble)});
  }
  for (const auto& item : module->named_buffers()) {
    description.tensors.push_back({item.key(), item.value().sizes().vec(), item.value().detach().to(kDouble)});
  }
  all.push_back(std::move(description));
}

void add_layers() {
  add([] { return nn::Identity().ptr(); });
  add([] { return nn::Linear(3, 4).ptr(); });
  add([] { return nn::Linear(nn::LinearOptions(3, 4).bias(false)).ptr(); });
  add([] { return nn::Flatten().ptr(); });
  add([] { return nn::Flatten(nn::FlattenOptions().start_dim(2).end_dim(3)).ptr(); });
  add([] { return nn::Unflatten(nn::UnflattenOptions(1, {2, 2})).ptr(); });
  add([] { return nn::Bilinear(2, 3, 4).ptr(); });
  add([] { return nn::Bilinear(nn::BilinearOptions(2, 3, 4).bias(false)).ptr(); });
  add([] { return nn::Conv1d(4, 6, 3).ptr(); });
  add([] {
    return nn::Conv2d(nn::Conv2dOptions(4, 6, {3, 5})
                          .stride(2)
                          .padding({1, 2})
                          .dilation(2)
                          .groups(2)
                          .bias(false)
                          .padding_mode(kCircular))
        .ptr();
  });
  add([] { return nn::Conv2d(nn::Conv2dOptions(4, 6, 3).padding(kSame)).ptr(); });
  add([] { return nn::Conv2d(nn::Conv2dOptions(4, 6, 3).padding(kValid)).ptr(); });
  add([] { return nn::Conv3d(2, 2, 2).ptr(); });
  add([] { return nn::ConvTranspose1d(4, 6, 3).ptr(); });
  add([] {
    return nn::ConvTranspose2d(nn::ConvTranspose2dOptions(4, 6, 3)
                                   .stride(2)
                                   .padding(1)
                                   .output_padding(1)
                                   .groups(2)
                                   .bias(false)
                                   .dilation(2))
        .ptr();
  });
  add([] { return nn::ConvTranspose3d(2, 4, 2).ptr(); });
  add([] { return nn::BatchNorm1d(5).ptr(); });
  add([] {
    return nn::BatchNorm2d(
               nn::BatchNorm2dOptions(5).eps(1e-3).momentum(nullopt).affine(false).track_running_stats(false))
        .ptr();
  });
  add([] { return nn::BatchNorm3d(5).ptr(); });
  add([] { return nn::InstanceNorm1d(5).ptr(); });
  add([] { return nn::InstanceNorm2d(nn::InstanceNorm2dOptions(5).affine(true).track_running_stats(true)).ptr(); });
  add([] { return nn::InstanceNorm3d(5).ptr(); });
  add([] { return nn::LayerNorm(nn::LayerNormOptions({2, 3})).ptr(); });
  add([] { return nn::LayerNorm(nn::LayerNormOptions({2}).elementwise_affine(false).eps(0.1)).ptr(); });
  add([] { return nn::LocalResponseNorm(2).ptr(); });
  add([] { return nn::CrossMapLRN2d(2).ptr(); });
  add([] { return nn::GroupNorm(2, 4).ptr(); });
  add([] { return nn::GroupNorm(nn::GroupNormOptions(2, 4).affine(false)).ptr(); });
  add([] { return nn::Dropout().ptr(); });
  add([] { return nn::Dropout(nn::DropoutOptions(0.3).inplace(true)).ptr(); });
  add([] { return nn::Dropout2d(0.25).ptr(); });
  add([] { return nn::Dropout3d().ptr(); });
  add([] { return nn::AlphaDropout().ptr(); });
  add([] { return nn::FeatureAlphaDropout().ptr(); });
  add([] { return nn::Embedding(5, 3).ptr(); });
  add([] {
    return nn::Embedding(
               nn::EmbeddingOptions(5, 3).padding_idx(-1).max_norm(2).norm_type(1).scale_grad_by_freq(true).sparse(
                   true))
        .ptr();
  });
  add([] { return nn::EmbeddingBag(5, 3).ptr(); });
  add([] {
    return nn::EmbeddingBag(nn::EmbeddingBagOptions(5, 3)
                                .max_norm(2)
                                .norm_type(1)
                                .scale_grad_by_freq(true)
                                .sparse(true)
                                .mode(kSum)
                                .include_last_offset(true)
                                .padding_idx(1))
        .ptr();
  });
  add([] { return nn::CosineSimilarity().ptr(); });
  add([] { return nn::PairwiseDistance().ptr(); });
}

void add_images() {
  add([] { return nn::Fold(4, 2).ptr(); });
  add([] { return nn::Unfold(nn::UnfoldOptions({2, 4}).padding(2).stride(3)).ptr(); });
  add([] { return nn::PixelShuffle(5).ptr(); });
  add([] { return nn::PixelUnshuffle(5).ptr(); });
  add([] {
    return nn::Upsample(
               nn::UpsampleOptions().scale_factor(std::vector<double>{3}).mode(kTrilinear).align_corners(false))
        .ptr();
  });
  add([] { return nn::Upsample(nn::UpsampleOptions().size(std::vector<int64_t>{2, 4}).mode(kNearest)).ptr(); });
  add([] { return nn::ReflectionPad1d(2).ptr(); });
  add([] { return nn::ReflectionPad2d(nn::ReflectionPad2dOptions({1, 1, 2, 0})).ptr(); });
  add([] { return nn::ReflectionPad3d(1).ptr(); });
  add([] { return nn::ReplicationPad1d(2).ptr(); });
  add([] { return nn::ReplicationPad2d(2).ptr(); });
  add([] { return nn::ReplicationPad3d(2).ptr(); });
  add([] { return nn::ZeroPad1d(2).ptr(); });
  add([] { return nn::ZeroPad2d(nn::ZeroPad2dOptions({1, 2, 3, 4})).ptr(); });
  add([] { return nn::ZeroPad3d(1).ptr(); });
  add([] { return nn::ConstantPad1d(2, 3.5).ptr(); });
  add([] { return nn::ConstantPad2d(2, 3.5).ptr(); });
  add([] { return nn::ConstantPad3d(2, 3.5).ptr(); });
}

void add_activations() {
  add([] { return nn::ELU().ptr(); });
  add([] { return nn::ELU(nn::ELUOptions().alpha(42.42).inplace(true)).ptr(); });
  add([] { return nn::SELU().ptr(); });
  add([] { return nn::SELU(nn::SELUOptions().inplace(true)).ptr(); });
  add([] { return nn::Hardshrink().ptr(); });
  add([] { return nn::Hardtanh().ptr(); });
  add([] { return nn::Hardtanh(nn::HardtanhOptions().inplace(true)).ptr(); });
  add([] { return nn::LeakyReLU().ptr(); });
  add([] { return nn::LeakyReLU(nn::LeakyReLUOptions().inplace(true)).ptr(); });
  add([] { return nn::LogSigmoid().ptr(); });
  add([] { return nn::Softmax(1).ptr(); });
  add([] { return nn::Softmin(1).ptr(); });
  add([] { return nn::LogSoftmax(1).ptr(); });
  add([] { return nn::Softmax2d().ptr(); });
  add([] { return nn::PReLU().ptr(); });
  add([] { return nn::PReLU(nn::PReLUOptions().num_parameters(3)).ptr(); });
  add([] { return nn::ReLU().ptr(); });
  add([] { return nn::ReLU(true).ptr(); });
  add([] { return nn::ReLU6().ptr(); });
  add([] { return nn::ReLU6(true).ptr(); });
  add([] { return nn::RReLU().ptr(); });
  add([] { return nn::RReLU(nn::RReLUOptions().inplace(true)).ptr(); });
  add([] { return nn::CELU().ptr(); });
  add([] { return nn::CELU(nn::CELUOptions().inplace(true)).ptr(); });
  add([] { return nn::GLU().ptr(); });
  add([] { return nn::GELU().ptr(); });
  add([] { return nn::GELU(nn::GELUOptions().approximate("tanh")).ptr(); });
  add([] { return nn::SiLU().ptr(); });
  add([] { return nn::Mish().ptr(); });
  add([] { return nn::Sigmoid().ptr(); });
  add([] { return nn::Softplus().ptr(); });
  add([] { return nn::Softshrink().ptr(); });
  add([] { return nn::Softsign().ptr(); });
  add([] { return nn::Tanh().ptr(); });
  add([] { return nn::Tanhshrink().ptr(); });
  add([] { return nn::Threshold(24.24, 42.42).ptr(); });
  add([] { return nn::Threshold(nn::ThresholdOptions(24.24, 42.42).inplace(true)).ptr(); });
}

void add_pooling() {
  add([] { return nn::AvgPool1d(5).ptr(); });
  add([] {
    return nn::AvgPool2d(nn::AvgPool2dOptions({5, 6})
                             .stride({1, 2})
                             .padding(1)
                             .ceil_mode(true)
                             .count_include_pad(false)
                             .divisor_override(3))
        .ptr();
  });
  add([] { return nn::AvgPool3d(5).ptr(); });
  add([] { return nn::MaxPool1d(5).ptr(); });
  add([] { return nn::MaxPool2d(nn::MaxPool2dOptions(5).stride({1, 2}).dilation(2).ceil_mode(true)).ptr(); });
  add([] { return nn::MaxPool3d(5).ptr(); });
  add([] { return nn::AdaptiveMaxPool1d(5).ptr(); });
  add([] { return nn::AdaptiveMaxPool2d(nn::AdaptiveMaxPool2dOptions({5, nullopt})).ptr(); });
  add([] { return nn::AdaptiveMaxPool3d(5).ptr(); });
  add([] { return nn::AdaptiveAvgPool1d(5).ptr(); });
  add([] { return nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({5, nullopt})).ptr(); });
  add([] { return nn::AdaptiveAvgPool3d(5).ptr(); });
  add([] { return nn::MaxUnpool1d(5).ptr(); });
  add([] { return nn::MaxUnpool2d(nn::MaxUnpool2dOptions(5).stride({1, 2})).ptr(); });
  add([] { return nn::MaxUnpool3d(5).ptr(); });
  add([] { return nn::FractionalMaxPool2d(nn::FractionalMaxPool2dOptions(5).output_size(1)).ptr(); });
  add([] { return nn::FractionalMaxPool3d(nn::FractionalMaxPool3dOptions(5).output_size(1)).ptr(); });
  add([] { return nn::LPPool1d(2, 5).ptr(); });
  add([] { return nn::LPPool2d(nn::LPPool2dOptions(2, {5, 2}).stride({1, 2}).ceil_mode(true)).ptr(); });
  add([] { return nn::LPPool3d(1, 2).ptr(); });
}

void add_losses() {
  add([] { return nn::L1Loss().ptr(); });
  add([] { return nn::KLDivLoss().ptr(); });
  add([] { return nn::MSELoss().ptr(); });
  add([] { return nn::BCELoss().ptr(); });
  add([] { return nn::HingeEmbeddingLoss(nn::HingeEmbeddingLossOptions().margin(4)).ptr(); });
  add([] { return nn::MultiMarginLoss(nn::MultiMarginLossOptions().margin(4).weight(torch::ones(3))).ptr(); });
  add([] { return nn::CosineEmbeddingLoss().ptr(); });
  add([] { return nn::SmoothL1Loss().ptr(); });
  add([] { return nn::HuberLoss().ptr(); });
  add([] { return nn::MultiLabelMarginLoss().ptr(); });
  add([] { return nn::SoftMarginLoss().ptr(); });
  add([] { return nn::MultiLabelSoftMarginLoss().ptr(); });
  add([] { return nn::TripletMarginLoss(nn::TripletMarginLossOptions().margin(3).p(2).eps(1e-6).swap(false)).ptr(); });
  add([] { return nn::TripletMarginWithDistanceLoss().ptr(); });
  add([] { return nn::CTCLoss().ptr(); });
  add([] { return nn::PoissonNLLLoss().ptr(); });
  add([] { return nn::MarginRankingLoss().ptr(); });
  add([] { return nn::NLLLoss().ptr(); });
  add([] { return nn::CrossEntropyLoss().ptr(); });
  add([] { return nn::CrossEntropyLoss(nn::CrossEntropyLossOptions().weight(torch::ones(3))).ptr(); });
  add([] { return nn::BCEWithLogitsLoss().ptr(); });
  add([] {
    return nn::BCEWithLogitsLoss(nn::BCEWithLogitsLossOptions().weight(torch::ones(3)).pos_weight(torch::ones(3)))
        .ptr();
  });
}

void add_recurrent() {
  add([] { return nn::RNN(3, 4).ptr(); });
  add([] {
    return nn::RNN(nn::RNNOptions(3, 4)
                       .num_layers(2)
                       .nonlinearity(kReLU)
                       .batch_first(true)
                       .dropout(0.2)
                       .bidirectional(true)
                       .bias(false))
        .ptr();
  });
  add([] { return nn::LSTM(3, 4).ptr(); });
  add([] {
    return nn::LSTM(nn::LSTMOptions(3, 4)
                        .num_layers(2)
                        .batch_first(true)
                        .dropout(0.2)
                        .bidirectional(true)
                        .bias(false)
                        .proj_size(2))
        .ptr();
  });
  add([] { return nn::GRU(3, 4).ptr(); });
  add([] {
    return nn::GRU(nn::GRUOptions(3, 4).num_layers(2).batch_first(true).dropout(0.2).bidirectional(true)).ptr();
  });
  add([] { return nn::RNNCell(2, 3).ptr(); });
  add([] { return nn::RNNCell(nn::RNNCellOptions(2, 3).bias(false).nonlinearity(kReLU)).ptr(); });
  add([] { return nn::LSTMCell(2, 3).ptr(); });
  add([] { return nn::GRUCell(nn::GRUCellOptions(2, 3).bias(false)).ptr(); });
  add([] { return nn::MultiheadAttention(4, 2).ptr(); });
  add([] {
    return nn::MultiheadAttention(nn::MultiheadAttentionOptions(4, 2).kdim(3).vdim(5).add_bias_kv(true).bias(false))
        .ptr();
  });
  add([] {
    return nn::MultiheadAttention(nn::MultiheadAttentionOptions(4, 2).kdim(3).vdim(5).add_bias_kv(true)).ptr();
  });
  add([] { return nn::TransformerEncoderLayer(4, 2).ptr(); });
  add([] {
    return nn::TransformerDecoderLayer(nn::TransformerDecoderLayerOptions(4, 2).dim_feedforward(8).dropout(0.3)).ptr();
  });
  add([] {
    return nn::TransformerEncoder(
               nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(4, 2).dim_feedforward(8)), 2)
        .ptr();
  });
  add([] {
    return nn::TransformerDecoder(
               nn::TransformerDecoderOptions(
                   nn::TransformerDecoderLayer(nn::TransformerDecoderLayerOptions(4, 2).dim_feedforward(8)), 2)
                   .norm(nn::AnyModule(nn::LayerNorm(nn::LayerNormOptions({4})))))
        .ptr();
  });
  add([] {
    return nn::Transformer(nn::TransformerOptions(4, 2).num_encoder_layers(1).num_decoder_layers(1).dim_feedforward(8))
        .ptr();
  });
  add([] { return nn::AdaptiveLogSoftmaxWithLoss(32, 10, std::vector<int64_t>{4, 8}).ptr(); });
  add([] {
    return nn::AdaptiveLogSoftmaxWithLoss(
               nn::AdaptiveLogSoftmaxWithLossOptions(8, 10, {4, 8}).div_value(2).head_bias(true))
        .ptr();
  });
}

void add_containers() {
  add([] { return nn::Sequential(nn::Linear(3, 4), nn::ReLU(), nn::Functional(torch::relu)).ptr(); });
  add([] { return nn::Sequential({{"a", nn::Linear(3, 4)}, {"b", nn::Sigmoid()}}).ptr(); });
  add([] { return nn::ModuleList(nn::Linear(3, 4), nn::Sequential(nn::Tanh())).ptr(); });
  add([] { return nn::ParameterList(torch::ones({2}), torch::ones({3, 1})).ptr(); });
  add([] {
    torch::OrderedDict<std::string, torch::Tensor> parameters;
    parameters.insert("x", torch::ones({2, 2}));
    return nn::ParameterDict(parameters).ptr();
  });
  add([] {
    torch::OrderedDict<std::string, std::shared_ptr<nn::Module>> modules;
    modules.insert("x", nn::Linear(2, 2).ptr());
    return nn::ModuleDict(modules).ptr();
  });
}

} // namespace

std::vector<Description> describe_modules() {
  all.clear();
  add_layers();
  add_images();
  add_activations();
  add_pooling();
  add_losses();
  add_recurrent();
  add_containers();
  return all;
}

} // namespace modules_list
