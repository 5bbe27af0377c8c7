// Recipes for ints and bools.
#include <csrc/compile/cpu/recipe_rules.h>

namespace torch::fused::cpu {

namespace {
namespace integers {

using Body = MicroBody;

uint32_t all_bits(Body& b) {
  return b.constant({0xFFFFFFFFu});
}
uint32_t complement(Body& b, uint32_t x) {
  return b.op(Micro::Xor, x, all_bits(b));
}
uint32_t negate(Body& b, uint32_t x) {
  return b.op(Micro::SubInts, b.integer(0), x);
}
uint32_t mul(Body& b, uint32_t x, uint32_t y) {
  if (b.width() == 4) {
    return b.op(Micro::MulInts, x, y);
  }
  const auto upper = [&](uint32_t value) { return b.op(Micro::ShiftRightZeros, value, 0, 0, 32); };
  const uint32_t cross = b.op(Micro::AddInts, b.op(Micro::MulLow, upper(x), y), b.op(Micro::MulLow, x, upper(y)));
  return b.op(Micro::AddInts, b.op(Micro::MulLow, x, y), b.op(Micro::ShiftLeft, cross, 0, 0, 32));
}
/// x + y * factor
uint32_t add_multiple(Body& b, uint32_t x, uint32_t y, int64_t factor) {
  return factor == 1 ? b.op(Micro::AddInts, x, y)
      : factor == -1 ? b.op(Micro::SubInts, x, y)
                     : b.op(Micro::AddInts, x, mul(b, y, b.integer(factor)));
}
uint32_t equal(Body& b, uint32_t x, uint32_t y) {
  return b.op(Micro::EqualInts, x, y);
}
uint32_t greater(Body& b, uint32_t x, uint32_t y) {
  return b.op(Micro::GreaterInts, x, y);
}
uint32_t select(Body& b, uint32_t mask, uint32_t x, uint32_t y) {
  return b.op(Micro::Blend, x, y, mask);
}
uint32_t maximum(Body& b, uint32_t x, uint32_t y) {
  return b.width() == 4 ? b.op(Micro::MaxInts, x, y) : select(b, greater(b, x, y), x, y);
}
uint32_t minimum(Body& b, uint32_t x, uint32_t y) {
  return b.width() == 4 ? b.op(Micro::MinInts, x, y) : select(b, greater(b, x, y), y, x);
}
/// All bits where it is not zero.
uint32_t truth(Body& b, uint32_t x) {
  return complement(b, equal(b, x, b.integer(0)));
}

template <Micro M>
uint32_t bitwise(Body& b, const uint32_t* x, const Parameters&) {
  return b.op(M, x[0], x[1]);
}
template <Micro M>
uint32_t logical(Body& b, const uint32_t* x, const Parameters&) {
  return b.op(M, truth(b, x[0]), truth(b, x[1]));
}
uint32_t not_of(Body& b, const uint32_t* x, const Parameters&) {
  return complement(b, x[0]);
}
uint32_t where(Body& b, const uint32_t* x, const Parameters&) {
  return select(b, x[0], x[1], x[2]);
}

constexpr RecipeRule kIntegerRules[] = {
    {"aten::add", 2, {[](Body& b, const uint32_t* x, const Parameters& f) {
       return add_multiple(b, x[0], x[1], f.integer(0));
     }}},
    {"aten::sub", 2, {[](Body& b, const uint32_t* x, const Parameters& f) {
       return add_multiple(b, x[0], x[1], -f.integer(0));
     }}},
    {"aten::rsub", 2, {[](Body& b, const uint32_t* x, const Parameters& f) {
       return add_multiple(b, x[0], x[1], -f.integer(0));
     }}},
    {"aten::mul", 2, {[](Body& b, const uint32_t* x, const Parameters&) { return mul(b, x[0], x[1]); }}},
    {"aten::square", 1, {[](Body& b, const uint32_t* x, const Parameters&) { return mul(b, x[0], x[0]); }}},
    {"aten::neg", 1, {[](Body& b, const uint32_t* x, const Parameters&) { return negate(b, x[0]); }}},
    {"aten::abs", 1, {[](Body& b, const uint32_t* x, const Parameters&) { return maximum(b, negate(b, x[0]), x[0]); }}},
    {"aten::relu", 1, {[](Body& b, const uint32_t* x, const Parameters&) { return maximum(b, x[0], b.integer(0)); }}},
    {"aten::maximum", 2, {[](Body& b, const uint32_t* x, const Parameters&) { return maximum(b, x[0], x[1]); }}},
    {"aten::minimum", 2, {[](Body& b, const uint32_t* x, const Parameters&) { return minimum(b, x[0], x[1]); }}},
    {"aten::clamp_min", 2, {[](Body& b, const uint32_t* x, const Parameters&) { return maximum(b, x[0], x[1]); }}},
    {"aten::clamp_max", 2, {[](Body& b, const uint32_t* x, const Parameters&) { return minimum(b, x[0], x[1]); }}},
    {"aten::clamp", 3, {[](Body& b, const uint32_t* x, const Parameters&) {
       return minimum(b, maximum(b, x[0], x[1]), x[2]);
     }}},
    {"aten::bitwise_and", 2, {bitwise<Micro::And>}},
    {"aten::bitwise_or", 2, {bitwise<Micro::Or>}},
    {"aten::bitwise_xor", 2, {bitwise<Micro::Xor>}},
    {"aten::bitwise_not", 1, {not_of}},
    {"aten::logical_and", 2, {logical<Micro::And>}},
    {"aten::logical_or", 2, {logical<Micro::Or>}},
    {"aten::logical_not", 1, {[](Body& b, const uint32_t* x, const Parameters&) {
       return equal(b, x[0], b.integer(0));
     }}},
    {"aten::eq", 2, {[](Body& b, const uint32_t* x, const Parameters&) { return equal(b, x[0], x[1]); }}},
    {"aten::ne", 2, {[](Body& b, const uint32_t* x, const Parameters&) {
       return complement(b, equal(b, x[0], x[1]));
     }}},
    {"aten::gt", 2, {[](Body& b, const uint32_t* x, const Parameters&) { return greater(b, x[0], x[1]); }}},
    {"aten::lt", 2, {[](Body& b, const uint32_t* x, const Parameters&) { return greater(b, x[1], x[0]); }}},
    {"aten::ge", 2, {[](Body& b, const uint32_t* x, const Parameters&) {
       return complement(b, greater(b, x[1], x[0]));
     }}},
    {"aten::le", 2, {[](Body& b, const uint32_t* x, const Parameters&) {
       return complement(b, greater(b, x[0], x[1]));
     }}},
    {"aten::where", 3, {where}},
    {"aten::masked_fill", 3, {[](Body& b, const uint32_t* x, const Parameters&) {
       return select(b, x[1], x[2], x[0]);
     }}},
};

constexpr RecipeRule kBoolRules[] = {
    {"aten::logical_and", 2, {bitwise<Micro::And>}},
    {"aten::logical_or", 2, {bitwise<Micro::Or>}},
    {"aten::logical_xor", 2, {bitwise<Micro::Xor>}},
    {"aten::logical_not", 1, {not_of}},
    {"aten::bitwise_and", 2, {bitwise<Micro::And>}},
    {"aten::bitwise_or", 2, {bitwise<Micro::Or>}},
    {"aten::bitwise_xor", 2, {bitwise<Micro::Xor>}},
    {"aten::bitwise_not", 1, {not_of}},
    {"aten::mul", 2, {bitwise<Micro::And>}},
    {"aten::ne", 2, {bitwise<Micro::Xor>}},
    {"aten::eq", 2, {[](Body& b, const uint32_t* x, const Parameters&) {
       return complement(b, b.op(Micro::Xor, x[0], x[1]));
     }}},
    {"aten::where", 3, {where}},
};

} // namespace integers
} // namespace

RecipeRules integer_rules() {
  return {std::begin(integers::kIntegerRules), std::end(integers::kIntegerRules)};
}

RecipeRules bool_rules() {
  return {std::begin(integers::kBoolRules), std::end(integers::kBoolRules)};
}

} // namespace torch::fused::cpu
