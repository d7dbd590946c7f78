import OpenAI from 'openai'
import { bareChain } from './bare.ts'
import { type GatewayOptions, startGateway, type TestGateway } from './harness.ts'
import { startUpstream, type Upstream, type UpstreamOptions } from './upstream/index.ts'

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
