// What is done with a source: it is compiled, printed, saved, loaded and run.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "test/fuzz/random.h"

namespace fuzz::sources {

/// Which of these goes on: programs may run without end, all else must not.
enum Phase : int { Compile, Print, Run, Save };

/// Compiles the source as functions or as methods of a module, and uses them. Throws what the library throws; what a
/// function throws while it runs does not keep the others from running.
void use_source(const std::string& source, Random& random, std::atomic<int>& phase);

} // namespace fuzz::sources
