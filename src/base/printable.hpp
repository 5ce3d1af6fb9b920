#pragma once
// Text of others on its way to a terminal, a text log or a message: nothing in it can move the cursor, change colours, begin a
// line or turn the direction of writing. Pure; any thread.
//
//   printable("a\x1b[31m\n") == "a\\u001B[31m\\n"
//   in_quotes("say \"hi\"\n") == "\"say \\\"hi\\\"\\n\""
#include <string>
#include <string_view>

namespace looptask {

// One line without its end. Control characters (C0, DEL, C1), line and paragraph separators and marks of writing direction come
// out as \n, \t or \uNNNN, bytes that are no UTF-8 as \xNN; everything else as it is.
std::string printable(std::string_view line);

// The same in double quotes, with '"' and '\' behind a '\'; cut after 80 bytes at the border of a character, then "...".
std::string in_quotes(std::string_view text);

}  // namespace looptask
