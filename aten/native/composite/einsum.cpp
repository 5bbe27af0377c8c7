// einsum: parses the equation, brings every operand to one order of dimensions, contracts them two by two.

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>

#include <c10/util/irange.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <vector>

namespace at::native {
namespace {

constexpr int kLabels = 52;
/// Stands for the run of dimensions that an ellipsis covers.
constexpr int kEllipsis = kLabels;

bool is_label(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// A..Z are 0..25, a..z 26..51: the order of an implicit output.
int label_of(char c) {
  return c <= 'Z' ? c - 'A' : c - 'a' + 26;
}

char name_of(int label) {
  return static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26);
}

using Labels = std::vector<int>;

struct Equation {
  std::vector<Labels> operands;
  Labels output;
};

/// Reads labels and at most one ellipsis from `text`; `offset` is its place in the equation, `owner` the subject of
/// messages.
template <class Owner>
Labels parse_term(std::string_view text, size_t offset, const Owner& owner, const char* again) {
  Labels result;
  bool has_ellipsis = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') {
      continue;
    }
    if (c == '.') {
      TORCH_CHECK(!has_ellipsis, "einsum(): found '.' for ", owner(), again);
      TORCH_CHECK(
          i + 2 < text.size() && text[i + 1] == '.' && text[i + 2] == '.', "einsum(): found '.' for ", owner(),
          " that is not part of any ellipsis");
      has_ellipsis = true;
      i += 2;
      result.push_back(kEllipsis);
      continue;
    }
    TORCH_CHECK(
        is_label(c), "einsum(): invalid subscript given at index ", offset + i,
        " in the equation string, subscripts must be in [a-zA-Z]");
    result.push_back(label_of(c));
  }
  return result;
}

Equation parse(std::string_view equation, size_t operand_count) {
  Equation result;
  const size_t arrow = equation.find("->");
  const std::string_view left = equation.substr(0, arrow);
  size_t begin = 0;
  while (true) {
    const size_t comma = left.find(',', begin);
    const size_t index = result.operands.size();
    TORCH_CHECK(index < operand_count, "einsum(): fewer operands were provided than specified in the equation");
    result.operands.push_back(parse_term(
        left.substr(begin, comma == std::string_view::npos ? comma : comma - begin), begin,
        [&] { return c10::str("operand ", index); }, " for which an ellipsis was already found"));
    if (comma == std::string_view::npos) {
      break;
    }
    begin = comma + 1;
  }
  TORCH_CHECK(
      result.operands.size() == operand_count, "einsum(): more operands were provided than specified in the equation");

  std::array<int, kLabels + 1> uses{};
  for (const Labels& labels : result.operands) {
    for (const int label : labels) {
      ++uses[label];
    }
  }
  if (arrow == std::string_view::npos) {
    if (uses[kEllipsis] > 0) {
      result.output.push_back(kEllipsis);
    }
    for (const int label : c10::irange(kLabels)) {
      if (uses[label] == 1) {
        result.output.push_back(label);
      }
    }
    return result;
  }
  result.output = parse_term(
      equation.substr(arrow + 2), arrow + 2, [] { return "output"; }, " but an ellipsis (...) was already found");
  std::array<bool, kLabels + 1> seen{};
  for (const int label : result.output) {
    if (label == kEllipsis) {
      continue;
    }
    TORCH_CHECK(!seen[label], "einsum(): output subscript ", name_of(label), " appears more than once in the output");
    TORCH_CHECK(
        uses[label] > 0, "einsum(): output subscript ", name_of(label),
        " does not appear in the equation for any input operand");
    seen[label] = true;
  }
  return result;
}

/// Dimensions covered by the ellipsis of one operand, zero without one.
int64_t ellipsis_dims(const Labels& labels, const Tensor& operand, size_t index) {
  const bool has_ellipsis = std::find(labels.begin(), labels.end(), kEllipsis) != labels.end();
  const int64_t named = static_cast<int64_t>(labels.size()) - (has_ellipsis ? 1 : 0);
  TORCH_CHECK(
      has_ellipsis ? named <= operand.dim() : named == operand.dim(),
      "einsum(): the number of subscripts in the equation (", named,
      has_ellipsis ? ") is more than the number of dimensions (" : ") does not match the number of dimensions (",
      operand.dim(), ") for operand ", index, has_ellipsis ? "" : " and no ellipsis was given");
  return operand.dim() - named;
}

