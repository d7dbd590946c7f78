import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Delivery } from '../../../contract/delivery.ts'
import { type Protocol, providerSpec } from '../../../contract/provider.ts'
import { createLog } from '../../../gateway/log.ts'
import { openSecrets } from '../../../gateway/secrets/open-secrets.ts'
import type { Attempt } from '../../../kernel/call/attempt.ts'
import type { Call } from '../../../kernel/call/call.ts'
import type { Reply } from '../../../kernel/call/reply.ts'
import type { Hooks } from '../../../kernel/chain/hooks.ts'
import { Generation } from '../../../kernel/plugin/generation.ts'
import { Instance } from '../../../kernel/plugin/instance.ts'
import { collect } from '../../../kernel/stream/collect.ts'
import { Chunk } from '../../../kit/canonical/chunk.ts'
import type { Completion, CompletionChunk, ModelRequest } from '../../../kit/canonical/forms.ts'
import { ClientGone, GatewayError, UpstreamError } from '../../../kit/errors.ts'
import { openLevel } from '../../../storage/level.ts'
import { callWith, entryOf } from '../../../test/chain.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'
import { openaiProtocol } from '../../openai/protocol.ts'
import { RouteTable } from '../directory/route-table.ts'
import { Directory } from '../directory.ts'
import { KeyStore } from '../keys/key-store.ts'
import { KeySelection, type KeySelector } from '../kit/key-selection.ts'
import { ModelAliases } from '../kit/models.ts'
import { sections } from '../sections.ts'
import { Transport } from '../transport/transport.ts'
import { Dispatcher } from './dispatch.ts'

let upstream: Upstream
let folder: string
let keys: KeyStore
let transport: Transport
let closeStore: () => Promise<void>
const logged: string[] = []
const log = createLog({ level: 'info', stream: { write: (line: string) => void logged.push(line) } })

beforeAll(async () => {
  upstream = await startUpstream({ apiKey: ['sk-pool-key-1', 'sk-pool-key-2', 'sk-own-key'] })
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-dispatch-'))
  const engine = await openLevel(path.join(folder, 'db'))
  closeStore = () => engine.close()
  keys = new KeyStore(
    engine.namespace('kernel'),
    await openSecrets({ dataDir: folder, passphrase: undefined }),
  )
  transport = new Transport()
})

afterAll(async () => {
  await transport.close()
  await closeStore()
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

beforeEach(() => {
  upstream.reset()
  logged.length = 0
})

const spec = providerSpec.parse({
  protocol: 'openai',
  base_url: 'http://nowhere.test/v1',
  key_env: ['PUBLIC_KEY'],
  models: ['gpt-*'],
  operations: ['chat', 'completion'],
})

interface Setup {
  readonly providers?: object
  readonly selector?: KeySelector
  readonly hooks?: Hooks
  readonly aliases?: readonly string[]
  readonly protocol?: Protocol
}

/** A generation with one protocol, one module and the real dispatcher inside. */
function generationOf({
  providers,
  selector,
  hooks = {},
  aliases,
  protocol = openaiProtocol,
}: Setup = {}): Generation {
  const pool = [{ api_key: 'sk-pool-key-1' }, { api_key: 'sk-pool-key-2' }]
  const { providers: entries } = sections.parse({
    providers: providers ?? {
      main: { type: 'public', base_url: upstream.baseUrl(), keys: pool, models: ['gpt-*'] },
    },
  })
  const specs = new Map([['public', spec]])
  const directory = new Directory({ entries, env: {}, specs: () => specs, routes: new RouteTable([]) })
  const instance = new Instance('test')
  instance.protocols.push(protocol)
  if (selector) instance.services.set(KeySelection, selector)
  if (aliases) instance.services.set(ModelAliases, { names: () => aliases, modelOf: () => undefined })
  const entry = entryOf('test', hooks, { stage: 'deliver' })
  instance.services.set(Delivery, new Dispatcher(directory, keys, transport, log).deliver)
  return new Generation(1, [instance], [entry], specs, () => {})
}

function callOf(
  fields: Partial<ModelRequest> = {},
  { userId, provider }: { userId?: string; provider?: string } = {},
): Call {
  const { principal } = callWith()
  return callWith(
    { model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }], ...fields },
    { principal: { ...principal, userId }, context: { provider } },
  )
}

