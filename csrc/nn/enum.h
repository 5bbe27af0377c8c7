// Choices that options name by a constant, such as torch::kReflect. Each has a type of its own, so that the type of an
// option says which of them it takes.
#pragma once

#include <aten/core/Reduction.h>
#include <c10/macros/Export.h>
#include <c10/util/Exception.h>
#include <csrc/nn/choice.h>

#include <string>
#include <variant>

/// Declares the constant `torch::kNAME` and its type `torch::enumtype::kNAME`.
#define TORCH_ENUM_DECLARE(NAME)                   \
  namespace torch::enumtype {                      \
  struct k##NAME {                                 \
    static constexpr const char* name = "k" #NAME; \
    constexpr k##NAME() {}                         \
  };                                               \
  }                                                \
  namespace torch {                                \
  inline constexpr enumtype::k##NAME k##NAME{};    \
  }

/// Constructors of an options class that let one constant stand for the whole, as in
/// `F::l1_loss(input, target, torch::kSum)`: a constant would otherwise need two conversions, to the type of the option
/// and from it.
#define TORCH_OPTIONS_CTOR_VARIANT_ARG3(OPTIONS_NAME, ARG_NAME, TYPE1, TYPE2, TYPE3) \
  OPTIONS_NAME() = default;                                                          \
  OPTIONS_NAME(torch::enumtype::TYPE1 ARG_NAME) : ARG_NAME##_(ARG_NAME) {}           \
  OPTIONS_NAME(torch::enumtype::TYPE2 ARG_NAME) : ARG_NAME##_(ARG_NAME) {}           \
  OPTIONS_NAME(torch::enumtype::TYPE3 ARG_NAME) : ARG_NAME##_(ARG_NAME) {}

#define TORCH_OPTIONS_CTOR_VARIANT_ARG4(OPTIONS_NAME, ARG_NAME, TYPE1, TYPE2, TYPE3, TYPE4) \
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(OPTIONS_NAME, ARG_NAME, TYPE1, TYPE2, TYPE3)              \
  OPTIONS_NAME(torch::enumtype::TYPE4 ARG_NAME) : ARG_NAME##_(ARG_NAME) {}

// Layers and nonlinearities, as nn::init knows them.
TORCH_ENUM_DECLARE(Linear)
TORCH_ENUM_DECLARE(Conv1D)
TORCH_ENUM_DECLARE(Conv2D)
TORCH_ENUM_DECLARE(Conv3D)
TORCH_ENUM_DECLARE(ConvTranspose1D)
TORCH_ENUM_DECLARE(ConvTranspose2D)
TORCH_ENUM_DECLARE(ConvTranspose3D)
TORCH_ENUM_DECLARE(Sigmoid)
TORCH_ENUM_DECLARE(Tanh)
TORCH_ENUM_DECLARE(ReLU)
TORCH_ENUM_DECLARE(GELU)
TORCH_ENUM_DECLARE(SiLU)
TORCH_ENUM_DECLARE(Mish)
TORCH_ENUM_DECLARE(LeakyReLU)
TORCH_ENUM_DECLARE(FanIn)
TORCH_ENUM_DECLARE(FanOut)
// Padding.
TORCH_ENUM_DECLARE(Constant)
TORCH_ENUM_DECLARE(Reflect)
TORCH_ENUM_DECLARE(Replicate)
TORCH_ENUM_DECLARE(Circular)
TORCH_ENUM_DECLARE(Zeros)
TORCH_ENUM_DECLARE(Border)
TORCH_ENUM_DECLARE(Reflection)
TORCH_ENUM_DECLARE(Valid)
TORCH_ENUM_DECLARE(Same)
// Interpolation.
TORCH_ENUM_DECLARE(Nearest)
TORCH_ENUM_DECLARE(Bilinear)
TORCH_ENUM_DECLARE(Bicubic)
TORCH_ENUM_DECLARE(Trilinear)
TORCH_ENUM_DECLARE(Area)
TORCH_ENUM_DECLARE(NearestExact)
// Reduction of losses and bags.
TORCH_ENUM_DECLARE(None)
TORCH_ENUM_DECLARE(Mean)
TORCH_ENUM_DECLARE(Sum)
TORCH_ENUM_DECLARE(Max)
TORCH_ENUM_DECLARE(BatchMean)
// Recurrent layers.
TORCH_ENUM_DECLARE(RNN_TANH)
TORCH_ENUM_DECLARE(RNN_RELU)
TORCH_ENUM_DECLARE(LSTM)
TORCH_ENUM_DECLARE(GRU)

namespace torch::enumtype {

/// Visitor that gives the name of a choice, such as "kReflect".
struct _compute_enum_name {
  template <class Choice>
  std::string operator()(const Choice&) const {
    return Choice::name;
  }
};

/// The name of the constant that an option, or a std::variant, holds.
template <class Option>
std::string get_enum_name(Option choice) {
  return std::visit(_compute_enum_name{}, choice);
}

/// The value that operators take for kNone, kMean or kSum. Other choices (kBatchMean) are an error.
template <class Option>
at::Reduction::Reduction reduction_get_enum(Option choice) {
  if (std::holds_alternative<enumtype::kNone>(choice)) {
    return at::Reduction::None;
  }
  if (std::holds_alternative<enumtype::kMean>(choice)) {
    return at::Reduction::Mean;
  }
  TORCH_CHECK(
      std::holds_alternative<enumtype::kSum>(choice), get_enum_name(choice),
      " is not a valid value for reduction; take kNone, kMean or kSum");
  return at::Reduction::Sum;
}

} // namespace torch::enumtype
