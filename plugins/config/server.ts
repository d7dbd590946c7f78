import type { Config } from '#kernel'

/** What only service.yaml and the environment say, by dotted keys of service.yaml. A change takes a restart. */
export const serverOf = (config: Config): Readonly<Record<string, unknown>> => ({
  host: config.host,
  port: config.port,
  data_dir: config.dataDir,
  log_level: config.logLevel,
  'server.threads': config.server.threads,
  'server.trusted_proxies': config.server.trustedProxies,
  'server.cors_origins': config.server.corsOrigins,
  'server.body_limit': config.server.bodyLimit,
  'server.proxy_body_limit': config.server.proxyBodyLimit,
  'server.body_memory': config.server.bodyMemory,
  'server.request_timeout': config.server.requestTimeout,
  'storage.engine': config.storage.engine,
  'auth.open_signup': config.auth.openSignup,
  'auth.admin_proxy': config.auth.adminProxy,
  'plans.enforce': config.plans.enforce,
  'egress.allow': config.egress.allow,
})
