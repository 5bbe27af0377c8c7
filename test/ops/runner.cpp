#include "test/ops/runner.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>

#include "test/support/layouts.h"
#include "test/support/refusals.h"

namespace test {

namespace {

bool is_chosen(const std::string& name) {
  const char* chosen = std::getenv("TENSOR_TEST_OP");
  if (chosen == nullptr) {
    return true;
  }
  const std::string list = "," + std::string(chosen) + ",";
  return list.find("," + name + ",") != std::string::npos ||
      list.find("," + name.substr(0, name.find('.')) + ",") != std::string::npos;
}

/// "test name | row" of the rows that are known to fail, from open.txt. A listed row that passes is a failure too, so
/// that the list can only shrink.
const std::set<std::string>& open_rows() {
  static const std::set<std::string> rows = [] {
    std::set<std::string> found;
    std::ifstream file(TEST_OPS_FOLDER "/open.txt");
    for (std::string line; std::getline(file, line);) {
      if (!line.empty() && line[0] != '#') {
        found.insert(line);
      }
    }
    return found;
  }();
  return rows;
}

std::string message_of(const std::exception& e) {
  const std::string text = refusal_text(e);
  return text.substr(0, text.find('\n'));
}

} // namespace

void Failures::guard(const std::string& note, const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& e) {
    add(note + ": raised " + message_of(e));
  }
}

std::string Failures::text() const {
  return count_ <= 3 ? text_ : text_ + "\n  and " + std::to_string(count_ - 3) + " more";
}

void for_each_row(const std::function<void(const OpRow&, const BoxedOp&, Failures&)>& check) {
  static const std::vector<OpRow> rows = op_rows();
  for (const OpRow& row : rows) {
    if (!is_chosen(row.name)) {
      continue;
    }
    const auto op = BoxedOp::find(row.name);
    Failures failures;
    if (!op.has_value()) {
      failures.add("the dispatcher does not know it");
    } else {
      failures.guard("", [&] { check(row, *op, failures); });
    }
    const std::string key = Catch::getResultCapture().getCurrentTestName() + " | " + row.name;
    const bool open = open_rows().count(key) != 0;
    if (std::getenv("TENSOR_TEST_LIST_OPEN") != nullptr && !failures.none()) {
      std::cout << "OPEN " << key << '\n';
    }
    if (failures.none() != open) {
      SUCCEED(row.name);
    } else if (open) {
      FAIL_CHECK(row.name << ": passes now; take it from test/ops/open.txt");
    } else {
      FAIL_CHECK(row.name << ":" << failures.text());
    }
  }
}

Stack with_grad(const Stack& args, const std::vector<int>& constants) {
  Stack changed = with_tensors(args, [](const at::Tensor& tensor) {
    const c10::ScalarType dtype = tensor.scalar_type();
    if (!c10::isFloatingType(dtype) && !c10::isComplexType(dtype)) {
      return tensor;
    }
    return tensor.detach().clone().requires_grad_(true);
  });
  for (const int position : constants) {
    if (static_cast<size_t>(position) < args.size()) {
      changed[position] = args[position];
    }
  }
  return changed;
}

Stack out_arguments(const BoxedOp& op, const BoxedOp& out, const Stack& args, const std::vector<at::Tensor>& outs) {
  Stack all;
  size_t next = 0;
  for (const c10::Argument& argument : out.schema().arguments()) {
    const auto from = op.position(argument.name());
    const bool is_out = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
    if (is_out) {
      all.emplace_back(outs.at(next++));
    } else if (from.has_value()) {
      all.push_back(args[*from]);
    } else {
      all.push_back(argument.default_value().has_value() ? *argument.default_value() : c10::IValue());
    }
  }
  return all;
}

Stack with_copies(const Stack& args) {
  return with_tensors(args, [](const at::Tensor& tensor) {
    // Not clone(): expanded and overlapping inputs become plain ones, and strides stay as they are otherwise.
    for (int64_t d = 0; d < tensor.dim(); ++d) {
      if (tensor.stride(d) == 0 && tensor.size(d) > 1) {
        return tensor.clone();
      }
    }
    return with_strides(tensor, tensor.strides().vec());
  });
}

} // namespace test
