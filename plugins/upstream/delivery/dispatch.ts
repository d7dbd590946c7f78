import {
  type Arrangement,
  type Attempt,
  type Awaitable,
  type Call,
  type Credential,
  type Delivery,
  Faults,
  internalError,
  isUpstreamError,
  type Log,
  type Protocol,
  type Reply,
  StreamReply,
  type Target,
  UpstreamError,
  type UpstreamRequest,
  type WholeReply,
} from '#kernel'
import { collect, detach, isTooDeep, newAttempt, replyWith } from '#kit'
import type { Directory } from '../directory.ts'
import type { KeyStore } from '../keys/key-store.ts'
import { forgetKey, readyTarget } from '../kit/key-exchange.ts'
import { type Destination, KeySelection, type KeySelector } from '../kit/key-selection.ts'
import type { Transport } from '../transport/transport.ts'
import type { UpstreamAnswer } from '../transport/upstream-answer.ts'
import { account, begin, fail } from './attempt.ts'
import { AttemptStream, type ChunkSource, sourceOf } from './attempt-stream.ts'
import { DecodedChunks, decodedWhole } from './decoded.ts'
import { destinationOf } from './destination.ts'
import { forEachPart, joined, partsOf } from './parts.ts'
import { formed } from './structured-output.ts'
import { fitted } from './tool-names.ts'

/** One try at a provider, and everything it takes. */
interface Try {
  readonly call: Call
  readonly target: Target
  readonly protocol: Protocol
  readonly attempt: Attempt
  readonly on: Arrangement
  /** Tells modules that it is over; to be called at each of its ends, and counts once. */
  readonly ended: () => void
}

/** Carries a call to a provider: the innermost part of every chain. */
export class Dispatcher {
  readonly #directory: Directory
  readonly #keys: KeyStore
  readonly #transport: Transport
  readonly #log: Log

  constructor(directory: Directory, keys: KeyStore, transport: Transport, log: Log) {
    this.#directory = directory
    this.#keys = keys
    this.#transport = transport
    this.#log = log
  }

