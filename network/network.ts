import type { Agent, RequestInit, Response } from 'undici'
import type { PostAnswer, PostOptions } from '../kernel/contract/context.ts'
import type { Network } from '../kernel/permissions/outbound.ts'
import { denied } from '../kernel/permissions/permissions.ts'
import { HookFault } from '../kit/work/hook-fault.ts'
import type { Egress } from './egress.ts'
import { post } from './post.ts'
import type { PostingThread } from './posting-thread.ts'

/** Has plugins reach what `egress` lets them reach. Without a poster, posts are made from this thread. */
export const networkOf = (egress: Egress, poster?: Pick<PostingThread, 'post'>): Network => ({
  open(plugin, hosts, scope) {
    let agent: Agent | undefined
    const agentOf = (): Agent => {
      if (!agent) {
        const made = egress.agent(plugin, hosts)
        scope.own(() => made.destroy())
        agent = made
      }
      return agent
    }
    /** Has a request made where the plugin may go, until the plugin does. */
    async function reach<T>(
      input: string | URL,
      signal: AbortSignal | null | undefined,
      ask: (url: string, signal: AbortSignal) => Promise<T>,
    ): Promise<T> {
      const url = new URL(input)
      if (hosts.length === 0) throw denied(plugin, 'fetches', `network:${url.hostname}`)
      if (!/^https?:$/.test(url.protocol))
        throw new HookFault(`${plugin} fetches by ${url.protocol} and not by http`)
      const ends = signal ? AbortSignal.any([signal, scope.signal]) : scope.signal
      try {
        return await ask(url.href, ends)
      } catch (error) {
        throw ends.aborted ? ends.reason : causeOf(error)
      }
    }
    return {
      fetch: (input: string | URL, init: RequestInit = {}): Promise<Response> =>
        reach(input, init.signal, async (url, signal) => {
          const { fetch } = await import('undici')
          return fetch(url, { ...init, signal, dispatcher: agentOf() })
        }),
      post: (input: string | URL, { signal: until, ...sent }: PostOptions): Promise<PostAnswer> =>
        reach(input, until, (url, signal) =>
          poster
            ? poster.post({ plugin, hosts, url, ...sent }, signal)
            : post({ url, ...sent }, { signal, dispatcher: agentOf() }),
        ),
    }
  },
})

/** The reason in the kernel's words, where that is why a request failed. */
function causeOf(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof HookFault) return cause
  return error
}
