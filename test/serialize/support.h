// What the tests of files share.
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

#include "test/support/matchers.h"

namespace serialize_test {

using torch::IValue;
using test::EqualsTensor;
using torch::Tensor;

/// A file that another program wrote, in test/serialize/data.
std::string data_file(const std::string& name);

/// A folder of its own for each test, removed at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const {
    return path_ + "/" + name;
  }
  /// Names of all files in it, sorted.
  std::vector<std::string> files() const;

 private:
  std::string path_;
};

std::string read_bytes(const std::string& path);
void write_bytes(const std::string& path, const std::string& bytes);

/// 0, 1, 2, 3 of a dtype.
Tensor counting(torch::ScalarType dtype);
/// All dtypes that files know, under Python's names.
const std::vector<std::pair<std::string, torch::ScalarType>>& dtypes();

/// Same dtype, sizes, and bits of every element.
bool same_bits(const Tensor& a, const Tensor& b);

/// Entry of a dict with str keys; fails the test if there is none.
IValue at_key(const IValue& dict, const std::string& key);

} // namespace serialize_test
