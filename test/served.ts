import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Accounts } from '../accounts/accounts.ts'
import { createLog } from '../gateway/log.ts'
import { Events } from '../kernel/events.ts'
import { Callers } from '../kernel/http/caller.ts'
import { FailedKeys } from '../kernel/http/failed-keys.ts'
import { createManagement, type ManagementParts } from '../kernel/http/management.ts'
import { Generation } from '../kernel/plugin/generation.ts'
import { Instance } from '../kernel/plugin/instance.ts'
import { oneThread } from '../kernel/plugin/relay.ts'
import { Refusals } from '../kernel/refusals.ts'
import type { LiveRoute, Route } from '../kernel/route.ts'
import { IpRanges } from '../kit/http/ip-ranges.ts'
import { openLevel } from '../storage/level.ts'

/** Routes of a plugin, over real HTTP, without the rest of a gateway. */
export interface Served {
  readonly url: string
  readonly generation: Generation
  readonly accounts: Accounts
  readonly logged: readonly string[]
  close(): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: routes of every shape
export type AnyRoute = Route<any, any, any, any>

/** A route as it is written in a plugin, its types checked. */
export const aRoute = <P, Q, B, R>(route: Route<P, Q, B, R>): AnyRoute => route

/** Serves the routes of some plugins, in the order in which they are named. */
export async function serveRoutes(
  plugins: Readonly<Record<string, readonly AnyRoute[]>>,
  options: Partial<ManagementParts> = {},
): Promise<Served> {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-test-'))
  const engine = await openLevel(path.join(folder, 'db'))
  const instances = Object.entries(plugins).map(([plugin, routes]) => {
    const instance = new Instance(plugin)
    for (const route of routes) instance.routes.push({ ...route, plugin } as unknown as LiveRoute)
    return instance
  })
  const generation = new Generation(1, instances, [], new Map(), () => {})
  const logged: string[] = []
  const log = createLog({ level: 'info', stream: { write: (line: string) => void logged.push(line) } })
  const accounts = await Accounts.open(engine)
  const failed = new FailedKeys({ limit: 20, relay: oneThread, refusals: new Refusals(), log })
  const app = createManagement({
    callers: new Callers(accounts, failed),
    events: new Events({ failed() {} }),
    log,
    generation: () => generation,
    plugin: () => undefined,
    trustedProxies: new IpRanges([]),
    corsOrigins: [],
    bodyLimits: { bytes: 1024, depth: 16, nodes: 1000 },
    adminRpm: 1_000_000,
    ...options,
  })
  const server = createServer(app.callback()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    generation,
    accounts,
    logged,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await engine.close()
      await rm(folder, { recursive: true })
    },
  }
}
