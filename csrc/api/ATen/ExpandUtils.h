#pragma once

#include <aten/ExpandUtils.h>