const textOf = ({ choices }: Completion): unknown => choices?.[0]?.message?.content

async function failureOf<E extends GatewayError = UpstreamError>(promise: Promise<unknown>): Promise<E> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(GatewayError)
  return error as E
}

/** Reads a stream: its chunks, and what broke it. */
async function read(reply: Reply): Promise<{ chunks: CompletionChunk[]; error: unknown }> {
  const chunks: CompletionChunk[] = []
  if (reply.kind !== 'stream') throw new Error('it is no stream')
  try {
    for await (const batch of reply.chunks) chunks.push(...batch.map(({ data }) => data))
    return { chunks, error: undefined }
  } catch (error) {
    return { chunks, error }
  }
}

const inOrder: KeySelector = { order: (_, keys) => keys, report: () => {} }

describe('an answer', () => {
  test('comes back whole, and the attempt tells what it took', async () => {
    const call = callOf()
    const reply = await generationOf().chain.run(call)
    expect(textOf(await collect(reply))).toContain('hello')
    const [attempt, ...others] = call.trace.attempts
    expect(others).toEqual([])
    expect(attempt).toMatchObject({ n: 1, provider: 'main', model: 'gpt-4o', status: 200, error: undefined })
    expect(attempt!.keyHint).toBe('ey-1')
    expect(attempt!.latencyMs).toBeGreaterThan(0)
    expect(attempt!.usage!()).toMatchObject({ source: 'provider' })
    expect(call.trace.request).toBe(call.request)
  })

  test('comes back streamed, with nothing lost and usage at the end', async () => {
    upstream.reply({ content: ['one ', 'two ', 'three'], splitBytes: 3 })
    const call = callOf({ stream: true })
    const reply = await generationOf().chain.run(call)
    const [attempt] = call.trace.attempts
    expect(attempt).toMatchObject({ status: 200, latencyMs: undefined })
    expect(textOf(await collect(reply))).toBe('one two three')
    expect(attempt!.latencyMs).toBeGreaterThan(0)
    expect(attempt!.usage!()?.output).toBeGreaterThan(0)
  })

  test('of a provider that does not stream becomes a stream', async () => {
    const body = {
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'at once' }, finish_reason: 'stop' }],
    }
    upstream.reply({ chunks: [JSON.stringify(body)], headers: { 'content-type': 'application/json' } })
    const reply = await generationOf().chain.run(callOf({ stream: true }))
    expect(reply.kind).toBe('stream')
    expect(textOf(await collect(reply))).toBe('at once')
  })

  test('that nobody wants any more closes the connection', async () => {
    upstream.reply({ content: ['one ', 'two '], hangAfter: 3 })
    const reply = await generationOf().chain.run(callOf({ stream: true }))
    if (reply.kind !== 'stream') throw new Error('it is no stream')
    for await (const _ of reply.chunks) break
    await upstream.last().closed
    expect(upstream.last().aborted).toBe(true)
  })

  test('that is left while its next words are waited for ends there, without an error', async () => {
    upstream.reply({ content: ['one ', 'two '], hangAfter: 3 })
    const call = callOf({ stream: true })
    const reply = await generationOf().chain.run(call)
    if (reply.kind !== 'stream') throw new Error('it is no stream')
    const batches = reply.chunks[Symbol.asyncIterator]()
    const texts: unknown[] = []
    while (texts.at(-1) !== 'two ') {
      const step = await batches.next()
      if (!step.done) texts.push(...step.value.map(({ data }) => data.choices[0]?.delta?.content))
    }
    const next = batches.next()
    await batches.return?.()
    expect(await next).toMatchObject({ done: true })
    expect(await batches.next()).toMatchObject({ done: true })
    await upstream.last().closed
    expect(upstream.last().aborted).toBe(true)
    expect(call.trace.attempts[0]).toMatchObject({ error: undefined })
  })

  test('took as long as it was read, however late it is let go of', async () => {
    const call = callOf({ stream: true })
    const reply = await generationOf().chain.run(call)
    if (reply.kind !== 'stream') throw new Error('it is no stream')
    const batches = reply.chunks[Symbol.asyncIterator]()
    while (!(await batches.next()).done);
    const { latencyMs } = call.trace.attempts[0]!
    await sleep(5)
    await batches.return?.()
    expect(call.trace.attempts[0]!.latencyMs).toBe(latencyMs)
  })
})

