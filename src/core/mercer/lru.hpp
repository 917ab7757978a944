// The order in which numbered things were last used: what a cache drives out first.
#pragma once

#include <vector>

#include "base/types.hpp"

namespace dualgap {

class LastUsed {
 public:
  using Number = std::int32_t;

  /// Numbers below `count` may be in the order; none is yet.
  void resize(Index count) { links_.resize(count); }
  Number oldest() const { return oldest_; }

  void add(Number s) {
    links_[s] = {newest_, -1};
    (newest_ >= 0 ? links_[newest_].newer : oldest_) = s;
    newest_ = s;
  }
  void remove(Number s) {
    const Link link = links_[s];
    (link.older >= 0 ? links_[link.older].newer : oldest_) = link.newer;
    (link.newer >= 0 ? links_[link.newer].older : newest_) = link.older;
  }
  void use(Number s) {
    if (s != newest_) remove(s), add(s);
  }

 private:
  struct Link {
    Number older = -1, newer = -1;
  };
  std::vector<Link> links_;
  Number oldest_ = -1, newest_ = -1;
};

}  // namespace dualgap
