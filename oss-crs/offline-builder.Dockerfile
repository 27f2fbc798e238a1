# builder.Dockerfile without network: libCRS comes from the framework's own image.
ARG target_base_image
FROM ${target_base_image}
COPY --from=oss-crs-deps /nix/store /nix/store
COPY --from=oss-crs-deps /usr/local/bin/libCRS /usr/local/bin/libCRS
COPY --from=oss-crs-deps /usr/local/bin/rsync /usr/local/bin/rsync
COPY oss-crs/build-target.sh /usr/local/bin/build-target.sh
CMD ["bash", "/usr/local/bin/build-target.sh"]
