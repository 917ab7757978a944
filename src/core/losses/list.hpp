// The one list of losses. A new one: its header, its line here, its sentence in `describe`.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "losses/epsilon_insensitive.hpp"
#include "losses/hinge.hpp"
#include "losses/huber.hpp"
#include "losses/logistic.hpp"
#include "losses/pinball.hpp"
#include "losses/smoothed_hinge.hpp"
#include "losses/squared.hpp"
#include "losses/squared_epsilon_insensitive.hpp"
#include "losses/squared_hinge.hpp"

namespace dualgap {

using AnyLoss = std::variant<Hinge, SquaredHinge, SmoothedHinge, Logistic, Squared, EpsilonInsensitive,
                             SquaredEpsilonInsensitive, Huber, Pinball>;

/// What a user may want to know of a loss; `parameter` is its keyword, empty where it has none.
struct LossEntry {
  AnyLoss loss;  // with the parameter's default
  std::string formula, parameter;
  Interval range;  // of the parameter, open
};

const std::vector<LossEntry>& loss_list();

/// The loss by name with its parameter, or nothing where there is no such loss.
std::optional<AnyLoss> make_loss(const std::string& name, double parameter);

}  // namespace dualgap
