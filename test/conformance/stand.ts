import { bareChain } from '../bare.ts'
import { startGateway, type TestGateway } from '../harness.ts'
import { startUpstream, type Upstream } from '../upstream/index.ts'
import { Cell } from './cell.ts'
import type { Departure, TestProvider } from './providers/provider.ts'
import type { ClientWire } from './wires/client.ts'

/** A gateway whose providers are all played, each on a port of its own. */
export interface Stand {
  readonly gateway: TestGateway
  /** A user's key, which clients of cells have. */
  readonly key: string
  upstream(provider: TestProvider): Upstream
  /** `userKey` is another user's. */
  cell(wire: ClientWire, provider: TestProvider, departure?: Departure, userKey?: string): Cell
  /** Every provider forgets what it was told and what it was asked. */
  reset(): void
  close(): Promise<void>
}

/** Starts it, with every module switched off but the one that looks after schemas. */
export async function startStand(providers: readonly TestProvider[]): Promise<Stand> {
  const upstreams = new Map<string, Upstream>()
  for (const { name, dialect } of providers) upstreams.set(name, await startUpstream({ wires: [dialect] }))
  const entries = providers.map(({ name, entry }) => [
    name,
    { base_url: upstreams.get(name)!.baseUrl(), api_key: 'sk-test', ...entry },
  ])
  const gateway = await startGateway({ config: { providers: Object.fromEntries(entries) } })
  await bareChain(gateway)
  await gateway.module('structuredshield', { enabled: true })
  const { key } = await gateway.signUp()
  return {
    gateway,
    key,
    upstream: ({ name }) => upstreams.get(name)!,
    cell(wire, provider, departure, userKey = key) {
      const upstream = upstreams.get(provider.name)!
      return new Cell({
        wire,
        provider,
        client: wire.connect(gateway.url, userKey),
        gateway,
        upstream,
        departure,
      })
    },
    reset() {
      for (const upstream of upstreams.values()) upstream.reset()
    },
    async close() {
      await gateway.close()
      for (const upstream of upstreams.values()) await upstream.close()
    },
  }
}
