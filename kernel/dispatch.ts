import type { Call } from './call.ts'
import { token } from './container.ts'
import type { Directory, Route } from './directory.ts'
import { badRequest, internalError, isUpstreamError, UpstreamError } from './errors.ts'
import type { Generation } from './generation.ts'
import type { Credential, Protocol, Provider, Target } from './provider.ts'
import type { ProviderKeys } from './provider-keys.ts'
import { type Reply, StreamReply } from './reply.ts'
import { type Chunk, hasContent } from './stream/chunk.ts'
import { collect, replyWith } from './stream/collect.ts'
import type { Attempt } from './trail.ts'
import type { Transport, UpstreamAnswer } from './transport.ts'

/** Chooses among the keys of a provider, and learns how they did. A plugin may offer one. */
export interface KeySelector {
  /** The keys worth trying for this call, best first; empty when all must rest. */
  order(provider: Provider, keys: readonly Credential[], call: Call): readonly Credential[]
  report(provider: Provider, key: Credential, error: UpstreamError | undefined): void
}

export const KeySelection = token<KeySelector>('key-selection')

/** Carries a call to a provider: the innermost part of every chain. */
export class Dispatcher {
  readonly #directory: Directory
  readonly #keys: ProviderKeys
  readonly #transport: Transport

  constructor(directory: Directory, keys: ProviderKeys, transport: Transport) {
    this.#directory = directory
    this.#keys = keys
    this.#transport = transport
  }

  /** Resolves with a whole answer, or with a stream whose first content is there. */
  dispatch = async (call: Call, generation: Generation): Promise<Reply> => {
    call.cancel.check()
    call.trail.request = call.request
    const { route, keys } = await this.#route(call)
    const protocol = generation.protocols.get(route.provider.protocol)
    if (!protocol) throw internalError(`The protocol ${route.provider.protocol} is not switched on.`)
    if (!protocol.wires[call.operation] || !route.provider.spec.operations.includes(call.operation)) {
      throw badRequest(`${route.provider.name} does not offer ${call.operation}.`, { param: 'model' })
    }
    const selector = generation.services.get(KeySelection) as KeySelector | undefined
    const candidates = candidatesOf(route.provider, keys, selector, call)
    for (const [i, key] of candidates.entries()) {
      const target: Target = { provider: route.provider, model: route.model, key }
      const attempt = begin(call, target)
      try {
        const reply = await this.#attempt(call, target, protocol, generation, attempt)
        if (key) selector?.report(route.provider, key, undefined)
        return reply
      } catch (error) {
        if (!isUpstreamError(error)) {
          attempt.latencyMs ??= performance.now() - attempt.startedAt
          throw error
        }
        fail(attempt, error)
        if (key) selector?.report(route.provider, key, error)
        if (i === candidates.length - 1 || !isKeyBound(error)) throw error
        attempt.reasonNext = 'another key'
      }
    }
    throw internalError('There was no key to try.')
  }

  /** The first provider that the caller can use, and the keys for it. */
  async #route(call: Call): Promise<{ route: Route; keys: readonly Credential[] }> {
    const routes = this.#directory.resolve(call.request.model, call.context.provider)
    const user = call.principal.userId
    for (const route of routes) {
      const found = user === undefined ? undefined : this.#keys.find(user, route.provider.name)
      const own = found instanceof Promise ? await found : found
      if (own) return { route, keys: [own] }
      if (route.provider.configured) return { route, keys: route.provider.keys }
    }
    const { provider } = routes[0]!
    throw new UpstreamError(
      'provider_error',
      `There is no key for ${provider.name}: ${keyAdvice(provider)}`,
      { provider: provider.name, model: call.request.model, fault: 'status', retryable: false },
    )
  }

  async #attempt(
    call: Call,
    target: Target,
    protocol: Protocol,
    generation: Generation,
    attempt: Attempt,
  ): Promise<Reply> {
    const headers: Record<string, string> = {}
    generation.chain.attempt(attempt, call, headers)
    if (protocol.answer) return this.#finish(await protocol.answer(call, target), protocol, target, attempt)
    const request = await protocol.encode(call, target)
    const answer = await this.#transport.send(
      { ...request, headers: { ...request.headers, ...headers } },
      target,
      call.cancel,
      call.timeouts,
    )
    attempt.status = answer.status
    if (answer.status >= 400) throw protocol.error(answer, await answer.whole(), target)
    if (!call.stream) {
      const reply = protocol.decode(answer, await answer.whole(), call, target)
      return this.#finish(reply, protocol, target, attempt)
    }
    if (
      !answer.headers['content-type']?.includes('event-stream') &&
      answer.headers['content-type']?.includes('json')
    ) {
      const whole = protocol.decode(answer, await answer.whole(), call, target)
      return this.#finish(replyWith(call, await collect(whole)), protocol, target, attempt)
    }
    const wire = protocol.wires[call.operation]!
    return this.#finish(
      new StreamReply(wire, chunksOf(answer, protocol, call, target)),
      protocol,
      target,
      attempt,
    )
  }

  /** Waits for a stream's first content, and sees to it that usage is noted whichever way it is reported. */
  async #finish(reply: Reply, protocol: Protocol, target: Target, attempt: Attempt): Promise<Reply> {
    if (reply.kind === 'whole') {
      attempt.latencyMs = performance.now() - attempt.startedAt
      attempt.status ??= 200
      account(attempt, protocol, target, () => reply.body.usage)
      return reply
    }
    return reply.through(await committed(noted(reply.chunks, protocol, target, attempt)))
  }
}

