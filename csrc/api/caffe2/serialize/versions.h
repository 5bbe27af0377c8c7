#pragma once

#include <csrc/serialize/format_versions.h>
