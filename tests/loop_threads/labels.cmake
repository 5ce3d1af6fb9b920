set(labels threads)
