#pragma once

#include <aten/Context.h>
