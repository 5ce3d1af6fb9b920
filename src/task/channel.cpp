#include <looptask/channel.hpp>

namespace looptask {

channel_closed::channel_closed() : std::runtime_error("the channel is closed: nothing can be sent any more") {}

}  // namespace looptask
