#pragma once

#include <aten/core/enum_tag.h>
