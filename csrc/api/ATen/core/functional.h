#pragma once

#include <aten/core/functional.h>
