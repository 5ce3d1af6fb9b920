set(labels unit)
