#pragma once
// For tests against a model: tasks that are started and cancelled one by one, and say in a word how they ended. The world and
// its loop live as long as they; at the end no frame may be left.
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <looptask/looptask.hpp>

#include "sim/world.hpp"

namespace looptask {

class trials {
 public:
  // Runs all that can go on, until all others wait.
  void run() { loop_->run(); }
  std::size_t start(task<std::string> work) {
    all_.push_back(std::make_unique<trial>(*loop_));
    trial& one = *all_.back();
    spawn(*loop_, one.scope, std::move(work), [&one](outcome<std::string> how) {
      try {
        one.how = std::move(how).get();
      } catch (const cancelled&) {
        one.how = "cancelled";
      } catch (const std::exception& e) {
        one.how = e.what();
      }
    });
    return all_.size() - 1;
  }
  void cancel(std::size_t which) { all_[which]->scope.cancel(); }
  void cancel_all() {
    for (auto& one : all_) one->scope.cancel();
  }
  std::size_t size() const { return all_.size(); }
  std::vector<std::string> outcomes() const {  // "waits" for who has not ended
    std::vector<std::string> words;
    for (const auto& one : all_) words.push_back(one->how);
    return words;
  }
  looptask::loop& loop() { return *loop_; }
  void end_of_loop() { loop_.reset(); }
  bool nothing_left() const { return memory_pool::live() == before_; }

 private:
  struct trial {
    explicit trial(looptask::loop& l) : scope(l) {}
    cancel_scope scope;
    std::string how = "waits";
  };

  std::int64_t before_ = memory_pool::live();
  std::vector<std::unique_ptr<trial>> all_;  // whose scopes are to be destroyed after the loop
  sim::world world_{1};
  std::unique_ptr<looptask::loop> loop_ = std::make_unique<looptask::loop>(world_);
};

}  // namespace looptask
