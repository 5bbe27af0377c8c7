#pragma once

#include <torch/types.h>

#include <tuple>

at::Tensor swish_cuda(const at::Tensor& x);
at::Tensor histogram_cuda(const at::Tensor& bins, int64_t count);
at::Tensor row_sums_cuda(const at::Tensor& x);
at::Tensor dropout_cuda(const at::Tensor& x, double p);
at::Tensor wider_row_cuda(const at::Tensor& image, int64_t width);
at::Tensor product_cuda(const at::Tensor& a, const at::Tensor& b);
std::tuple<at::Tensor, at::Tensor> sorted_runs_cuda(const at::Tensor& keys);
void sort_in_place_cuda(at::Tensor& x);
bool library_handles_cuda();
at::Tensor lerp_cuda(const at::Tensor& x, const at::Tensor& y, float weight);
