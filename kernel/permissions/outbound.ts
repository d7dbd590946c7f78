import type { Agent, RequestInit, Response } from 'undici'
import type { Completion, ModelRequest } from '../call/canonical.ts'
import type { CallOptions, CompleteOptions, MadeCall, ModelCalls } from '../contract/calls.ts'
import type { PostAnswer, PostOptions } from '../contract/plugin.ts'
import { HookFault } from '../hook-fault.ts'
import type { Scope } from '../plugin/scope.ts'
import { Egress } from './egress.ts'
import { denied, type Grants } from './permissions.ts'
import { type Poster, post } from './post.ts'

/** The means by which plugins reach the outside. */
export interface Outbound {
  readonly egress: Egress
  /** Of the configuration, by name. */
  readonly secrets: Readonly<Record<string, string>>
  /** Without it, posts are made from this thread. */
  readonly poster?: Poster | undefined
}

/** A gateway without secrets; to the public internet only. */
export const noOutbound = (): Outbound => ({ egress: new Egress([]), secrets: {} })

/** The part of a context that leads outside, by what the plugin asked for. */
export function outboundOf(
  id: string,
  grants: Grants,
  scope: Scope,
  { egress, secrets, poster }: Outbound,
  models: () => ModelCalls | undefined,
) {
  const { hosts } = grants
  let agent: Agent | undefined
  const agentOf = (): Agent => {
    if (!agent) {
      const made = egress.agent(id, hosts)
      scope.own(() => made.destroy())
      agent = made
    }
    return agent
  }
  const budgetOf = (): number => {
    if (grants.usdPerDay === undefined) throw denied(id, 'calls a model', 'models:<USD a day>')
    return grants.usdPerDay
  }
  const modelsOf = (): ModelCalls => {
    const made = models()
    if (made) return made
    throw new HookFault(
      `${id} cannot call models: the plugin that makes the calls of plugins is not switched on`,
    )
  }
  /** Has a request made where the plugin may go, until the plugin does. */
  async function reach<T>(
    input: string | URL,
    signal: AbortSignal | null | undefined,
    ask: (url: string, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const url = new URL(input)
    if (hosts.length === 0) throw denied(id, 'fetches', `network:${url.hostname}`)
    if (!/^https?:$/.test(url.protocol))
      throw new HookFault(`${id} fetches by ${url.protocol} and not by http`)
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
          ? poster.post({ plugin: id, hosts, url, ...sent }, signal)
          : post({ url, ...sent }, { signal, dispatcher: agentOf() }),
      ),
    secret(name: string): string {
      if (!grants.secrets.has(name)) throw denied(id, `reads the secret ${name}`, `secrets:${name}`)
      const value = secrets[name]
      if (value === undefined)
        throw new HookFault(`${id} needs the secret ${name}: set secrets.${name} in service.yaml`)
      return value
    },
    async complete(request: ModelRequest, options: CompleteOptions = {}): Promise<Completion> {
      return modelsOf().complete(id, budgetOf(), request, options, scope.signal)
    },
    async completeStreamed(request: ModelRequest, options: CompleteOptions = {}) {
      return modelsOf().completeStreamed(id, budgetOf(), request, options, scope.signal)
    },
    call(request: ModelRequest, options: CallOptions): MadeCall {
      if (!grants.has('calls')) throw denied(id, 'makes a call for somebody', 'calls')
      return modelsOf().call(id, request, options, scope.signal)
    },
  }
}

/** The reason in the kernel's words, where that is why a request failed. */
function causeOf(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof HookFault) return cause
  return error
}
