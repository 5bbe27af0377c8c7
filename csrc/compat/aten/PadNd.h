#pragma once

namespace at {

/// The modes of `at::_pad_enum`, as numbers from 0 on.
enum class padding_mode { reflect, replicate, circular, constant };

} // namespace at
