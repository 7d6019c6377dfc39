# The server with a migration more in each database, as a next release would have, for the check of a rolling update.
FROM localhost/duebook-server:test
USER root
COPY next.mjs /tmp/next.mjs
RUN node /tmp/next.mjs && rm /tmp/next.mjs
USER 10001:10001
