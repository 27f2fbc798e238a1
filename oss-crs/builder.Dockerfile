# Builds the target, pristine or patched: the framework's builder runs the CMD after it has applied a patch.
ARG target_base_image
FROM ${target_base_image}
COPY --from=libcrs . /opt/libCRS
RUN /opt/libCRS/install.sh
COPY oss-crs/build-target.sh /usr/local/bin/build-target.sh
CMD ["bash", "/usr/local/bin/build-target.sh"]
