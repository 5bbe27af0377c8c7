// Functions of torch::nn::functional with their settings as arguments, in libtorch's order. Modules of a program's own
// call them; each makes the options and calls the function of the same name.
#pragma once

#include <csrc/nn/options.h>
#include <csrc/types.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace torch::nn::functional::detail {

// Activations.

TORCH_API Tensor elu(Tensor input, double alpha, bool inplace);
TORCH_API Tensor selu(Tensor input, bool inplace);
TORCH_API Tensor celu(Tensor input, double alpha, bool inplace);
TORCH_API Tensor hardtanh(Tensor input, double min_val, double max_val, bool inplace);
TORCH_API Tensor hardshrink(const Tensor& input, double lambda);
TORCH_API Tensor softshrink(const Tensor& input, double lambda);
TORCH_API Tensor relu(Tensor input, bool inplace);
TORCH_API Tensor relu6(Tensor input, bool inplace);
TORCH_API Tensor leaky_relu(Tensor input, double negative_slope, bool inplace);
TORCH_API Tensor rrelu(Tensor input, double lower, double upper, bool training, bool inplace);
TORCH_API Tensor threshold(Tensor input, double threshold, double value, bool inplace);
TORCH_API Tensor gelu(const Tensor& input, const std::string& approximate);
TORCH_API Tensor glu(const Tensor& input, int64_t dim);
TORCH_API Tensor softplus(const Tensor& input, double beta, double threshold);
TORCH_API Tensor softmax(const Tensor& input, int64_t dim, std::optional<torch::Dtype> dtype);
TORCH_API Tensor softmin(const Tensor& input, int64_t dim, std::optional<torch::Dtype> dtype);
TORCH_API Tensor log_softmax(const Tensor& input, int64_t dim, std::optional<torch::Dtype> dtype);
TORCH_API Tensor gumbel_softmax(const Tensor& logits, double tau, bool hard, int dim);
TORCH_API std::tuple<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    int64_t embed_dim_to_check,
    int64_t num_heads,
    const Tensor& in_proj_weight,
    const Tensor& in_proj_bias,
    const Tensor& bias_k,
    const Tensor& bias_v,
    bool add_zero_attn,
    double dropout_p,
    const Tensor& out_proj_weight,
    const Tensor& out_proj_bias,
    bool training = true,
    const Tensor& key_padding_mask = {},
    bool need_weights = true,
    const Tensor& attn_mask = {},
    bool use_separate_proj_weight = false,
    const Tensor& q_proj_weight = {},
    const Tensor& k_proj_weight = {},
    const Tensor& v_proj_weight = {},
    const Tensor& static_k = {},
    const Tensor& static_v = {},
    bool average_attn_weights = true);

// Norms.

TORCH_API Tensor batch_norm(
    const Tensor& input,
    const Tensor& running_mean,
    const Tensor& running_var,
    Tensor weight,
    Tensor bias,
    bool training,
    double momentum,
    double eps);
TORCH_API Tensor instance_norm(
    const Tensor& input,
    const Tensor& running_mean,
    const Tensor& running_var,
    const Tensor& weight,
    const Tensor& bias,
    bool use_input_stats,
    double momentum,
    double eps);
TORCH_API Tensor layer_norm(
    const Tensor& input,
    const std::vector<int64_t>& normalized_shape,
    const Tensor& weight,
    const Tensor& bias,
    double eps);
TORCH_API Tensor
group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps);
TORCH_API Tensor local_response_norm(const Tensor& input, int64_t size, double alpha, double beta, double k);
TORCH_API Tensor normalize(const Tensor& input, double p, int64_t dim, double eps, std::optional<Tensor> out);

// Convolutions.

TORCH_API Tensor conv1d(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& bias,
    ExpandingArray<1> stride,
    const Conv1dFuncOptions::padding_t& padding,
    ExpandingArray<1> dilation,
    int64_t groups);
TORCH_API Tensor conv2d(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& bias,
    ExpandingArray<2> stride,
    const Conv2dFuncOptions::padding_t& padding,
    ExpandingArray<2> dilation,
    int64_t groups);
TORCH_API Tensor conv3d(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& bias,
    ExpandingArray<3> stride,
    const Conv3dFuncOptions::padding_t& padding,
    ExpandingArray<3> dilation,
    int64_t groups);
TORCH_API Tensor conv_transpose1d(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef output_padding,
    int64_t groups,
    IntArrayRef dilation);
