set(labels store)
set(links ledger_writer_built SQLite::SQLite3)
