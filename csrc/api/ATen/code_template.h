#pragma once

#include <aten/code_template.h>
