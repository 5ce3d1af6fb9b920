set(labels store)
