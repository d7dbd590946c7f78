import type { Agent } from 'undici'
import type { PostAnswer, PostOptions } from '../kernel/contract/context.ts'

/** A longer answer ends its connection. */
const dumpedBytes = 65_536

/** A post of a plugin, as it crosses to another thread. */
export interface PluginPost extends Omit<PostOptions, 'signal'> {
  readonly plugin: string
  /** The hosts that the plugin may reach. */
  readonly hosts: readonly string[]
  readonly url: string
}

/** Posts from this thread. Rejects with a TimeoutError when no answer has begun in time. */
export async function post(
  { url, body, headers, timeoutMs }: Pick<PluginPost, 'url' | 'body' | 'headers' | 'timeoutMs'>,
  { signal, dispatcher }: { readonly signal: AbortSignal; readonly dispatcher: Agent },
): Promise<PostAnswer> {
  const { request } = await import('undici')
  const ends = timeoutMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const answer = await request(url, {
    method: 'POST',
    body,
    dispatcher,
    signal: ends,
    ...(headers && { headers }),
  })
  // A short body is read, so that its connection serves again.
  answer.body.dump({ limit: dumpedBytes }).catch(() => {})
  return { status: answer.statusCode, headers: answer.headers }
}