describe('the first content', () => {
  test('is there when a stream is handed on: an error before it rejects', async () => {
    upstream.reply({ content: ['one'], cutAfter: 1 })
    const call = callOf({ stream: true })
    const error = await failureOf(generationOf().chain.run(call))
    expect(error).toMatchObject({ fault: 'network', retryable: true })
    expect(call.trace.attempts).toMatchObject([{ error, status: 200 }])
  })

  test('decides: an error after it breaks the stream, and is the error of the attempt', async () => {
    upstream.reply({ content: ['one ', 'two ', 'three '], cutAfter: 3, gapMs: 10 })
    const call = callOf({ stream: true })
    const { chunks, error } = await read(await generationOf().chain.run(call))
    expect(chunks.map(({ choices }) => choices[0]?.delta?.content).join('')).toBe('one two ')
    expect(error).toBeInstanceOf(UpstreamError)
    expect(call.trace.attempts[0]!.error).toBe(error)
  })

  test('is not an event without choices, nor a role', async () => {
    const events = [
      'data: {"id":"1"}\n\n',
      'data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n',
      'data: {"error":{"message":"out of memory"}}\n\n',
    ]
    upstream.reply({ chunks: events })
    const error = await failureOf(generationOf().chain.run(callOf({ stream: true })))
    expect(error).toMatchObject({ fault: 'protocol', retryable: true })
    expect(error.message).toContain('out of memory')
  })

  test('that makes no sense is a failure of the provider, and its connection is closed', async () => {
    upstream.reply({ chunks: ['data: <html>\n\n', 'data: <body>\n\n'], hangAfter: 1 })
    const error = await failureOf(generationOf().chain.run(callOf({ stream: true })))
    expect(error).toMatchObject({
      code: 'provider_error',
      fault: 'protocol',
      retryable: true,
      provider: 'main',
    })
    await upstream.last().closed
    expect(upstream.last().aborted).toBe(true)
  })

  test('in an event without an end is a failure of the provider', async () => {
    upstream.reply({ chunks: [`data: ${'x'.repeat(17 * 1024 * 1024)}`], hangAfter: 1 })
    expect(await failureOf(generationOf().chain.run(callOf({ stream: true })))).toMatchObject({
      code: 'provider_error',
      fault: 'protocol',
      message: expect.stringContaining('too large'),
    })
    expect(logged).toEqual([])
  })

  test('may never come: a stream that begins and ends is an answer', async () => {
    const said = { choices: [{ index: 0, delta: { role: 'assistant' } }] }
    upstream.reply({ chunks: [`data: ${JSON.stringify(said)}\n\n`, 'data: [DONE]\n\n'] })
    expect(await read(await generationOf().chain.run(callOf({ stream: true })))).toEqual({
      chunks: [said],
      error: undefined,
    })
  })

  test.each([
    ['only ends', ''],
    ['says nothing', 'data: {}\n\n'],
    ['has no choices', 'data: {"choices":[]}\n\n'],
    ['has a choice that is nothing', 'data: {"choices":[{}]}\n\n'],
  ])('must be able to come: a stream that %s is none', async (_, events) => {
    upstream.reply({ chunks: [`${events}data: [DONE]\n\n`] })
    const error = await failureOf(generationOf().chain.run(callOf({ stream: true })))
    expect(error).toMatchObject({ code: 'provider_error', status: 502, retryable: true })
    expect(error.message).toContain('without an answer')
  })
})

