set(labels real)