/// Indices of labels among the dimensions of the contraction: first those of the output, then those summed over.
struct Order {
  std::array<int64_t, kLabels> place;
  int64_t ellipsis_place = 0;
  int64_t ellipsis_size = 0;
  int64_t output_dims = 0;
  int64_t dims = 0;

  Order() {
    place.fill(-1);
  }
};

Order order_of(const Equation& equation, const std::vector<int64_t>& covered) {
  Order order;
  order.ellipsis_size = *std::max_element(covered.begin(), covered.end());
  bool output_has_ellipsis = false;
  for (const int label : equation.output) {
    if (label == kEllipsis) {
      order.ellipsis_place = order.dims;
      order.dims += order.ellipsis_size;
      output_has_ellipsis = true;
    } else {
      order.place[label] = order.dims++;
    }
  }
  order.output_dims = order.dims;
  if (!output_has_ellipsis) {
    order.ellipsis_place = order.dims;
    order.dims += order.ellipsis_size;
  }
  for (const Labels& labels : equation.operands) {
    for (const int label : labels) {
      if (label != kEllipsis && order.place[label] < 0) {
        order.place[label] = order.dims++;
      }
    }
  }
  return order;
}

/// The operand with repeated labels taken as diagonals, permuted to `order`, size one where it lacks a label.
Tensor arrange(Tensor operand, const Labels& labels, int64_t covered, const Order& order, size_t index) {
  DimVector source(order.dims, -1);
  int64_t dim = 0;
  for (const int label : labels) {
    if (label == kEllipsis) {
      const int64_t first = order.ellipsis_place + order.ellipsis_size - covered;
      for (const auto i : c10::irange(covered)) {
        source[first + i] = dim++;
      }
      continue;
    }
    int64_t& at = source[order.place[label]];
    if (at < 0) {
      at = dim++;
      continue;
    }
    TORCH_CHECK(
        operand.size(at) == operand.size(dim), "einsum(): subscript ", name_of(label), " is repeated for operand ",
        index, " but the sizes don't match, ", operand.size(dim), " != ", operand.size(at));
    operand = operand.diagonal(0, at, dim).movedim(-1, at);
  }
  for (int64_t& from : source) {
    if (from < 0) {
      operand = operand.unsqueeze(dim);
      from = dim++;
    }
  }
  return operand.permute(source);
}

/// Product of two operands of equal rank, summed over `sum_dims` (kept with size one), as one batched product.
Tensor contract_pair(Tensor left, Tensor right, const std::vector<bool>& is_summed) {
  if (std::none_of(is_summed.begin(), is_summed.end(), [](bool b) { return b; })) {
    return at::mul(left, right);
  }
  DimVector both, left_only, right_only, summed;
  int64_t batch = 1, rows = 1, cols = 1, depth = 1;
  for (const auto i : c10::irange(left.dim())) {
    const bool in_left = left.size(i) != 1, in_right = right.size(i) != 1;
    if (is_summed[i]) {
      summed.push_back(i);
      depth *= left.size(i);
    } else if (in_left && in_right) {
      both.push_back(i);
      batch *= left.size(i);
    } else if (in_left) {
      left_only.push_back(i);
      rows *= left.size(i);
    } else {
      right_only.push_back(i);
      cols *= right.size(i);
    }
  }
  // The product comes out as (both, rows, cols): with all of the right's dimensions before the left's in the
  // result, the factors trade places, so that the result is contiguous.
  if (!left_only.empty() && !right_only.empty() && right_only.back() < left_only.front()) {
    std::swap(left, right);
    std::swap(left_only, right_only);
    std::swap(rows, cols);
  }
  const auto join = [](std::initializer_list<const DimVector*> parts) {
    DimVector all;
    for (const DimVector* part : parts) {
      all.append(part->begin(), part->end());
    }
    return all;
  };
  const DimVector left_order = join({&both, &left_only, &summed, &right_only});
  const DimVector right_order = join({&both, &summed, &right_only, &left_only});
  const Tensor a = left.permute(left_order).reshape({batch, rows, depth});
  const Tensor b = right.permute(right_order).reshape({batch, depth, cols});
  DimVector sizes, back(left.dim());
  for (const auto i : c10::irange(left.dim())) {
    const int64_t dim = left_order[i];
    back[dim] = i;
    sizes.push_back(is_summed[dim] ? 1 : left.size(dim) != 1 ? left.size(dim) : right.size(dim));
  }
  return at::bmm(a, b).view(sizes).permute(back);
}

