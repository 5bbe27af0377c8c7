#pragma once

#include <aten/Functions.h>
