// Runs a kernel of the standard library that was installed with tilec.

#include <cmath>
#include <tilec/tilec.h>

int main() {
  tilec::Options options;
  options.target = "cpu";
  auto module =
      tilec::compileString("consumer.tile", "import \"norms.tile\"\n", options);
  if (!module)
    return std::fputs(module.error().message().c_str(), stderr), 1;
  auto rmsnorm = module->kernel("rmsnorm");
  if (!rmsnorm)
    return std::fputs(rmsnorm.error().message().c_str(), stderr), 1;
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, w[3] = {1, 2, 3}, y[2][3];
  if (tilec::Error error =
          rmsnorm->launch(nullptr, tilec::TensorView(&x[0][0], {2, 3}),
                          tilec::TensorView(w, {3}), tilec::Default(),
                          tilec::TensorView(&y[0][0], {2, 3})))
    return std::fputs(error.message().c_str(), stderr), 1;
  for (int i = 0; i < 2; ++i) {
    double squares = 0;
    for (float value : x[i])
      squares += double(value) * value;
    for (int j = 0; j < 3; ++j)
      if (!(std::abs(y[i][j] - x[i][j] / std::sqrt(squares / 3 + 1e-6) * w[j]) <
            1e-5))
        return 1;
  }
  return 0;
}