TORCH_API Tensor conv_transpose2d(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef output_padding,
    int64_t groups,
    IntArrayRef dilation);
TORCH_API Tensor conv_transpose3d(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef output_padding,
    int64_t groups,
    IntArrayRef dilation);
TORCH_API Tensor fold(
    const Tensor& input,
    ExpandingArray<2> output_size,
    ExpandingArray<2> kernel_size,
    ExpandingArray<2> dilation,
    ExpandingArray<2> padding,
    ExpandingArray<2> stride);
TORCH_API Tensor unfold(
    const Tensor& input,
    ExpandingArray<2> kernel_size,
    ExpandingArray<2> dilation,
    ExpandingArray<2> padding,
    ExpandingArray<2> stride);

// Distances, dropout and embeddings.

TORCH_API Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps);
TORCH_API Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim);
TORCH_API Tensor dropout(Tensor input, double p, bool training, bool inplace);
TORCH_API Tensor dropout2d(Tensor input, double p, bool training, bool inplace);
TORCH_API Tensor dropout3d(Tensor input, double p, bool training, bool inplace);
TORCH_API Tensor alpha_dropout(Tensor input, double p, bool training, bool inplace);
TORCH_API Tensor feature_alpha_dropout(Tensor input, double p, bool training, bool inplace);
TORCH_API Tensor embedding(
    const Tensor& input,
    const Tensor& weight,
    std::optional<int64_t> padding_idx,
    std::optional<double> max_norm,
    double norm_type,
    bool scale_grad_by_freq,
    bool sparse);
TORCH_API Tensor embedding_bag(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& offsets,
    std::optional<double> max_norm,
    double norm_type,
    bool scale_grad_by_freq,
    EmbeddingBagMode mode,
    bool sparse,
    const Tensor& per_sample_weights,
    bool include_last_offset,
    std::optional<int64_t> padding_idx);

// Losses.

TORCH_API Tensor l1_loss(const Tensor& input, const Tensor& target, L1LossFuncOptions::reduction_t reduction);
TORCH_API Tensor mse_loss(const Tensor& input, const Tensor& target, MSELossFuncOptions::reduction_t reduction);
TORCH_API Tensor
kl_div(const Tensor& input, const Tensor& target, KLDivFuncOptions::reduction_t reduction, bool log_target = false);
TORCH_API Tensor smooth_l1_loss(
    const Tensor& input,
    const Tensor& target,
    SmoothL1LossFuncOptions::reduction_t reduction,
    std::optional<double> beta = std::nullopt);
TORCH_API Tensor
huber_loss(const Tensor& input, const Tensor& target, HuberLossFuncOptions::reduction_t reduction, double delta = 1.0);
TORCH_API Tensor binary_cross_entropy(
    const Tensor& input,
    const Tensor& target,
    const Tensor& weight,
    BinaryCrossEntropyFuncOptions::reduction_t reduction);
TORCH_API Tensor binary_cross_entropy_with_logits(
    const Tensor& input,
    const Tensor& target,
    const Tensor& weight,
    BinaryCrossEntropyWithLogitsFuncOptions::reduction_t reduction,
    const Tensor& pos_weight);
TORCH_API Tensor nll_loss(
    const Tensor& input,
    const Tensor& target,
    const Tensor& weight,
    int64_t ignore_index,
    const NLLLossFuncOptions::reduction_t& reduction);
TORCH_API Tensor cross_entropy(
    const Tensor& input,
    const Tensor& target,
    const Tensor& weight,
    int64_t ignore_index,
    CrossEntropyFuncOptions::reduction_t reduction,
    double label_smoothing);
TORCH_API Tensor poisson_nll_loss(
    const Tensor& input,
    const Tensor& target,
    bool log_input,
    bool full,
    double eps,
    PoissonNLLLossFuncOptions::reduction_t reduction);
TORCH_API Tensor ctc_loss(
    const Tensor& log_probs,
    const Tensor& targets,
    const Tensor& input_lengths,
    const Tensor& target_lengths,
    int64_t blank,
    CTCLossFuncOptions::reduction_t reduction,
    bool zero_infinity);
TORCH_API Tensor hinge_embedding_loss(
    const Tensor& input, const Tensor& target, double margin, HingeEmbeddingLossFuncOptions::reduction_t reduction);
TORCH_API Tensor multi_margin_loss(
    const Tensor& input,
    const Tensor& target,
    int64_t p,
    double margin,
    const Tensor& weight,
    MultiMarginLossFuncOptions::reduction_t reduction);
