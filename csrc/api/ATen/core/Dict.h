#pragma once

#include <aten/core/Dict.h>
