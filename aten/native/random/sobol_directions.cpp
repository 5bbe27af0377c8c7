// Places the table of Sobol sequences, a binary file beside this source, into the library.
#include <aten/native/random/sobol_directions.h>

// The assembler looks for the file in the compiler's include folders.
asm(R"(
  .pushsection .rodata
  .globl tensor_sobol_directions
  .hidden tensor_sobol_directions
  .type tensor_sobol_directions, %object
tensor_sobol_directions:
  .incbin "aten/native/random/sobol_directions.bin"
  .size tensor_sobol_directions, . - tensor_sobol_directions
  .popsection
)");
