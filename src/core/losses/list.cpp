#include "losses/list.hpp"

namespace dualgap {

const std::vector<LossEntry>& loss_list() {
  static const std::vector<LossEntry> list = {
      {Hinge{}, "max(0, 1 - yz)", "", {}},
      {SquaredHinge{}, "max(0, 1 - yz)^2", "", {}},
      {SmoothedHinge{1.0}, "0, (1 - yz)^2 / (2 smoothing), 1 - yz - smoothing / 2", "smoothing", {0, infinity}},
      {Logistic{}, "log(1 + exp(-yz))", "", {}},
      {Squared{}, "(y - z)^2 / 2", "", {}},
      {EpsilonInsensitive{0.0}, "max(0, |y - z| - epsilon)", "epsilon", {-1e-300, infinity}},
      {SquaredEpsilonInsensitive{0.0}, "max(0, |y - z| - epsilon)^2", "epsilon", {-1e-300, infinity}},
      {Huber{1.0}, "(y - z)^2 / 2 or delta |y - z| - delta^2 / 2", "delta", {0, infinity}},
      {Pinball{0.5}, "quantile r for r = y - z > 0, (quantile - 1) r otherwise", "quantile", {0, 1}},
  };
  return list;
}

namespace {
template <class Loss>
AnyLoss with_parameter(double parameter) {
  if constexpr (sizeof(Loss) == sizeof(double))
    return Loss{parameter};
  else
    return Loss{};
}
}  // namespace

std::optional<AnyLoss> make_loss(const std::string& name, double parameter) {
  for (const LossEntry& entry : loss_list()) {
    const bool match = std::visit([&](const auto& loss) { return name == loss.name; }, entry.loss);
    if (match)
      return std::visit([&](const auto& loss) { return with_parameter<std::decay_t<decltype(loss)>>(parameter); },
                        entry.loss);
  }
  return std::nullopt;
}

}  // namespace dualgap
