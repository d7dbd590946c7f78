import type { z } from 'zod'
import { defaultLimits } from './circuit-limits.ts'
import { moduleEntry } from './entries.ts'
import {
  addressRange,
  duration,
  flag,
  hostOrRange,
  listOf,
  named,
  oneOf,
  origin,
  secret,
  section,
  size,
  text,
  whole,
} from './fields.ts'

const secretName = text().regex(/^[A-Z][A-Z0-9_]{0,63}$/, {
  error: 'expected a name of upper-case letters, digits and _',
})

const server = section({
  threads: whole(1, 64)
    .default(1)
    .describe('Number of threads that answer model calls. Each has the whole gateway and its own memory.'),
  trusted_proxies: listOf(addressRange()).default([]).describe('Proxies whose X-Forwarded-For is trusted.'),
  cors_origins: listOf(origin()).default([]).describe('Origins that may call the API from a browser.'),
  body_limit: size(1024)
    .prefault('10mb')
    .describe('Largest body of a management request; 64 KB of one that needs no key.'),
  proxy_body_limit: size(1024).prefault('32mb').describe('Largest body of a /v1 request.'),
  body_memory: size()
    .prefault('256mb')
    .describe(
      'Memory of each thread for bodies of more than 256 KB that are being received; beyond it the one that began first is refused.',
    ),
  request_timeout: duration(100)
    .prefault('5m')
    .describe('Time for a client to send a request, body included.'),
  body_depth: whole(8, 1_000).default(128).describe('Largest nesting of objects and lists in a body.'),
  body_nodes: whole(1_000, 10_000_000)
    .default(100_000)
    .describe('Largest number of values in a body; five times as many where texts may be sent as tokens.'),
})

const storage = section({
  engine: oneOf('level', 'postgres')
    .refine((engine) => engine === 'level', { error: 'postgres is not available yet: expected level' })
    .default('level')
    .describe('Engine of the store: level is embedded, in data_dir.'),
  url: secret().optional().describe('URL of the database, for engines that have one.'),
  min_free: size()
    .prefault('256mb')
    .describe('Free disk space below which the bodies of traces are not stored; 0 to store them always.'),
})

/** Everything that the kernel reads of service.yaml: the one source of types, defaults, checks and documentation. */
export const schema = section({
  host: text().default('127.0.0.1').describe('Address to listen on.'),
  port: whole(0, 65535).default(4200).describe('Port to listen on; 0 picks a free one.'),
  data_dir: text().default('./data').describe('The data folder.'),
  admin_key: secret().optional().describe('The admin key; if absent, the first start makes one.'),
  log_level: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent')
    .default('info')
    .describe('Lowest level of the messages to log.'),
  drain: duration().prefault('10s').describe('Time for running calls to end when the service stops.'),
  drain_delay: duration()
    .prefault('0s')
    .describe(
      'Time before that during which new calls are still answered while health checks report draining.',
    ),
  modules: named(moduleEntry).prefault({}).describe('Modules of the chain, by name.'),
  module_circuit: section({
    failures: whole(0, 1_000_000)
      .default(defaultLimits.failures)
      .describe('Failures of one hook within the window that trip its module; 0 for never.'),
    window: duration().prefault('60s').describe('Time within which these failures must occur.'),
    open: duration()
      .prefault('30s')
      .describe('Time that the module is left out before one call tries it again.'),
    budget: duration().prefault('2s').describe('Longest run of a hook that does not count as a failure.'),
    timeout: duration()
      .prefault('60s')
      .describe('Hook timeout; then the failure policy of the module decides about the call.'),
  })
    .prefault({})
    .describe('When a module that keeps failing is left out for a while.'),
  workers: section({
    memory: size(16 * 1024 * 1024)
      .prefault('128mb')
      .describe('Memory for the objects of one module; a worker that needs more is ended.'),
    hang: duration(100)
      .prefault('5s')
      .describe('Time without a sign of life after which a worker that has work is ended.'),
  })
    .prefault({})
    .describe('Modules that run in workers.'),
  plugins: section({
    packages: listOf(text()).default([]).describe('Installed packages to load as plugins.'),
    watch: flag()
      .default(false)
      .describe('Whether changes in plugin_dirs are loaded automatically, for development.'),
    setup_timeout: duration(100)
      .prefault('30s')
      .describe(
        'Time limit for importing a plugin, and for setting it up; built-in ones have at least 30 seconds.',
      ),
  })
    .prefault({})
    .describe('Plugins from outside; a list means packages.'),
  plugin_dirs: listOf(text()).default([]).describe('Folders with further plugins.'),
  storage: storage.prefault({}).describe('The store.'),
  server: server.prefault({}).describe('The HTTP server.'),
  auth: section({
    open_signup: flag().default(true).describe('Whether users may sign up without an admin key.'),
    admin_proxy: flag().default(true).describe('Whether an admin key may make /v1 calls.'),
    admin_rpm: whole(1, 1_000_000).default(120).describe('Management requests per minute and admin key.'),
    failed_keys_per_minute: whole(0, 1_000_000)
      .default(20)
      .describe('Failed keys per minute and address before further ones are refused; 0 for no limit.'),
    signup_per_hour: whole(0, 1_000_000)
      .default(20)
      .describe('Signups per hour and address; 0 for no limit. Signups by an admin do not count.'),
    keys_per_user: whole(0, 1_000_000).default(50).describe('Working keys per user; 0 for no limit.'),
  })
    .prefault({})
    .describe('Accounts, keys and their limits.'),
  plans: section({
    enforce: flag().default(false).describe('Whether the limits of plans apply.'),
  })
    .prefault({})
    .describe('Plans and tiers.'),
  license: section({
    key: secret().optional().describe('A license token.'),
    public_key: text().optional().describe('The Ed25519 public key that license tokens are checked against.'),
  })
    .prefault({})
    .describe('The license of an enforced installation.'),
  secrets: named(secret(), secretName)
    .prefault({})
    .describe('Secrets for plugins, by name. A plugin gets those that its manifest asks for.'),
  egress: section({
    allow: listOf(hostOrRange())
      .default([])
      .describe('Private hosts, addresses and ranges that plugins may reach.'),
  })
    .prefault({})
    .describe('Outbound requests of plugins.'),
  openapi: section({
    public: flag().default(false).describe('Whether GET /api/openapi.json can be read without a key.'),
  })
    .prefault({})
    .describe('The API description.'),
})

export type Settings = z.output<typeof schema>

/** The keys of service.yaml that are the kernel's own. All others are sections of plugins. */
export const kernelKeys: ReadonlySet<string> = new Set(Object.keys(schema.in.shape))

/** Whether a plugin checks the content at a path, so that it is kept as it is written. */
export const isFree = (path: readonly string[]) =>
  (path.length > 0 && !kernelKeys.has(path[0]!)) ||
  (path[0] === 'modules' && isCheckedByOwner(path[2] === 'bindings' ? path[4] : path[2]))

const isCheckedByOwner = (key: string | undefined) => key === 'config' || key === 'when'

/** The environment variables that stand for keys; they win over the file. */
export const environment: ReadonlyMap<string, readonly string[]> = new Map([
  ['SERVICE_HOST', ['host']],
  ['SERVICE_PORT', ['port']],
  ['SERVICE_DATA_DIR', ['data_dir']],
  ['SERVICE_ADMIN_KEY', ['admin_key']],
  ['SERVICE_LOG_LEVEL', ['log_level']],
  ['SERVICE_LICENSE_KEY', ['license', 'key']],
])
