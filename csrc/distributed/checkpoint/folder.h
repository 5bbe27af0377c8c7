// How a checkpoint's folder comes into being at once.
#pragma once

#include <string>

namespace torch::distributed::checkpoint {

/// Makes a hidden folder beside `folder` for what is being written, and removes those that crashed runs have left.
/// Throws if `folder` is there and no checkpoint.
std::string make_partial(const std::string& folder);
/// Puts the finished one in the place of `folder`. What else lay there stays.
void put_in_place(const std::string& partial, const std::string& folder);
/// Removes it, as far as possible.
void remove_partial(const std::string& partial) noexcept;

} // namespace torch::distributed::checkpoint
