set(labels real)
set(links service_test_parts SQLite::SQLite3)
set(depends looptask)
