#pragma once

#include <aten/core/Array.h>
