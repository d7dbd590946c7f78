# Builds the gateway's image: docker build --tag switchyard .
# docs/operating.md says how to run it.

FROM node:26-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:26-slim
ENV NODE_ENV=production SERVICE_HOST=0.0.0.0 SERVICE_DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json /app/service.yaml.example ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/bin/switchyard.js ./bin/
COPY --from=build /app/dist ./dist
RUN install --directory --owner=node --group=node --mode=0700 /data
USER node
VOLUME /data
EXPOSE 4200
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.SERVICE_PORT || 4200}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The flags are those of `npm start` in package.json. Node is the first process, so that SIGTERM reaches it.
ENTRYPOINT ["node", "--max-semi-space-size=32", "--min-semi-space-size=4", "--semi-space-growth-factor=1", "--heap-growing-percent=100", "--no-memory-reducer", "--max-inlined-bytecode-size-cumulative=2400", "bin/switchyard.js"]
CMD ["start"]
