set(labels sim)
