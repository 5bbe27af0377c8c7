// Choices as types: torch::kReLU, torch::kMean and the like, gathered in a std::variant by the options that offer them.
#pragma once

#include <aten/core/Reduction.h>
#include <c10/util/Exception.h>

#include <string>
#include <variant>

/// Declares the choice torch::k<name> and its type torch::enumtype::k<name>.
#define TORCH_ENUM_DECLARE(name)                   \
  namespace torch {                                \
  namespace enumtype {                             \
  struct k##name {                                 \
    static constexpr const char* text = "k" #name; \
  };                                               \
  }                                                \
  inline constexpr enumtype::k##name k##name{};    \
  }

// Constructors of an options class whose only field is a choice, one for each type that the field can hold.
#define TORCH_OPTIONS_CTOR_VARIANT_ARG3(OPTIONS_NAME, ARG_NAME, TYPE1, TYPE2, TYPE3) \
  OPTIONS_NAME() = default;                                                          \
  OPTIONS_NAME(torch::enumtype::TYPE1 ARG_NAME) : ARG_NAME##_(ARG_NAME) {}           \
  OPTIONS_NAME(torch::enumtype::TYPE2 ARG_NAME) : ARG_NAME##_(ARG_NAME) {}           \
  OPTIONS_NAME(torch::enumtype::TYPE3 ARG_NAME) : ARG_NAME##_(ARG_NAME) {}
#define TORCH_OPTIONS_CTOR_VARIANT_ARG4(OPTIONS_NAME, ARG_NAME, TYPE1, TYPE2, TYPE3, TYPE4) \
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(OPTIONS_NAME, ARG_NAME, TYPE1, TYPE2, TYPE3)              \
  OPTIONS_NAME(torch::enumtype::TYPE4 ARG_NAME) : ARG_NAME##_(ARG_NAME) {}

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
TORCH_ENUM_DECLARE(Constant)
TORCH_ENUM_DECLARE(Reflect)
TORCH_ENUM_DECLARE(Replicate)
TORCH_ENUM_DECLARE(Circular)
TORCH_ENUM_DECLARE(Nearest)
TORCH_ENUM_DECLARE(Bilinear)
TORCH_ENUM_DECLARE(Bicubic)
TORCH_ENUM_DECLARE(Trilinear)
TORCH_ENUM_DECLARE(Area)
TORCH_ENUM_DECLARE(NearestExact)
TORCH_ENUM_DECLARE(Sum)
TORCH_ENUM_DECLARE(Mean)
TORCH_ENUM_DECLARE(Max)
TORCH_ENUM_DECLARE(None)
TORCH_ENUM_DECLARE(BatchMean)
TORCH_ENUM_DECLARE(Zeros)
TORCH_ENUM_DECLARE(Border)
TORCH_ENUM_DECLARE(Reflection)
TORCH_ENUM_DECLARE(RNN_TANH)
TORCH_ENUM_DECLARE(RNN_RELU)
TORCH_ENUM_DECLARE(LSTM)
TORCH_ENUM_DECLARE(GRU)
TORCH_ENUM_DECLARE(Valid)
TORCH_ENUM_DECLARE(Same)

namespace torch::enumtype {

/// A visitor: the name of the choice that a variant holds.
struct _compute_enum_name {
  template <class Choice>
  std::string operator()(const Choice&) const {
    return Choice::text;
  }
};

/// The name of the choice that a variant holds: "kMean".
template <typename V>
std::string get_enum_name(const V& choice) {
  return std::visit(_compute_enum_name{}, choice);
}

/// The operators' number for a choice of kNone, kMean or kSum. Throws for any other.
template <typename V>
at::Reduction::Reduction reduction_get_enum(const V& choice) {
  if (std::holds_alternative<kNone>(choice)) {
    return at::Reduction::None;
  }
  if (std::holds_alternative<kMean>(choice)) {
    return at::Reduction::Mean;
  }
  TORCH_CHECK(std::holds_alternative<kSum>(choice), get_enum_name(choice), " is not a valid value for reduction");
  return at::Reduction::Sum;
}

} // namespace torch::enumtype