  /** Resolves with a whole answer, or with a stream whose first content is there. */
  readonly deliver: Delivery = async (call, on, ownKey) => {
    call.cancel.check()
    call.trace.mayRecord(call.request)
    const parts = { directory: this.#directory, keys: this.#keys, on, ownKey }
    const found = destinationOf(call, parts)
    const { route, keys, protocol } = found instanceof Promise ? await found : found
    // Nothing is remembered of a key that is for one call.
    const selector = ownKey ? undefined : (on.services.get(KeySelection) as KeySelector | undefined)
    const candidates = candidatesOf(route, keys, selector, call)
    for (let i = 0; i < candidates.length; i += 1) {
      const key = candidates[i]
      const target: Target = { provider: route.provider, model: route.model, key }
      const attempt = newAttempt(call, target)
      const headers: Record<string, string> = {}
      const ended = endOf(attempt, call, on)
      try {
        const asked = on.attempts.before(attempt, call, headers)
        if (asked) {
          await asked
          call.cancel.check()
          begin(attempt, call)
        }
      } catch (error) {
        ended()
        throw error
      }
      call.trace.begin(attempt, call.request)
      try {
        const reply = await this.#try({ call, target, protocol, attempt, on, ended }, headers)
        const told = on.attempts.after(attempt, call)
        if (told) await told
        if (key) selector?.report(target, key, undefined)
        return reply
      } catch (error) {
        ended()
        if (!isUpstreamError(error)) {
          attempt.latencyMs ??= performance.now() - attempt.startedAt
          throw error
        }
        if (attempt.error !== error) {
          await fail(error, { attempt, call, target, on })
          await on.attempts.after(attempt, call)
        }
        if (key) selector?.report(target, key, error)
        if (i === candidates.length - 1 || !isKeyBound(error)) throw error
        attempt.reasonNext = 'another key'
      }
    }
    throw internalError('There was no key to try.')
  }

  async #try(one: Try, headers: Record<string, string>): Promise<Reply> {
    const { target, protocol, attempt } = one
    const listed = (): boolean | undefined =>
      this.#directory.supports(target.provider.name, target.model, 'json_schema')
    const { call: asked, structuredOutput } = formed(one.call, target, protocol, listed)
    if (structuredOutput) attempt.structuredOutput = structuredOutput
    if (protocol.answer) {
      attempt.isSent = true
      return await finished(one, await protocol.answer(asked, target))
    }
    const { call, names } = fitted(asked, target)
    const ready =
      target.provider.spec.key_exchange === undefined ? target : await readyTarget(target, one.on.services)
    const reading = { protocol, call, target: ready, log: this.#log, names }
    if (call.operation === 'embedding') {
      const parts = partsOf(call, protocol.mostInputs?.(ready))
      if (parts) {
        const replies = await forEachPart(parts, async (part) =>
          decodedWhole(await this.#send(one, part, ready, headers), { ...reading, call: part }),
        )
        return finishedWhole(one, joined(replies))
      }
    }
    const answer = await this.#send(one, call, ready, headers)
    if (!call.stream || isJson(answer)) {
      const read = decodedWhole(answer, reading)
      const whole = read instanceof Promise ? await read : read
      return call.stream
        ? await finished(one, replyWith(call, await collect(whole)))
        : finishedWhole(one, whole)
    }
    const wire = names ? '' : protocol.wires[call.operation]!
    return await begun(one, wire, new DecodedChunks(answer, reading))
  }

  /** Sends a request; resolves with an answer that is no error. */
  async #send(
    { target, protocol, attempt, on }: Try,
    call: Call,
    ready: Target,
    headers: Record<string, string>,
  ): Promise<UpstreamAnswer> {
    const encoded = protocol.encode(call, ready)
    const request = encoded instanceof Promise ? await encoded : encoded
    const sent = withHeaders(request, headers)
    const fault = (on.services.get(Faults) as Faults | undefined)?.of(attempt, call)
    attempt.isSent = true
    const answer = await this.#transport.send(sent, target, call.cancel, call.timeouts, fault)
    attempt.status = answer.status
    if (answer.status < 400) return answer
    const said = await answer.whole()
    const error = protocol.error(answer, saysMuch(said) ? nothing : said, target)
    if (error.providerStatus === 401) forgetKey(target, ready, on.services)
    throw error
  }
}

/** An error that is larger or lies deeper than any that a person reads is one without words: to parse it could take seconds. */
const saysMuch = (error: Buffer): boolean => error.length > mostOfError || isTooDeep(error)
const mostOfError = 1024 * 1024
const nothing = Buffer.alloc(0)

/** An answer that is there, or a stream that has begun; usage is noted whichever way it is reported. */
const finished = (one: Try, reply: Reply): Awaitable<Reply> =>
  reply.kind === 'whole' ? finishedWhole(one, reply) : begun(one, reply.wire, sourceOf(reply.chunks))

function finishedWhole({ target, protocol, attempt, ended }: Try, reply: WholeReply): Reply {
  attempt.latencyMs = performance.now() - attempt.startedAt
  attempt.status ??= 200
  account(attempt, protocol, target, { reported: () => reply.body.usage, came: () => reply.body })
  ended()
  return reply.by(attempt)
}

/** Waits for a stream's first content. */
async function begun(one: Try, wire: string, source: ChunkSource): Promise<Reply> {
  const { call, target, protocol, attempt, on, ended } = one
  const failed = async (error: UpstreamError): Promise<void> => {
    await fail(error, one)
    const told = on.attempts.after(attempt, call)
    if (told) detach('a hook after an attempt', told)
  }
  const unreadable = (cause: unknown): UpstreamError =>
    upstreamError(target, `The provider ${target.provider.name} sent an event that is not JSON.`, {
      fault: 'protocol',
      retryable: true,
      cause,
    })
  const stream = new AttemptStream(source, { attempt, protocol, target, failed, ended })
  await stream.begin(unreadable)
  return new StreamReply(wire, { [Symbol.asyncIterator]: () => stream }, attempt)
}

const nobodyAsks = (): void => {}

function endOf(attempt: Attempt, call: Call, { attempts: { ended } }: Arrangement): () => void {
  if (!ended) return nobodyAsks
  let isOver = false
  return () => {
    if (isOver) return
    isOver = true
    const told = ended(attempt, call)
    if (told) detach('a hook at the end of an attempt', told)
  }
}

/** The request with what modules add to its headers, which is seldom anything. */
function withHeaders(request: UpstreamRequest, added: Readonly<Record<string, string>>): UpstreamRequest {
  for (const _ in added) return { ...request, headers: { ...request.headers, ...added } }
  return request
}

const upstreamError = (
  { provider, model }: Destination,
  message: string,
  detail: { fault: UpstreamError['fault']; retryable: boolean; cause?: unknown },
): UpstreamError =>
  new UpstreamError('provider_error', message, { provider: provider.name, model, ...detail })

function candidatesOf(
  to: Destination,
  keys: readonly Credential[],
  selector: KeySelector | undefined,
  call: Call,
): readonly (Credential | undefined)[] {
  if (keys.length === 0) return [undefined]
  return selector ? selector.order(to, keys, call) : keys.slice(0, 1)
}

/** Errors that say something about the key, not about the provider. */
const isKeyBound = ({ providerStatus }: UpstreamError): boolean =>
  providerStatus === 429 || providerStatus === 401 || providerStatus === 403

/** A provider that does not stream answers at once, although it was asked to. */
function isJson({ headers }: UpstreamAnswer): boolean {
  const type = headers['content-type'] ?? ''
  return type.includes('json') && !type.includes('event-stream')
}
