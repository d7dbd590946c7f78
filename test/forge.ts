import { beforeEach } from 'vitest'
import { type GatewayOptions, startGateway } from './harness.ts'
import { shared } from './shared.ts'
import { type RecordedRequest, startUpstream } from './upstream/index.ts'

/** A gateway for the tests of a file, whose provider is the fake one, with what these do over and over. */
export function startForge(config: GatewayOptions['config'] = {}) {
  const parts = shared(async () => {
    const upstream = await startUpstream()
    const gateway = await startGateway({ upstream, config })
    return {
      upstream,
      gateway,
      async close() {
        await gateway.close()
        await upstream.close()
      },
    }
  })
  beforeEach(() => parts.upstream.reset())

  const api = (method: string, at: string, body?: unknown, key?: string) =>
    parts.gateway.api(method, at, body, key)

  const save = (slug: string, steps: readonly object[], more: object = {}, key?: string) =>
    api('POST', '/api/forge/workflows', { slug, name: slug, steps, ...more }, key)

  return {
    parts,
    api,
    save,
    /** Saves a workflow; throws when it is refused. */
    async make(slug: string, steps: readonly object[], more: object = {}, key?: string) {
      const { status, body } = await save(slug, steps, more, key)
      if (status !== 201) throw new Error(JSON.stringify(body))
      return body
    },
    run: (slug: string, input: unknown = {}, more: object = {}, key?: string) =>
      api('POST', `/api/forge/workflows/${slug}/run`, { input, ...more }, key),
    read: async (id: string, key?: string) =>
      (await api('GET', `/api/forge/runs/${id}`, undefined, key)).body,
    async steps(id: string, key?: string) {
      const { body } = await api('GET', `/api/forge/runs/${id}/steps?limit=500`, undefined, key)
      return body.steps
    },
    /** What the provider was last asked in each request. */
    said: () => parts.upstream.requests.map(questionOf),
  }
}

/** A step that asks the model of the tests. */
export const llm = (id: string, prompt: string, more: object = {}) => ({
  id,
  type: 'llm',
  model: 'gpt-4o-mini',
  prompt,
  ...more,
})

/** The last message of a request. */
export const questionOf = ({ body }: RecordedRequest): unknown =>
  (body as { messages: { content: unknown }[] }).messages.at(-1)!.content

/** The most requests that were open at a time. */
export const mostAtOnce = (requests: readonly RecordedRequest[]): number =>
  Math.max(
    ...requests.map(
      ({ receivedAt: at }) =>
        requests.filter(
          ({ receivedAt, closedAfterMs = Number.POSITIVE_INFINITY }) =>
            receivedAt <= at && at < receivedAt + closedAfterMs,
        ).length,
    ),
  )
