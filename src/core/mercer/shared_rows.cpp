#include "mercer/shared_rows.hpp"

#include <algorithm>

namespace dualgap {

SharedRows::SharedRows(std::span<const std::uint32_t> class_of, double budget)
    : class_of_(class_of.begin(), class_of.end()), budget_(budget), parts_(class_of.size()) {
  for (std::size_t id = 0; id < class_of_.size(); ++id) {
    if (class_of_[id] >= classes_.size()) classes_.resize(class_of_[id] + std::size_t{1});
    classes_[class_of_[id]].push_back(static_cast<std::uint32_t>(id));
  }
  order_.resize(static_cast<Index>(class_of_.size()));
}

std::vector<SharedRows::Range> SharedRows::ranges(const Places& ids) const {
  std::vector<Range> found;
  for (std::size_t at = 0; at < ids.size();) {
    if (ids[at] >= class_of_.size()) return {};
    const Places& whole = classes_[class_of_[ids[at]]];
    if (ids.size() - at < whole.size() || !std::equal(whole.begin(), whole.end(), ids.begin() + at)) return {};
    found.push_back({static_cast<Index>(at), static_cast<Index>(at + whole.size())});
    at += whole.size();
  }
  return found;
}

double SharedRows::bytes_of(std::uint32_t id) const {
  return static_cast<double>(classes_[class_of_[id]].size() * sizeof(float));
}

bool SharedRows::read(std::uint32_t id, float* out) {
  const std::lock_guard lock(mutex_);
  if (!parts_[id]) return false;
  order_.use(static_cast<LastUsed::Number>(id));
  std::copy_n(parts_[id].get(), classes_[class_of_[id]].size(), out);
  ++tally_.taken;
  return true;
}

void SharedRows::keep(std::uint32_t id, const float* values) {
  const double bytes = bytes_of(id);
  const std::lock_guard lock(mutex_);
  ++tally_.made;
  if (parts_[id] || bytes > budget_) return;  // another thread made it at the same time
  while (bytes_ + bytes > budget_) {
    const LastUsed::Number oldest = order_.oldest();
    order_.remove(oldest);
    parts_[oldest].reset();
    bytes_ -= bytes_of(static_cast<std::uint32_t>(oldest));
  }
  const std::size_t size = classes_[class_of_[id]].size();
  parts_[id] = std::make_unique_for_overwrite<float[]>(size);
  std::copy_n(values, size, parts_[id].get());
  order_.add(static_cast<LastUsed::Number>(id));
  bytes_ += bytes;
  tally_.most_bytes = std::max(tally_.most_bytes, bytes_);
}

SharedRows::Tally SharedRows::tally() const {
  const std::lock_guard lock(mutex_);
  return tally_;
}

}  // namespace dualgap
