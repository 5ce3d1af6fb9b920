set(labels real)
set(depends looptask page-server fetch-page pipeline echo-server crawler watch-connections)