/// How many operands carry each summed dimension; a dimension is summed as soon as one is left.
class Contraction {
 public:
  Contraction(std::vector<Tensor> operands, const Order& order)
      : operands_(std::move(operands)), order_(order), carriers_(order.dims, 0) {
    for (const Tensor& t : operands_) {
      for (int64_t d = order.output_dims; d < order.dims; ++d) {
        carriers_[d] += t.size(d) != 1;
      }
    }
  }

  size_t size() const {
    return operands_.size();
  }
  const Tensor& front() const {
    return operands_.front();
  }

  void contract(size_t i, size_t j, bool to_back) {
    Tensor a = operands_[i], b = operands_[j];
    operands_.erase(operands_.begin() + j);
    operands_.erase(operands_.begin() + i);
    std::vector<bool> summed(order_.dims, false);
    DimVector only_a, only_b;
    for (int64_t d = order_.output_dims; d < order_.dims; ++d) {
      const bool in_a = a.size(d) != 1, in_b = b.size(d) != 1;
      if (in_a && in_b) {
        if (--carriers_[d] == 1) {
          summed[d] = true;
          carriers_[d] = 0;
        }
      } else if (carriers_[d] == 1 && (in_a || in_b)) {
        (in_a ? only_a : only_b).push_back(d);
        carriers_[d] = 0;
      }
    }
    if (!only_a.empty()) {
      a = a.sum(only_a, true);
    }
    if (!only_b.empty()) {
      b = b.sum(only_b, true);
    }
    Tensor product = contract_pair(std::move(a), std::move(b), summed);
    operands_.insert(to_back ? operands_.end() : operands_.begin(), std::move(product));
  }

 private:
  std::vector<Tensor> operands_;
  const Order& order_;
  std::vector<int64_t> carriers_;
};

/// Throws unless the operands broadcast in every dimension.
void check_sizes(const std::vector<Tensor>& operands, const Order& order) {
  for (const auto d : c10::irange(order.dims)) {
    int64_t seen = 1;
    for (const auto i : c10::irange(operands.size())) {
      const int64_t size = operands[i].size(d);
      if (size == 1) {
        continue;
      }
      if (seen != 1 && seen != size) {
        const auto at = std::find(order.place.begin(), order.place.end(), d);
        TORCH_CHECK(
            false, "einsum(): subscript ", at == order.place.end() ? '.' : name_of(int(at - order.place.begin())),
            " has size ", size, " for operand ", i, " which does not broadcast with previously seen size ", seen);
      }
      seen = size;
    }
  }
}

} // namespace

Tensor einsum(std::string_view equation, TensorList tensors, OptionalIntArrayRef path) {
  TORCH_CHECK(!tensors.empty(), "einsum(): must provide at least one operand");
  const size_t count = tensors.size();
  const Equation parsed = parse(equation, count);
  std::vector<int64_t> covered;
  for (const auto i : c10::irange(count)) {
    covered.push_back(ellipsis_dims(parsed.operands[i], tensors[i], i));
  }
  const Order order = order_of(parsed, covered);
  std::vector<Tensor> operands;
  for (const auto i : c10::irange(count)) {
    operands.push_back(arrange(tensors[i], parsed.operands[i], covered[i], order, i));
  }
  check_sizes(operands, order);

  const size_t path_size = count == 1 ? 1 : 2 * (count - 1);
  TORCH_CHECK(
      !path.has_value() || path->size() == path_size,
      "einsum(): expected contraction path given in path parameter to have size ", path_size, " but got ",
      path.has_value() ? path->size() : 0);
  const int64_t summed = order.dims - order.output_dims;
  if (count == 1) {
    if (summed == 0) {
      return operands[0];
    }
    DimVector dims(summed);
    std::iota(dims.begin(), dims.end(), order.output_dims);
    return operands[0].sum(dims);
  }
  Contraction contraction(std::move(operands), order);
  for (size_t step = 0; contraction.size() > 1; ++step) {
    int64_t i = 0, j = 1;
    if (path.has_value()) {
      i = std::min((*path)[2 * step], (*path)[2 * step + 1]);
      j = std::max((*path)[2 * step], (*path)[2 * step + 1]);
      TORCH_CHECK(
          i != j && i >= 0 && j < static_cast<int64_t>(contraction.size()), "einsum(): invalid contraction path (", i,
          ", ", j, ") for ", contraction.size(), " operands");
    }
    contraction.contract(i, j, path.has_value());
  }
  const Tensor& result = contraction.front();
  // All summed dimensions have size one by now.
  return summed == 0 ? result : result.view(result.sizes().slice(0, order.output_dims));
}

} // namespace at::native