TORCH_API Tensor multilabel_margin_loss(
    const Tensor& input, const Tensor& target, MultilabelMarginLossFuncOptions::reduction_t reduction);
TORCH_API Tensor
soft_margin_loss(const Tensor& input, const Tensor& target, SoftMarginLossFuncOptions::reduction_t reduction);
TORCH_API Tensor multilabel_soft_margin_loss(
    const Tensor& input,
    const Tensor& target,
    const Tensor& weight,
    MultilabelSoftMarginLossFuncOptions::reduction_t reduction);
TORCH_API Tensor cosine_embedding_loss(
    const Tensor& input1,
    const Tensor& input2,
    const Tensor& target,
    double margin,
    CosineEmbeddingLossFuncOptions::reduction_t reduction);
TORCH_API Tensor margin_ranking_loss(
    const Tensor& input1,
    const Tensor& input2,
    const Tensor& target,
    double margin,
    MarginRankingLossFuncOptions::reduction_t reduction);
TORCH_API Tensor triplet_margin_loss(
    const Tensor& anchor,
    const Tensor& positive,
    const Tensor& negative,
    double margin,
    double p,
    double eps,
    bool swap,
    TripletMarginLossFuncOptions::reduction_t reduction);
TORCH_API Tensor triplet_margin_with_distance_loss(
    const Tensor& anchor,
    const Tensor& positive,
    const Tensor& negative,
    std::optional<TripletMarginWithDistanceLossFuncOptions::distance_function_t> distance_function,
    double margin,
    bool swap,
    TripletMarginWithDistanceLossFuncOptions::reduction_t reduction);

// Pooling.

TORCH_API Tensor avg_pool1d(
    const Tensor& input,
    ExpandingArray<1> kernel_size,
    ExpandingArray<1> stride,
    ExpandingArray<1> padding,
    bool ceil_mode,
    bool count_include_pad);
TORCH_API Tensor avg_pool2d(
    const Tensor& input,
    ExpandingArray<2> kernel_size,
    ExpandingArray<2> stride,
    ExpandingArray<2> padding,
    bool ceil_mode,
    bool count_include_pad,
    std::optional<int64_t> divisor_override);
TORCH_API Tensor avg_pool3d(
    const Tensor& input,
    ExpandingArray<3> kernel_size,
    ExpandingArray<3> stride,
    ExpandingArray<3> padding,
    bool ceil_mode,
    bool count_include_pad,
    std::optional<int64_t> divisor_override);
TORCH_API Tensor max_pool1d(
    const Tensor& input,
    ExpandingArray<1> kernel_size,
    ExpandingArray<1> stride,
    ExpandingArray<1> padding,
    ExpandingArray<1> dilation,
    bool ceil_mode);
TORCH_API std::tuple<Tensor, Tensor> max_pool1d_with_indices(
    const Tensor& input,
    ExpandingArray<1> kernel_size,
    ExpandingArray<1> stride,
    ExpandingArray<1> padding,
    ExpandingArray<1> dilation,
    bool ceil_mode);
TORCH_API Tensor max_pool2d(
    const Tensor& input,
    ExpandingArray<2> kernel_size,
    ExpandingArray<2> stride,
    ExpandingArray<2> padding,
    ExpandingArray<2> dilation,
    bool ceil_mode);
TORCH_API std::tuple<Tensor, Tensor> max_pool2d_with_indices(
    const Tensor& input,
    ExpandingArray<2> kernel_size,
    ExpandingArray<2> stride,
    ExpandingArray<2> padding,
    ExpandingArray<2> dilation,
    bool ceil_mode);
TORCH_API Tensor max_pool3d(
    const Tensor& input,
    ExpandingArray<3> kernel_size,
    ExpandingArray<3> stride,
    ExpandingArray<3> padding,
    ExpandingArray<3> dilation,
    bool ceil_mode);
TORCH_API std::tuple<Tensor, Tensor> max_pool3d_with_indices(
    const Tensor& input,
    ExpandingArray<3> kernel_size,
    ExpandingArray<3> stride,
    ExpandingArray<3> padding,
    ExpandingArray<3> dilation,
    bool ceil_mode);
TORCH_API Tensor adaptive_avg_pool1d(const Tensor& input, ExpandingArray<1> output_size);
TORCH_API Tensor adaptive_max_pool1d(const Tensor& input, ExpandingArray<1> output_size);
TORCH_API std::tuple<Tensor, Tensor> adaptive_max_pool1d_with_indices(
    const Tensor& input, ExpandingArray<1> output_size);
