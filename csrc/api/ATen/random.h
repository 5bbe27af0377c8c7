#pragma once

#include <aten/random.h>
