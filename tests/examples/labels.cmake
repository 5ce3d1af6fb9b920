set(labels real)
set(depends looptask page-server fetch-page pipeline)