function candidatesOf(
  provider: Provider,
  keys: readonly Credential[],
  selector: KeySelector | undefined,
  call: Call,
): readonly (Credential | undefined)[] {
  if (keys.length === 0) return [undefined]
  const ordered = selector ? selector.order(provider, keys, call) : keys.slice(0, 1)
  return ordered.length > 0 ? ordered : keys.slice(0, 1)
}

/** Errors that say something about the key, not about the provider. */
const isKeyBound = ({ providerStatus }: UpstreamError): boolean =>
  providerStatus === 429 || providerStatus === 401 || providerStatus === 403

const keyAdvice = ({ name, spec }: Provider): string =>
  `set ${spec.key_env[0] ?? `providers.${name}.api_key`}, or store your own with PUT /api/auth/me/providers/${name}.`

function begin(call: Call, { provider, model, key }: Target): Attempt {
  const attempt: Attempt = {
    n: call.trail.attempts.length + 1,
    provider: provider.name,
    model,
    keyHint: key?.hint,
    startedAt: performance.now(),
    status: undefined,
    latencyMs: undefined,
    error: undefined,
    reasonNext: undefined,
    usage: undefined,
  }
  call.trail.attempts.push(attempt)
  return attempt
}

/** Has the attempt tell usage and cost from what is reported, once that is read. */
function account(attempt: Attempt, protocol: Protocol, target: Target, reported: () => unknown): void {
  const read =
    <T>(of: (value: unknown) => T) =>
    (): T | undefined => {
      const value = reported()
      return value ? of(value) : undefined
    }
  attempt.usage = read((value) => protocol.usage(value, target))
  if (protocol.costUsd) attempt.costUsd = read((value) => protocol.costUsd!(value, target))
}

function fail(attempt: Attempt, error: UpstreamError): void {
  attempt.latencyMs = performance.now() - attempt.startedAt
  attempt.status ??= error.providerStatus
  attempt.error = error
}

/** The chunks of an answer, batch by batch as its bytes come. Leaving it early closes the connection. */
async function* chunksOf(
  answer: UpstreamAnswer,
  protocol: Protocol,
  call: Call,
  target: Target,
): AsyncGenerator<readonly Chunk[]> {
  const decoder = protocol.decoder(answer, call, target)
  try {
    for (let batch = await answer.read(); batch; batch = await answer.read()) {
      const chunks =
        batch.length === 1 ? decoder.push(batch[0]!) : batch.flatMap((bytes) => decoder.push(bytes))
      if (chunks.length > 0) yield chunks
    }
    const rest = decoder.end()
    if (rest.length > 0) yield rest
  } finally {
    answer.cancel()
  }
}

/** Watches for what a stream reports, without looking into chunks that nobody parsed. */
async function* noted(
  chunks: AsyncIterable<readonly Chunk[]>,
  protocol: Protocol,
  target: Target,
  attempt: Attempt,
): AsyncGenerator<readonly Chunk[]> {
  let reported: unknown
  account(attempt, protocol, target, () => reported)
  try {
    for await (const batch of chunks) {
      for (const { seen } of batch) if (seen?.usage) reported = seen.usage
      yield batch
    }
    attempt.status ??= 200
  } catch (error) {
    if (isUpstreamError(error)) fail(attempt, error)
    throw error
  } finally {
    attempt.latencyMs = performance.now() - attempt.startedAt
  }
}

/** Reads a stream up to its first content: until then a failure can still be retried elsewhere. */
async function committed(chunks: AsyncIterable<readonly Chunk[]>): Promise<AsyncIterable<readonly Chunk[]>> {
  const source = chunks[Symbol.asyncIterator]()
  const held: Chunk[] = []
  for (;;) {
    const step = await source.next()
    if (step.done) break
    held.push(...step.value)
    if (step.value.some((chunk) => hasContent(chunk.data))) break
  }
  return { [Symbol.asyncIterator]: () => resumed(held, source) }
}

/** An iterator that first gives what was held. */
function resumed(
  held: readonly Chunk[],
  source: AsyncIterator<readonly Chunk[]>,
): AsyncIterator<readonly Chunk[]> {
  let given = held.length === 0
  return {
    next: () => {
      if (given) return source.next()
      given = true
      return Promise.resolve({ done: false, value: held })
    },
    return: async () => {
      await source.return?.()
      return { done: true, value: undefined }
    },
  }
}