describe('a protocol that cannot read an answer because of a mistake of its own', () => {
  const mistake = (): never => {
    throw new TypeError('words of the answer')
  }
  const mistaken: Protocol = {
    ...openaiProtocol,
    decode: mistake,
    decoder: () => ({
      *push() {
        yield Chunk.of({ choices: [{ index: 0, delta: { content: 'Well' } }] })
        mistake()
      },
      end: () => [],
    }),
  }
  const failure = { code: 'internal_error', status: 500, fault: 'protocol', retryable: true }

  test.each(['plain', 'streamed'])('fails as the gateway, after the words it read: %s', async (how) => {
    const { chain } = generationOf({ protocol: mistaken })
    if (how === 'plain') expect(await failureOf(chain.run(callOf()))).toMatchObject(failure)
    else {
      const { chunks, error } = await read(await chain.run(callOf({ stream: true })))
      expect(chunks.map(({ choices }) => choices[0]?.delta?.content)).toEqual(['Well'])
      expect(error).toMatchObject(failure)
    }
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'error', request_id: 'tr_1', provider: 'main', protocol: 'openai', error: 'TypeError' },
    ])
    expect(logged[0]).toContain('dispatch.test.ts')
    expect(logged[0]).not.toContain('words of the answer')
  })
})

describe('keys', () => {
  test('the first one is used when nobody selects', async () => {
    const call = callOf()
    upstream.reply({ status: 429 })
    await failureOf(generationOf().chain.run(call))
    expect(upstream.requests.map(({ key }) => key)).toEqual(['sk-pool-key-1'])
  })

  test.each([401, 403, 429])('the next one is tried after a %s, also for a stream', async (status) => {
    for (const stream of [false, true]) {
      upstream.reset()
      upstream.reply({ key: 'sk-pool-key-1' }, { status })
      const call = callOf({ stream })
      expect(textOf(await collect(await generationOf({ selector: inOrder }).chain.run(call)))).toContain(
        'hello',
      )
      expect(upstream.requests.map(({ key }) => key)).toEqual(['sk-pool-key-1', 'sk-pool-key-2'])
      expect(call.trace.attempts).toMatchObject([
        { n: 1, status, reasonNext: 'another key' },
        { n: 2, status: 200 },
      ])
    }
  })

  test.each([400, 500])('no other one is tried after a %s', async (status) => {
    upstream.reply({ status })
    await failureOf(generationOf({ selector: inOrder }).chain.run(callOf()))
    expect(upstream.requests).toHaveLength(1)
  })

  test('the selector learns how each one did', async () => {
    upstream.reply({ key: 'sk-pool-key-1' }, { status: 429 })
    const learned: unknown[] = []
    const selector: KeySelector = {
      ...inOrder,
      report: (to, key, error) => learned.push([to.model, key.secret, error?.providerStatus]),
    }
    await generationOf({ selector }).chain.run(callOf())
    expect(learned).toEqual([
      ['gpt-4o', 'sk-pool-key-1', 429],
      ['gpt-4o', 'sk-pool-key-2', undefined],
    ])
  })

  test('a selector may refuse them all', async () => {
    const refusal = new UpstreamError('rate_limited', 'all rest', {
      provider: 'main',
      model: 'gpt-4o',
      fault: 'status',
      retryable: true,
    })
    const selector: KeySelector = {
      ...inOrder,
      order: () => {
        throw refusal
      },
    }
    const call = callOf()
    expect(await failureOf(generationOf({ selector }).chain.run(call))).toBe(refusal)
    expect([upstream.requests.length, call.trace.attempts.length]).toEqual([0, 0])
  })

  test("a user's own one comes before the gateway's, and is the only one", async () => {
    await keys.set('usr_own', 'main', 'sk-own-key')
    upstream.reply({ status: 429 })
    await failureOf(generationOf({ selector: inOrder }).chain.run(callOf({}, { userId: 'usr_own' })))
    await generationOf().chain.run(callOf({}, { userId: 'usr_other' }))
    expect(upstream.requests.map(({ key }) => key)).toEqual(['sk-own-key', 'sk-pool-key-1'])
  })

  test('a provider that quotes one in its error does not give it away', async () => {
    upstream.reply({ status: 400, error: { message: 'no scope for sk-pool-key-1' } })
    const error = await failureOf(generationOf().chain.run(callOf()))
    expect(error.message).toContain('no scope for …ey-1')
  })

  test('without any, the caller is told how to set one', async () => {
    const call = callOf({ model: 'public/gpt-4o' })
    const error = await failureOf(generationOf().chain.run(call))
    expect(error).toMatchObject({
      code: 'provider_error',
      provider: 'public',
      model: 'gpt-4o',
      retryable: false,
    })
    expect(error.message).toContain('PUBLIC_KEY')
    expect(error.message).toContain('/api/auth/me/providers/public')
    expect(call.trace.attempts).toEqual([])
  })
})

