import OpenAI from 'openai'
import { beforeEach } from 'vitest'
import { bareChain } from './bare.ts'
import { type GatewayOptions, startGateway, type TestGateway } from './harness.ts'
import { shared } from './shared.ts'
import { startUpstream, type Upstream, type UpstreamOptions, type Wire } from './upstream/index.ts'

/** A provider that is played, a gateway in front of it with every module off, and a user's client. */
export interface Played {
  readonly upstream: Upstream
  readonly gateway: TestGateway
  readonly client: OpenAI
  readonly userKey: string
  close(): Promise<void>
}

/** Starts all three; `settings` say what the gateway is started with, given the provider that is played. */
export async function startPlayed(
  options: UpstreamOptions,
  settings: (upstream: Upstream) => GatewayOptions,
): Promise<Played> {
  const upstream = await startUpstream(options)
  const gateway = await startGateway(settings(upstream))
  await bareChain(gateway)
  const userKey = (await gateway.signUp()).key
  return {
    upstream,
    gateway,
    client: new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: userKey, maxRetries: 0 }),
    userKey,
    async close() {
      await gateway.close()
      await upstream.close()
    },
  }
}

/** One provider that is played, shared by the tests of a file; each finds it as it was at first. `entry` configures it. */
export function sharedProvider(
  name: string,
  wire: Wire,
  entry: Readonly<Record<string, unknown>> = {},
): Played {
  const apiKey = `key-of-${name}`
  const played = shared(() =>
    startPlayed({ wires: [wire], apiKey }, ({ baseUrl }) => ({
      config: { providers: { [name]: { base_url: baseUrl(), api_key: apiKey, ...entry } } },
    })),
  )
  beforeEach(() => played.upstream.reset())
  return played
}
