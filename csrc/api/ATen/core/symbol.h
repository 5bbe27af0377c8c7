#pragma once

#include <aten/core/symbol.h>
