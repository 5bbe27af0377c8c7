// What every backend for CPU tensors must do: run by each rank with its own.
#pragma once

#include <csrc/distributed/c10d/Backend.h>

#include <string>

namespace test {

/// Calls all collectives, with several dtypes and sizes, and returns the faults, or nothing.
std::string faults_of_collectives(c10d::Backend& backend);
/// The same for messages between two ranks.
std::string faults_of_messages(c10d::Backend& backend);

} // namespace test
