#pragma once

#include <aten/core/ivalue.h>

#include <string>
#include <unordered_map>
#include <vector>

namespace torch {

/// Something with a name that is called with values: a method, wherever it comes from.
class IMethod {
 public:
  using IValueList = std::vector<c10::IValue>;
  using IValueMap = std::unordered_map<std::string, c10::IValue>;

  IMethod() = default;
  IMethod(const IMethod&) = default;
  IMethod& operator=(const IMethod&) = default;
  IMethod(IMethod&&) noexcept = default;
  IMethod& operator=(IMethod&&) noexcept = default;
  virtual ~IMethod() = default;

  virtual c10::IValue operator()(IValueList args, const IValueMap& kwargs = IValueMap()) const = 0;
  virtual const std::string& name() const = 0;

  /// Asked for once.
  const std::vector<std::string>& getArgumentNames() const {
    if (!has_argument_names_) {
      setArgumentNames(argument_names_);
      has_argument_names_ = true;
    }
    return argument_names_;
  }

 protected:
  virtual void setArgumentNames(std::vector<std::string>& argument_names) const = 0;

 private:
  mutable bool has_argument_names_ = false;
  mutable std::vector<std::string> argument_names_;
};

} // namespace torch
