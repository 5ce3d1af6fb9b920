// A LoopTask loop inside of GLib's main loop, as a source with a descriptor and a ready time in microseconds.
#include <looptask/looptask.hpp>

#include <glib-unix.h>
#include <glib.h>

#include "nested/work.hpp"

namespace {

struct nested_source {
  GSource base;  // first, as GLib wants it
  looptask::loop* inner;
  nested::work* jobs;
  GMainLoop* outer;
};

void wait_for_deadline(nested_source& of) {
  const auto next = of.inner->next_deadline();
  if (!next) return g_source_set_ready_time(&of.base, -1);
  g_source_set_ready_time(&of.base, std::chrono::ceil<std::chrono::microseconds>(next->time_since_epoch()).count());
}

gboolean turn(GSource* source, GSourceFunc, gpointer) {
  auto& of = *reinterpret_cast<nested_source*>(source);
  of.inner->poll();
  if (of.jobs->done()) g_main_loop_quit(of.outer);
  wait_for_deadline(of);
  return G_SOURCE_CONTINUE;
}

}  // namespace

int main() {
  looptask::real_host host;
  looptask::loop inner(host);
  nested::work jobs(inner);
  GMainLoop* const outer = g_main_loop_new(nullptr, FALSE);
  GSourceFuncs functions{};
  functions.dispatch = &turn;  // a descriptor or the ready time is what makes it due
  GSource* const source = g_source_new(&functions, sizeof(nested_source));
  auto& of = *reinterpret_cast<nested_source*>(source);
  of.inner = &inner;
  of.jobs = &jobs;
  of.outer = outer;
  g_source_add_unix_fd(source, inner.native_fd(), G_IO_IN);
  g_source_attach(source, nullptr);
  wait_for_deadline(of);
  g_main_loop_run(outer);
  g_source_destroy(source);
  g_source_unref(source);
  g_main_loop_unref(outer);
}
