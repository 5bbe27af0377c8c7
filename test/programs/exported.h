// Programs that torch.export wrote, as the replay calls them.
#pragma once

#include <memory>
#include <string>

#include "loaders.h"

namespace programs {

std::unique_ptr<Loaded> load_exported(const std::string& file);

} // namespace programs
