// SPDX-License-Identifier: MIT
// See wait_chains.h.
#include "model/locks/wait_chains.h"

#include <algorithm>

#include "model/locks/lock_stats.h"

namespace penna {
namespace {

constexpr size_t kMostPast = 32;      // waits of a thread that are remembered, for the threads it wakes
constexpr size_t kMostUnplaced = 64;  // changes during one hold

}  // namespace

size_t WaitChains::KeyHash::operator()(const Key& key) const {
  const uint64_t rest = pair_key(key.next, static_cast<uint32_t>(key.kind) * 2 + key.is_cut);
  return MixHash{}(pair_key(key.object, key.stack) ^ MixHash{}(rest));
}

WaitChains::WaitChains(const HolderTracker& held)
    : held_(held),
      joined_(held.recording().threads().size(), kNoIndex),
      past_(held.recording().threads().size()),
      past_at_(held.recording().threads().size()) {
  links_.emplace_back();  // stands for what is beyond kMostChains
}
WaitChains::~WaitChains() = default;

// On the heap: a Flow must stay in place while flow_of() creates others (refresh() recurses).
WaitChains::Flow& WaitChains::flow_of(uint32_t object) {
  if (object >= flows_.size()) flows_.resize(held_.objects().size());
  if (!flows_[object]) flows_[object] = std::make_unique<Flow>();
  return *flows_[object];
}

WaitChains::Waker& WaitChains::waker_of(uint32_t object) {
  if (object >= wakers_.size()) wakers_.resize(held_.objects().size());
  return wakers_[object];
}

// Chains share their tails: a link is found by its object, stack, kind and next link. 0: there are too many, and it
// counts with all others beyond the limit.
uint32_t WaitChains::link_of(const Key& key, uint32_t waiter, uint32_t waiter_stack, uint32_t holder,
                             uint32_t holder_wait) {
  auto found = index_.find(key);
  if (found == index_.end()) {
    if (links_.size() > kMostChains) return 0;
    found = index_.try_emplace(key, static_cast<uint32_t>(links_.size())).first;
    ChainLink& link = links_.emplace_back();
    link.object = key.object;
    link.stack = key.stack;
    link.kind = key.kind;
    link.is_cut = key.is_cut;
    link.next = key.next;
    link.length = key.next == kNoIndex ? 1 : links_[key.next].length + 1;
    link.holder = holder;
    link.holder_wait_stack = holder_wait;
  }
  ChainLink& link = links_[found->second];
  if (link.waiter == kNoIndex) {
    link.waiter = waiter;
    link.waiter_stack = waiter_stack;
  }
  link.more_waiters |= waiter != kNoIndex && waiter != link.waiter;
  link.more_holders |= holder != kNoIndex && holder != link.holder;
  return found->second;
}

// Called after the tracker has applied the step. Ends of waits come before changes of holders: until then, time was
// spent in the old chain.
void WaitChains::operator()(const Event& event, const LockStep& step) {
  const LockAction action = step.read.action;
  if (action == LockAction::kNone) return;
  if (step.dropped.is_open()) end_wait(event.thread, step.dropped, event.time, PENNA_WAIT_ERROR, false);
  if (action == LockAction::kRequested) begin_wait(event, step);
  if (step.asked.is_open()) {
    end_wait(event.thread, step.asked, event.time, step.read.end, true, step.mutex);
  } else if (action == LockAction::kWaited || action == LockAction::kConditionWaited) {
    end_without_request(event, step);
  }
  if (action == LockAction::kReleased && step.read.stack != 0 && step.released) place(step, event.time);
  if (action == LockAction::kWoke ||
      (action == LockAction::kReleased && (step.released || !knows_holder(step.read.sync))))
    woke(event, step);
  if (step.acquired || step.released || action == LockAction::kGone)
    holder_changed(step.mutex != kNoIndex ? step.mutex : step.object, event.time);
}

void WaitChains::woke(const Event& event, const LockStep& step) {
  Waker& waker = waker_of(step.object);
  waker = {event.thread, step.read.stack != 0 ? step.read.stack : step.hold.stack, step.hold.stack, step.hold.since,
           event.time};
  if (step.read.action != LockAction::kReleased || !step.released) return;
  if (const auto found = releases_.find(step.object); found != releases_.end()) found.value().add(waker);
}

// All waiters of the object were in its chain until now: time is added when something changes, never by polling.
void WaitChains::settle(Flow& flow, uint64_t time) {
  if (!flow.waiters.empty() && time > flow.since && flow.link != kNoIndex) {
    const uint64_t passed = (time - flow.since) * flow.waiters.size();
    ChainLink& link = links_[flow.link];
    link.time += passed;
    wait_time_ += passed;
    if (link.kind == LinkKind::kHeld || link.kind == LinkKind::kReleased) {
      flow.held_link = flow.link;
      flow.held_until = time;
    }
    if (Unplaced* part = unplaced_of(flow)) part->time += passed;
  }
  flow.since = std::max(flow.since, time);
}

// Where a hold's stack is not known yet: time charged to it can be moved once the unlock has the stack. Null if the
// stack is known, or if too much has changed.
WaitChains::Unplaced* WaitChains::unplaced_of(Flow& flow) {
  const ChainLink& link = links_[flow.link];
  if (link.kind != LinkKind::kHeld || link.stack != 0) return nullptr;
  if (flow.unplaced.empty() || flow.unplaced.back().link != flow.link) {
    if (flow.unplaced.size() == kMostUnplaced) return nullptr;
    flow.unplaced.push_back({flow.link, 0, 0});
  }
  return &flow.unplaced.back();
}

void WaitChains::count_time(Flow& flow) {
  ++links_[flow.link].times;
  if (Unplaced* part = unplaced_of(flow)) ++part->times;
}

// The chain of the object's waiters now: its holder, and what that thread itself waits for.
uint32_t WaitChains::holder_link(uint32_t object, Flow& flow) {
  const LockHold hold = held_.holder(object);
  flow.depends = kNoIndex;
  const uint32_t waiter = flow.waiters[0], waiter_stack = held_.wait_of(waiter).stack;
  if (hold.thread == kNoIndex)
    return link_of(
        {object, 0, kNoIndex, held_.owner_is_elsewhere(waiter) ? LinkKind::kUnknownHolder : LinkKind::kFree, false},
        waiter, waiter_stack, kNoIndex, 0);
  const OpenWait& wait = held_.wait_of(hold.thread);
  uint32_t next = kNoIndex, wait_stack = 0;
  bool is_cut = false;
  if (wait.is_open()) {
    wait_stack = wait.stack;
    if (knows_holder(wait.sync)) {
      flow.depends = wait.object;
      next = flow_of(wait.object).link;
    } else {
      next = link_of({wait.object, 0, kNoIndex, LinkKind::kNotWoken, false}, hold.thread, wait.stack, kNoIndex, 0);
    }
    is_cut = next != kNoIndex && links_[next].length >= kMostLinks;
    if (is_cut) next = kNoIndex;
  }
  const uint32_t link =
      link_of({object, hold.stack, next, LinkKind::kHeld, is_cut}, waiter, waiter_stack, hold.thread, wait_stack);
  if (links_[link].holder == hold.thread && links_[link].holder_stack == 0)
    links_[link].holder_stack = hold.holder_stack;
  return link;
}

// The object's chain may have changed: settles the time until now, finds the new chain, and does the same for all
// objects whose holders wait for this one.
void WaitChains::refresh(uint32_t object, uint64_t time, uint32_t depth) {
  Flow& flow = flow_of(object);
  settle(flow, time);
  const uint32_t before = flow.depends, link_before = flow.link;
  flow.link = flow.waiters.empty() ? kNoIndex : holder_link(object, flow);
  if (flow.waiters.empty()) flow.depends = kNoIndex;
  if (before != flow.depends) {
    if (before != kNoIndex) std::erase(flow_of(before).behind, object);
    if (flow.depends != kNoIndex) flow_of(flow.depends).behind.push_back(object);
  }
  if (flow.link == link_before) return;
  if (flow.link == kNoIndex) return;
  links_[flow.link].more_waiters |= flow.waiters.size() > 1;
  count_time(flow);
  if (depth == kMostLinks) return;
  // In a deadlock this recursion returns to its start: hence the depth. By index: the vector may grow.
  for (size_t i = 0; i < flow.behind.size(); ++i) refresh(flow.behind[i], time, depth + 1);
}

void WaitChains::holder_changed(uint32_t object, uint64_t time) {
  if (object >= flows_.size() || !flows_[object]) return;
  flows_[object]->unplaced.clear();
  if (!flows_[object]->waiters.empty()) refresh(object, time, 0);
}

// The thread began or ended a wait: threads that wait for it are in another chain.
void WaitChains::thread_changed(uint32_t thread, uint64_t time) {
  const auto refresh_contended = [&](uint32_t object) {
    if (object < flows_.size() && flows_[object] && !flows_[object]->waiters.empty()) refresh(object, time, 0);
  };
  for (const uint32_t object : held_.held_by(thread)) refresh_contended(object);
  if (joined_[thread] != kNoIndex) refresh_contended(joined_[thread]);
}

void WaitChains::begin_wait(const Event& event, const LockStep& step) {
  ++waits_;
  if (knows_holder(step.read.sync)) {
    Flow& flow = flow_of(step.object);
    settle(flow, event.time);
    flow.waiters.push_back(event.thread);
    flow.since = event.time;
    const uint32_t before = flow.link;
    refresh(step.object, event.time, 0);
    if (flow.link == before) links_[flow.link].more_waiters |= links_[flow.link].waiter != event.thread;
    if (step.read.sync == PENNA_SYNC_JOIN)
      if (const LockHold joined = held_.holder(step.object); joined.thread != kNoIndex)
        joined_[joined.thread] = step.object;
  }
  thread_changed(event.thread, event.time);
}

void WaitChains::end_wait(uint32_t thread, const OpenWait& wait, uint64_t time, uint32_t end, bool is_over,
                          uint32_t mutex) {
  if (!knows_holder(wait.sync)) {
    end_woken(thread, wait, time, end, is_over, mutex);
  } else {
    Flow& flow = flow_of(wait.object);
    settle(flow, time);
    const uint32_t link = flow.held_link != kNoIndex && flow.held_until > wait.begin ? flow.held_link : flow.link;
    if (const auto me = std::find(flow.waiters.begin(), flow.waiters.end(), thread); me != flow.waiters.end()) {
      *me = flow.waiters.back();
      flow.waiters.pop_back();
    }
    refresh(wait.object, time, 0);
    if (link != kNoIndex) remember(thread, wait.begin, time, link);
  }
  thread_changed(thread, time);
}

// Each thread that had the mutex since then is charged its part, and the gaps are charged to no thread. The first
// holder may have been dropped from the ring.
void WaitChains::charge_retaken(uint32_t thread, const OpenWait& wait, uint64_t woken, uint64_t time, uint32_t mutex) {
  Releases& releases = releases_[mutex];
  releases.begin(waker_of(mutex));
  uint64_t passed = woken, longest_time = 0;
  uint32_t longest = kNoIndex;
  const auto charge = [&](const Waker& holder, LinkKind kind, uint64_t until) {
    if (until <= passed) return;
    const uint32_t stack = holder.taken != 0 ? holder.taken : holder.stack;
    const uint32_t link = link_of({mutex, stack, kNoIndex, kind, false}, thread, wait.stack, holder.thread, 0);
    links_[link].time += until - passed;
    ++links_[link].times;
    if (until - passed > longest_time) longest = link;
    longest_time = std::max(longest_time, until - passed);
    passed = until;
  };
  bool is_known = false, is_after = false;  // the holder at the time of the wake-up; one has been counted
  for (size_t i = 0; i < releases.size(); ++i) {
    const Waker& one = releases[i];
    if (one.time > time) break;
    is_known |= one.time <= woken || one.since <= woken;
    if (one.time <= woken) continue;
    if (is_known || is_after) charge({}, LinkKind::kFree, one.since);
    const bool is_released = one.taken == 0 && one.stack != 0;
    charge(one, is_released ? LinkKind::kReleased : LinkKind::kHeld, one.time);
    is_after = true;
  }
  charge({}, LinkKind::kFree, time);
  if (!is_known && releases.is_full()) releases.grow();
  wait_time_ += time - woken;
  remember(thread, woken, time, longest);
}

// Since it was woken the thread may have waited for its condition's mutex: charges that to the mutex's holders. Returns
// when the wait for the condition ended.
uint64_t WaitChains::end_retaken(uint32_t thread, const OpenWait& wait, uint64_t woken, uint64_t time, uint32_t mutex) {
  const Waker release = mutex == kNoIndex ? Waker{} : waker_of(mutex);
  if (release.thread == kNoIndex || release.thread == thread || !mutex_was_held(woken, release.time, time)) return time;
  charge_retaken(thread, wait, woken, time, mutex);
  return woken;
}

// It was not known in advance who would wake it. What that thread did meanwhile: did it wait itself?
void WaitChains::end_woken(uint32_t thread, const OpenWait& wait, uint64_t time, uint32_t end, bool is_over,
                           uint32_t mutex) {
  const Waker waker = is_over ? waker_of(wait.object) : Waker{};
  if (waker.thread != kNoIndex && waker.time >= wait.begin && waker.time < time && end == PENNA_WAIT_GOT)
    time = end_retaken(thread, wait, waker.time, time, mutex);
  const uint64_t blocked = duration(wait.begin, time);
  wait_time_ += blocked;
  const bool is_woken = waker.thread != kNoIndex && waker.time >= wait.begin && end != PENNA_WAIT_TIMEOUT;
  uint64_t left = blocked;
  LinkKind kind = LinkKind::kUnknownWaker;
  if (end == PENNA_WAIT_TIMEOUT && is_over) kind = LinkKind::kTimedOut;
  if (end == PENNA_WAIT_GOT && !is_over) kind = LinkKind::kNotWoken;
  uint32_t longest = kNoIndex;
  if (is_woken) kind = LinkKind::kWoken;
  if (is_woken && waker.thread != thread) {
    uint64_t most = 0;
    for (const PastWait& past : past_[waker.thread]) {
      const uint64_t from = std::max(past.begin, wait.begin), to = std::min(past.end, time);
      if (from >= to || links_[past.link].length >= kMostLinks) continue;
      const uint64_t overlap = std::min(to - from, left);
      const uint32_t link = link_of({wait.object, waker.stack, past.link, kind, false}, thread, wait.stack,
                                    waker.thread, links_[past.link].waiter_stack);
      links_[link].time += overlap;
      ++links_[link].times;
      left -= overlap;
      if (overlap > most) longest = link;
      most = std::max(most, overlap);
    }
  }
  if (left != 0 || longest == kNoIndex) {
    const uint32_t link = link_of({wait.object, is_woken ? waker.stack : 0, kNoIndex, kind, false}, thread, wait.stack,
                                  is_woken ? waker.thread : kNoIndex, 0);
    links_[link].time += left;
    ++links_[link].times;
    if (left > blocked / 2) longest = link;
  }
  // The last thread to arrive at a barrier waited for none.
  if (waker.thread != thread) remember(thread, wait.begin, time, longest);
}

// The wait has no request in the recording (LOCK_REQUEST is missing): all of it is charged to the lock's last holder.
void WaitChains::end_without_request(const Event& event, const LockStep& step) {
  waits_ += !step.resumed;
  const LockRecord& read = step.read;
  const OpenWait wait{step.object, read.action == LockAction::kConditionWaited ? PENNA_SYNC_CONDITION : read.sync,
                      read.stack, read.holder, std::min(read.begin, event.time)};
  if (read.begin > event.time) ++impossible_;
  if (!knows_holder(wait.sync)) return end_woken(event.thread, wait, event.time, read.end, true, step.mutex);
  const Waker waker = waker_of(step.object);
  const bool known = waker.thread != kNoIndex && waker.time >= wait.begin;
  const uint32_t link =
      link_of({step.object, known ? waker.stack : 0, kNoIndex, LinkKind::kHeld, false}, event.thread, read.stack,
              known ? waker.thread : held_.thread_of(event.process, read.holder, event.time), 0);
  links_[link].time += event.time - wait.begin;
  wait_time_ += event.time - wait.begin;
  ++links_[link].times;
  remember(event.thread, wait.begin, event.time, link);
}

// Where a lock was taken is unknown, but not where it was released: its waiters' time is moved there.
void WaitChains::place(const LockStep& step, uint64_t time) {
  if (step.hold.stack != 0 || step.object >= flows_.size() || !flows_[step.object]) return;
  Flow& flow = *flows_[step.object];
  settle(flow, time);
  for (const Unplaced& part : flow.unplaced) {
    const ChainLink from = links_[part.link];
    const uint32_t to = link_of({from.object, step.read.stack, from.next, LinkKind::kReleased, from.is_cut},
                                from.waiter, from.waiter_stack, from.holder, from.holder_wait_stack);
    links_[part.link].time -= part.time;
    links_[to].time += part.time;
    links_[part.link].times -= part.times;
    links_[to].times += part.times;
  }
  flow.unplaced.clear();
}

void WaitChains::remember(uint32_t thread, uint64_t begin, uint64_t end, uint32_t link) {
  std::vector<PastWait>& past = past_[thread];
  if (past.size() < kMostPast) return past.push_back({begin, end, link});
  past[past_at_[thread]] = {begin, end, link};
  past_at_[thread] = (past_at_[thread] + 1) % kMostPast;
}

uint64_t WaitChains::duration(uint64_t begin, uint64_t end) {
  if (begin <= end) return end - begin;
  ++impossible_;
  return 0;
}

void WaitChains::begin_range(uint64_t begin) {
  for (const auto& flow : flows_) {
    if (!flow) continue;
    settle(*flow, begin);
    flow->unplaced.clear();
  }
  for (ChainLink& link : links_) link.time = link.times = 0;
  waits_ = wait_time_ = impossible_ = 0;
  for (uint32_t thread = 0; thread < past_.size(); ++thread) waits_ += held_.wait_of(thread).is_open();
  for (const auto& flow : flows_)
    if (flow && flow->link != kNoIndex) count_time(*flow);
}

void WaitChains::finish(std::span<const uint64_t> ends) {
  for (uint32_t thread = 0; thread < past_.size(); ++thread) {
    const OpenWait& wait = held_.wait_of(thread);
    if (!wait.is_open()) continue;
    ++still_waiting_;
    if (!knows_holder(wait.sync))
      end_woken(thread, wait, std::max(ends[held_.recording().threads()[thread].process], wait.begin), PENNA_WAIT_GOT,
                false, kNoIndex);
  }
  for (uint32_t object = 0; object < flows_.size(); ++object)
    if (flows_[object]) settle(*flows_[object], ends[held_.objects()[object].process]);
}

std::vector<uint32_t> WaitChains::by_time() const {
  std::vector<uint32_t> result;
  for (uint32_t i = 0; i < links_.size(); ++i)
    if (links_[i].time != 0) result.push_back(i);
  std::stable_sort(result.begin(), result.end(),
                   [&](uint32_t a, uint32_t b) { return links_[a].time > links_[b].time; });
  return result;
}

}  // namespace penna