describe('what is refused before anything is sent', () => {
  test('an operation that the provider does not offer', async () => {
    const embedding = callWith({ model: 'gpt-4o', input: 'hello' }, { operation: 'embedding' })
    expect(await failureOf(generationOf().chain.run(embedding))).toMatchObject({
      code: 'bad_request',
      param: 'model',
    })
    expect(upstream.requests).toEqual([])
  })

  test('a model that is like an alias, with the name of the alias', async () => {
    const error = await failureOf<GatewayError>(
      generationOf({ aliases: ['house-model'] }).chain.run(callOf({ model: 'hose-model' })),
    )
    expect(error).toMatchObject({ code: 'not_found' })
    expect(error.message).toContain('house-model')
  })

  test('a call that is over', async () => {
    const call = callOf()
    const gone = new ClientGone()
    call.cancel.abort(gone)
    await expect(generationOf().chain.run(call)).rejects.toBe(gone)
    expect(upstream.requests).toEqual([])
  })

  test('what a module vetoes: it was never a try', async () => {
    const veto = new GatewayError('forbidden', 'not there')
    const attempt = (): never => {
      throw veto
    }
    const call = callOf()
    expect(await failureOf(generationOf({ hooks: { attempt } }).chain.run(call))).toBe(veto)
    expect([upstream.requests.length, call.trace.attempts.length]).toEqual([0, 0])
  })

  test('what the protocol cannot write: the try says that it was not sent, as others say that they were', async () => {
    const encode = (): never => {
      throw new GatewayError('bad_request', 'no such words')
    }
    const sentBy = async (protocol: Protocol): Promise<unknown> => {
      const call = callOf()
      await generationOf({ protocol })
        .chain.run(call)
        .catch(() => {})
      return call.trace.attempts.map(({ isSent }) => isSent)
    }
    expect(await sentBy({ ...openaiProtocol, encode })).toEqual([undefined])
    expect(upstream.requests).toEqual([])
    expect(await sentBy(openaiProtocol)).toEqual([true])
    upstream.reply({ status: 500 })
    expect(await sentBy(openaiProtocol)).toEqual([true])
    const answer = (): Promise<never> => Promise.reject(new ClientGone())
    expect(await sentBy({ ...openaiProtocol, answer })).toEqual([true])
  })
})

