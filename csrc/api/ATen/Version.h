#pragma once

#include <aten/Version.h>