TORCH_API Tensor adaptive_avg_pool2d(const Tensor& input, ExpandingArrayWithOptionalElem<2> output_size);
TORCH_API Tensor adaptive_max_pool2d(const Tensor& input, ExpandingArrayWithOptionalElem<2> output_size);
TORCH_API std::tuple<Tensor, Tensor> adaptive_max_pool2d_with_indices(
    const Tensor& input, ExpandingArrayWithOptionalElem<2> output_size);
TORCH_API Tensor adaptive_avg_pool3d(const Tensor& input, ExpandingArrayWithOptionalElem<3> output_size);
TORCH_API Tensor adaptive_max_pool3d(const Tensor& input, ExpandingArrayWithOptionalElem<3> output_size);
TORCH_API std::tuple<Tensor, Tensor> adaptive_max_pool3d_with_indices(
    const Tensor& input, ExpandingArrayWithOptionalElem<3> output_size);
TORCH_API Tensor max_unpool1d(
    const Tensor& input,
    const Tensor& indices,
    ExpandingArray<1> kernel_size,
    ExpandingArray<1> stride,
    ExpandingArray<1> padding,
    const std::optional<std::vector<int64_t>>& output_size);
TORCH_API Tensor max_unpool2d(
    const Tensor& input,
    const Tensor& indices,
    ExpandingArray<2> kernel_size,
    ExpandingArray<2> stride,
    ExpandingArray<2> padding,
    const std::optional<std::vector<int64_t>>& output_size);
TORCH_API Tensor max_unpool3d(
    const Tensor& input,
    const Tensor& indices,
    ExpandingArray<3> kernel_size,
    ExpandingArray<3> stride,
    ExpandingArray<3> padding,
    const std::optional<std::vector<int64_t>>& output_size);
TORCH_API Tensor fractional_max_pool2d(
    const Tensor& input,
    ExpandingArray<2> kernel_size,
    std::optional<ExpandingArray<2>> output_size,
    std::optional<ExpandingArray<2, double>> output_ratio,
    const Tensor& _random_samples);
TORCH_API std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(
    const Tensor& input,
    ExpandingArray<2> kernel_size,
    std::optional<ExpandingArray<2>> output_size,
    std::optional<ExpandingArray<2, double>> output_ratio,
    const Tensor& _random_samples);
TORCH_API Tensor fractional_max_pool3d(
    const Tensor& input,
    ExpandingArray<3> kernel_size,
    std::optional<ExpandingArray<3>> output_size,
    std::optional<ExpandingArray<3, double>> output_ratio,
    const Tensor& _random_samples);
TORCH_API std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(
    const Tensor& input,
    ExpandingArray<3> kernel_size,
    std::optional<ExpandingArray<3>> output_size,
    std::optional<ExpandingArray<3, double>> output_ratio,
    const Tensor& _random_samples);
TORCH_API Tensor lp_pool1d(
    const Tensor& input, double norm_type, ExpandingArray<1> kernel_size, ExpandingArray<1> stride, bool ceil_mode);
TORCH_API Tensor lp_pool2d(
    const Tensor& input, double norm_type, ExpandingArray<2> kernel_size, ExpandingArray<2> stride, bool ceil_mode);
TORCH_API Tensor lp_pool3d(
    const Tensor& input, double norm_type, ExpandingArray<3> kernel_size, ExpandingArray<3> stride, bool ceil_mode);

// Padding and images.

TORCH_API Tensor pad(const Tensor& input, IntArrayRef pad, PadFuncOptions::mode_t mode, double value);
TORCH_API Tensor pixel_shuffle(const Tensor& input, int64_t upscale_factor);
TORCH_API Tensor pixel_unshuffle(const Tensor& input, int64_t downscale_factor);
TORCH_API Tensor interpolate(
    const Tensor& input,
    const std::optional<std::vector<int64_t>>& size,
    const std::optional<std::vector<double>>& scale_factor,
    InterpolateFuncOptions::mode_t mode,
    std::optional<bool> align_corners,
    std::optional<bool> recompute_scale_factor,
    bool antialias);
TORCH_API Tensor grid_sample(
    const Tensor& input,
    const Tensor& grid,
    GridSampleFuncOptions::mode_t mode,
    GridSampleFuncOptions::padding_mode_t padding_mode,
    std::optional<bool> align_corners);

} // namespace torch::nn::functional::detail