describe('modules', () => {
  test('add headers to a try, over those of the protocol', async () => {
    const attempt = (_: Attempt, __: Call, headers: Record<string, string>): void => {
      headers['x-added'] = 'yes'
      headers.accept = 'text/plain'
    }
    await generationOf({ hooks: { attempt } }).chain.run(callOf())
    expect(upstream.last().headers).toMatchObject({ 'x-added': 'yes', accept: 'text/plain' })
  })

  test('are told once of each try: an error, an answer, the first content', async () => {
    const told: unknown[] = []
    const hooks: Hooks = { attempted: ({ n, status, error }) => told.push([n, status, error?.fault]) }
    const generation = generationOf({ hooks, selector: inOrder })
    upstream.reply({ key: 'sk-pool-key-1' }, { status: 429 })
    await generation.chain.run(callOf())
    expect(told.splice(0)).toEqual([
      [1, 429, 'status'],
      [2, 200, undefined],
    ])
    const reply = await generation.chain.run(callOf({ stream: true }))
    expect(told.splice(0)).toEqual([[1, 200, undefined]])
    await collect(reply)
    expect(told).toEqual([])
  })

  test('are told of a stream that broke: once before its first content, once more after it', async () => {
    const told: unknown[] = []
    const hooks: Hooks = { attempted: ({ error }) => told.push(error?.fault) }
    upstream.reply({ content: ['one'], cutAfter: 1 })
    await failureOf(generationOf({ hooks }).chain.run(callOf({ stream: true })))
    expect(told.splice(0)).toEqual(['network'])
    upstream.reply({ content: ['one', 'two'], cutAfter: 3, gapMs: 10 })
    await read(await generationOf({ hooks }).chain.run(callOf({ stream: true })))
    expect(told).toEqual([undefined, 'network'])
  })

  test('are not told of a client that left', async () => {
    const told: unknown[] = []
    upstream.reply({ hang: true })
    const call = callOf()
    const running = generationOf({ hooks: { attempted: (attempt) => told.push(attempt) } }).chain.run(call)
    await upstream.received(1)
    call.cancel.abort(new ClientGone())
    await expect(running).rejects.toBeInstanceOf(ClientGone)
    expect(told).toEqual([])
    expect(call.trace.attempts[0]!.latencyMs).toBeGreaterThan(0)
  })

  test('are told once that a try is over, whatever its end', async () => {
    let over = 0
    const hooks: Hooks = {
      attemptEnded() {
        over += 1
      },
    }
    const { chain } = generationOf({ hooks, selector: inOrder })
    const since = (): number => {
      const count = over
      over = 0
      return count
    }
    await chain.run(callOf())
    expect(since()).toBe(1)

    const streamed = await chain.run(callOf({ stream: true }))
    expect(since()).toBe(0)
    await read(streamed)
    expect(since()).toBe(1)

    upstream.reply({ content: ['one', 'two'], cutAfter: 3, gapMs: 10 })
    await read(await chain.run(callOf({ stream: true })))
    expect(since()).toBe(1)

    upstream.reply({ status: 429, times: 2 })
    await failureOf(chain.run(callOf()))
    expect(since()).toBe(2)

    upstream.reply({ content: ['one', 'two'], hangAfter: 2 })
    const left = callOf({ stream: true })
    const reading = read(await chain.run(left))
    left.cancel.abort(new ClientGone())
    await reading
    expect(since()).toBe(1)

    const refuses = () => Promise.reject(new GatewayError('forbidden', 'not there'))
    await failureOf(generationOf({ hooks: { ...hooks, attempt: refuses } }).chain.run(callOf()))
    expect(since()).toBe(1)
  })

  test('may have a try wait, which begins after that, and not at all when its call is over', async () => {
    const turns: (() => void)[] = []
    const attempt = () => new Promise<void>((resolve) => void turns.push(resolve))
    const { chain } = generationOf({ hooks: { attempt } })
    const call = callOf()
    const running = chain.run(call)
    await expect.poll(() => turns.length).toBe(1)
    await sleep(5)
    const before = performance.now()
    turns[0]!()
    await running
    expect(call.trace.attempts[0]!.startedAt).toBeGreaterThanOrEqual(before)

    upstream.reset()
    const left = callOf()
    const waiting = chain.run(left)
    await expect.poll(() => turns.length).toBe(2)
    left.cancel.abort(new ClientGone())
    turns[1]!()
    await expect(waiting).rejects.toBeInstanceOf(ClientGone)
    expect([upstream.requests.length, left.trace.attempts.length]).toEqual([0, 0])
  })
})
