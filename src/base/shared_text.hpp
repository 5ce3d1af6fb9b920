#pragma once
// A text that is written once and then shared: copies share the bytes, whatever their number. For what may be large and goes
// to several readers, such as the output of a run. Values are immutable and may be shared by threads.
//
//   shared_text output = std::move(collected);  // takes the string over
//   record.output = output;                     // no byte is copied
//   use(output.view());
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace looptask {

class shared_text {
 public:
  shared_text() noexcept = default;
  shared_text(std::string text)  // NOLINT(google-explicit-constructor): it is a text
      : text_(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}
  shared_text(const char* text) : shared_text(std::string(text)) {}  // NOLINT(google-explicit-constructor)

  std::string_view view() const noexcept { return text_ == nullptr ? std::string_view() : std::string_view(*text_); }
  operator std::string_view() const noexcept { return view(); }  // NOLINT(google-explicit-constructor)
  bool empty() const noexcept { return text_ == nullptr; }
  std::size_t size() const noexcept { return view().size(); }
  void clear() noexcept { text_.reset(); }

  friend bool operator==(const shared_text& a, const shared_text& b) noexcept {
    return a.text_ == b.text_ || a.view() == b.view();
  }

 private:
  std::shared_ptr<const std::string> text_;  // nullptr: empty
};

}  // namespace looptask
