# The image of Pilothouse: docker build -t pilothouse .
# It runs as user 1000 and writes only to /data, so its root file system can be read-only.
# tools/image-build.mjs runs the same steps in folders, without a container engine.

FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --no-audit --no-fund && find dist -name '*.map' -delete

FROM node:22-bookworm-slim
ARG VERSION=unknown
LABEL org.opencontainers.image.title="Pilothouse" \
      org.opencontainers.image.description="A control plane for ClickHouse-style database fleets" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
ENV NODE_ENV=production \
    PILOTHOUSE_HOST=0.0.0.0 \
    PILOTHOUSE_DATA=/data
WORKDIR /app
COPY --from=build /build/package.json /build/LICENSE ./
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/migrations ./migrations
COPY --from=build /build/docs/openapi.json ./docs/
COPY --from=build /build/dist ./dist
RUN install -d -o 1000 -g 1000 -m 700 /data
USER 1000:1000
VOLUME /data
# 4318 and 4317 are for OpenTelemetry data, with PILOTHOUSE_OTLP_PORT and PILOTHOUSE_OTLP_GRPC_PORT.
EXPOSE 8080 4318 4317
STOPSIGNAL SIGTERM
# The image has no curl. The port, the base path and TLS are those of the settings; the certificate is for another name than 127.0.0.1.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "const e = process.env; require(e.PILOTHOUSE_TLS_CERT ? 'https' : 'http').get({ host: '127.0.0.1', port: e.PILOTHOUSE_PORT || 8080, path: `${e.PILOTHOUSE_BASE_PATH || ''}/healthz`, rejectUnauthorized: false }, (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["serve"]
