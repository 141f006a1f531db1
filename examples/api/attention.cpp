// Attention with a score function and a mask of one's own, through the C++
// interface: compiled while the program runs, looked at, and launched again and
// again. On a GPU if there is one, otherwise on the host.

#include "examples/api/memory.h"
#include "tilec/tilec.h"
#include <cmath>
#include <vector>

static const char *const source = R"(
fn alibi(s: f32, q: i64, kv: i64) -> f32 { s - 0.125 * f32(q - kv) }
fn plain(s: f32, q: i64, kv: i64) -> f32 { s }

kernel attend<score: fn(f32, i64, i64) -> f32>(
    Q: f32[H, S, D], K: f32[H, S, D], V: f32[H, S, D], O: out f32[H, S, D]) {
  grid h in H, i in tile(S)
  O[h, i] = attention(Q[h, i], K[h], V[h], mask = |q, kv| q >= kv,
                      score = |s, q, kv| score(s, q, kv))
}
)";

static constexpr int H = 2, S = 50, D = 16;

/// The same in plain loops.
static double reference(const std::vector<float> &q,
                        const std::vector<float> &k,
                        const std::vector<float> &v, int h, int i, int d) {
  double sum = 0, weighted = 0;
  for (int j = 0; j <= i; ++j) {
    double dot = 0;
    for (int e = 0; e < D; ++e)
      dot += double(q[(h * S + i) * D + e]) * k[(h * S + j) * D + e];
    double weight = std::exp(dot / std::sqrt(double(D)) - 0.125 * (i - j));
    sum += weight;
    weighted += weight * v[(h * S + j) * D + d];
  }
  return weighted / sum;
}

static int fail(const tilec::Error &error) {
  std::fputs(error.message().c_str(), stderr);
  return 1;
}

int main() {
  tilec::Options options;
  if (!open_gpu())
    options.target = "cpu"; // Empty is the GPU that is there.
  auto module = tilec::compileString("attend.tile", source, options);
  if (!module)
    return fail(module.error());
  auto attend = module->kernel("attend", {{"score", "alibi"}});
  if (!attend)
    return fail(attend.error());
  for (const tilec::Parameter &parameter : attend->parameters()) {
    std::printf("%s%s[", parameter.name.c_str(),
                parameter.access == tilec::Access::Out ? ": out " : ": ");
    for (const std::string &axis : parameter.axes)
      std::printf(" %s", axis.c_str());
    std::puts(" ]");
  }

  std::vector<float> q(size_t(H) * S * D), k(q), v(q), o(q);
  for (size_t i = 0; i < q.size(); ++i) {
    q[i] = std::sin(0.37f * float(i));
    k[i] = std::cos(0.11f * float(i));
    v[i] = std::sin(0.05f * float(i));
  }
  size_t bytes = q.size() * sizeof(float);
  auto tensor = [&](std::vector<float> &array) {
    return tilec::TensorView(to_device(array.data(), bytes), tilec::DType::F32,
                             {H, S, D});
  };
  tilec::TensorView qView = tensor(q), kView = tensor(k), vView = tensor(v),
                    oView = tensor(o);

  // A launch would compile too; this tells what it takes and makes.
  auto code = attend->compile(qView, kView, vView, oView);
  if (!code)
    return fail(code.error());
  std::printf("target %s, %u registers, compiled for\n%s",
              code->target().c_str(), code->registers(),
              code->specialization().c_str());

  auto ready = attend->prepare(qView, kView, vView, oView);
  if (!ready)
    return fail(ready.error());
  for (int i = 0; i < 3; ++i)
    if (tilec::Error error = ready->run(nullptr))
      return fail(error);
  to_host(o.data(), oView.data, bytes);

  int wrong = 0;
  for (int h = 0; h < H; ++h)
    for (int i = 0; i < S; ++i)
      for (int d = 0; d < D; ++d)
        wrong += !(std::abs(o[(h * S + i) * D + d] -
                            reference(q, k, v, h, i, d)) < 1e-4);
  std::printf("attend on the %s: %d of %zu elements wrong\n",
              has_gpu ? "GPU" : "cpu", wrong, o.size());
  return wrong != 0;
}
