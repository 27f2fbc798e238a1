# Needs no target: the builder and the runner have it, the source is mounted.
FROM patchwright:latest
# The folders of submissions belong to whoever started the framework.
USER root
ENTRYPOINT ["patchwright", "oss-crs"]
CMD []
