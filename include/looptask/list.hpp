#pragma once
// An intrusive list: the links lie in the elements, nothing is allocated, an element leaves in O(1) and leaves by itself when
// it is destroyed. An element that sits in several lists at once derives from list_node once for each, with a tag of its own.
// Not thread-safe.
//
//   struct job : list_node<> { int n; };
//   list<job> waiting;
//   job one;
//   waiting.push_back(one);
//   while (job* next = waiting.pop_front()) run(*next);
#include <looptask/assert.hpp>

namespace looptask {

template <class T, class Tag>
class list;

template <class Tag = void>
class list_node {
 public:
  list_node() noexcept = default;
  list_node(const list_node&) = delete;
  list_node& operator=(const list_node&) = delete;
  ~list_node() { unlink(); }

  bool linked() const noexcept { return next_ != nullptr; }
  void unlink() noexcept {  // does nothing if it is in no list
    if (next_ == nullptr) return;
    previous_->next_ = next_;
    next_->previous_ = previous_;
    next_ = previous_ = nullptr;
  }

 private:
  template <class T, class U>
  friend class list;

  void link_before(list_node& other) noexcept {
    LOOPTASK_ASSERT(next_ == nullptr, "element is in a list already");
    next_ = &other;
    previous_ = other.previous_;
    previous_->next_ = this;
    other.previous_ = this;
  }

  list_node* previous_ = nullptr;
  list_node* next_ = nullptr;
};

template <class T, class Tag = void>
class list {
 public:
  using node = list_node<Tag>;

  list() noexcept { head_.next_ = head_.previous_ = &head_; }
  list(const list&) = delete;
  list& operator=(const list&) = delete;
  ~list() {  // leaves the elements in no list
    while (pop_front() != nullptr) {
    }
    head_.next_ = head_.previous_ = nullptr;
  }

  bool empty() const noexcept { return head_.next_ == &head_; }
  T* front() noexcept { return empty() ? nullptr : element(head_.next_); }
  T* next(T& of) noexcept {  // nullptr after the last
    node* const after = static_cast<node&>(of).next_;
    return after == &head_ ? nullptr : element(after);
  }
  void push_back(T& what) noexcept { static_cast<node&>(what).link_before(head_); }
  T* pop_front() noexcept {
    T* const first = front();
    if (first != nullptr) static_cast<node*>(first)->unlink();
    return first;
  }
  T* pop_back() noexcept {
    if (empty()) return nullptr;
    T* const last = element(head_.previous_);
    static_cast<node*>(last)->unlink();
    return last;
  }
  // Moves all of `other` to the end of this one, in order.
  void splice_back(list& other) noexcept {
    if (other.empty()) return;
    node* const first = other.head_.next_;
    node* const last = other.head_.previous_;
    first->previous_ = head_.previous_;
    head_.previous_->next_ = first;
    last->next_ = &head_;
    head_.previous_ = last;
    other.head_.next_ = other.head_.previous_ = &other.head_;
  }
  // Moves all of `other` before the first of this one, in order.
  void splice_front(list& other) noexcept {
    other.splice_back(*this);
    splice_back(other);
  }

 private:
  static T* element(node* n) noexcept { return static_cast<T*>(n); }
  node head_;
};

}  // namespace looptask
