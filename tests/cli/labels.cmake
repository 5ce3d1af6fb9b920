set(labels real)
set(depends looptask)
