#pragma once

#include <aten/core/List.h>
