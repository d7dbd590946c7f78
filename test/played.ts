import OpenAI from 'openai'
import { bareChain } from './bare.ts'
import { startGateway, type TestGateway } from './harness.ts'
import { startUpstream, type Upstream, type UpstreamOptions } from './upstream/index.ts'

/** A provider that is played, a gateway in front of it with every module off, and a user's client. */
export interface Played {
  readonly upstream: Upstream
  readonly gateway: TestGateway
  readonly client: OpenAI
  readonly userKey: string
  close(): Promise<void>
}

/** Starts all three; `providers` are the gateway's, by name, given the played one. */
export async function startPlayed(
  options: UpstreamOptions,
  providers: (upstream: Upstream) => Readonly<Record<string, object>>,
): Promise<Played> {
  const upstream = await startUpstream(options)
  const gateway = await startGateway({ config: { providers: providers(upstream) } })
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
