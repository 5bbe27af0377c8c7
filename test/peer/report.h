// How the programs of this folder print what they find. A line that starts with "~" holds numbers, which tools/peer/run
// compares to 1e-4; any other line must be the same, letter by letter.
#pragma once

#include <torch/torch.h>

#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace report {

template <typename T>
void exact(const std::string& name, const T& value) {
  std::ostringstream text;
  text << value;
  std::printf("%s: %s\n", name.c_str(), text.str().c_str());
  std::fflush(stdout);
}

template <typename T>
void exact(const std::string& name, const std::vector<T>& values) {
  exact(name, c10::ArrayRef<T>(values));
}

inline void shape(const std::string& name, const torch::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.dtype() << ' ' << tensor.sizes() << ' ' << tensor.strides() << ' ' << tensor.device()
       << (tensor.requires_grad() ? " requires_grad" : "");
  std::printf("%s: %s\n", name.c_str(), text.str().c_str());
}

inline void number(const std::string& name, double value) {
  std::printf("~ %s %.9g\n", name.c_str(), value);
}

/// The shape, the first elements, and three moments of all of them.
inline void close(const std::string& name, const torch::Tensor& tensor) {
  shape(name, tensor);
  torch::Tensor values = tensor.detach();
  if (values.is_complex()) {
    values = torch::view_as_real(values.resolve_conj());
  }
  values = values.to(torch::kDouble).reshape({-1});
  std::printf("~ %s", name.c_str());
  for (int64_t i = 0; i < values.numel() && i < 12; ++i) {
    std::printf(" %.9g", values[i].item<double>());
  }
  if (values.numel() > 12) {
    const torch::Tensor weights = torch::arange(1, values.numel() + 1, torch::kDouble).cos();
    std::printf(
        " %.9g %.9g %.9g", values.mean().item<double>(), values.square().mean().sqrt().item<double>(),
        (values * weights).mean().item<double>());
  }
  std::printf("\n");
}

/// Whether the call throws. (Most errors are c10::Error in both libraries; their texts differ.)
template <typename Call>
void throws(const std::string& name, Call call) {
  try {
    call();
    std::printf("%s: no error\n", name.c_str());
  } catch (const std::exception&) {
    std::printf("%s: an error\n", name.c_str());
  }
}

} // namespace report
