import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Accounts } from '../../accounts/accounts.ts'
import { kernelServices } from '../../kernel/services.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let accounts: Accounts
/** The caller of a test; a new user with new buckets for each. */
let caller: { userId: string; keyId: string; secret: string }

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  accounts = gateway.kernel.container.resolve<Accounts>(kernelServices.accounts)
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

beforeEach(async () => {
  upstream.reset()
  const { user } = await accounts.signUp({ email: `${crypto.randomUUID()}@example.com`, plan: 'free' })
  caller = { userId: user.id, ...(await issue(user.id)) }
})

async function issue(userId: string) {
  const { key, secret } = await accounts.keys.issue({ type: 'user', userId })
  return { keyId: key.id, secret }
}

const limit = (...rules: Record<string, unknown>[]) =>
  gateway.module('rateshield', { enabled: true, config: { rules } })
const clientOf = (secret: string) =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret, maxRetries: 0 })
const messages = [{ role: 'user' as const, content: 'Hello' }]

interface Options {
  readonly secret?: string
  readonly project?: string
  readonly body?: Record<string, unknown>
}

/** One call: its status, and what its headers say. */
async function ask({ secret = caller.secret, project = 'default', body }: Options = {}) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'x-project': project },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages, ...body }),
  })
  await response.text()
  const header = (name: string) => Number(response.headers.get(name) ?? Number.NaN)
  return {
    status: response.status,
    limit: header('x-ratelimit-limit'),
    remaining: header('x-ratelimit-remaining'),
    reset: header('x-ratelimit-reset'),
    retryAfter: header('retry-after'),
  }
}

/** Streams that stay open at the provider until they leave; those that are refused end at once. */
function hold(count: number, body: Record<string, unknown> = {}) {
  upstream.reply({ stream: true }, { hang: true, times: count })
  const leaving = new AbortController()
  const held = { refused: 0, leave }
  const calls = Array.from({ length: count }, async () => {
    const create = { model: 'gpt-4o-mini', messages, stream: true, ...body } as const
    const call = clientOf(caller.secret).chat.completions.create(create, { signal: leaving.signal })
    const error: unknown = await call.catch((error: unknown) => error)
    if (error instanceof OpenAI.RateLimitError) held.refused += 1
  })
  async function leave(): Promise<void> {
    leaving.abort()
    await Promise.all(calls)
  }
  return held
}

const statuses = async (count: number, options: Options = {}): Promise<number[]> => {
  const answers: number[] = []
  for (let n = 0; n < count; n += 1) answers.push((await ask(options)).status)
  return answers
}
const admitted = (answers: readonly { status: number }[]): number =>
  answers.filter(({ status }) => status === 200).length

test('of two hundred calls at once a burst is admitted, and what flows in while they come', async () => {
  await limit({ per: 'key', rpm: 60, burst: 10 })
  const started = performance.now()
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask()))
  const flowed = Math.floor((performance.now() - started) / 1000)
  expect(admitted(answers)).toBeGreaterThanOrEqual(10)
  expect(admitted(answers)).toBeLessThanOrEqual(10 + flowed)
  expect(upstream.requests).toHaveLength(admitted(answers))
  for (const { status, limit, retryAfter } of answers) {
    expect(limit).toBe(60)
    if (status !== 200) expect([status, retryAfter]).toEqual([429, 1])
  }
})

test('of two hundred calls at once against a slow flow exactly the burst is admitted', async () => {
  await limit({ per: 'key', rpm: 1, burst: 10 })
  expect(admitted(await Promise.all(Array.from({ length: 200 }, () => ask())))).toBe(10)
})

test('every answer tells what is left, and the official client sees a rate limit error', async () => {
  await limit({ per: 'user', rpm: 1, burst: 2 })
  expect(await ask()).toMatchObject({ status: 200, limit: 1, remaining: 1, reset: 60 })
  const second = await ask({ body: { stream: true } })
  expect(second).toMatchObject({ status: 200, limit: 1, remaining: 0 })
  expect(second.reset).toBeGreaterThan(60)
  expect(second.reset).toBeLessThanOrEqual(120)

  const refused = clientOf(caller.secret).chat.completions.create({ model: 'gpt-4o-mini', messages })
  await expect(refused).rejects.toThrow(OpenAI.RateLimitError)
  await expect(refused).rejects.toMatchObject({
    code: 'rate_limited',
    error: { module: 'rateshield', details: { scope: 'user', measure: 'requests', limit: 1 } },
  })
  const { headers } = (await refused.catch((error: unknown) => error)) as InstanceType<
    typeof OpenAI.RateLimitError
  >
  expect(headers?.get('x-ratelimit-remaining')).toBe('0')
  expect(Number(headers?.get('retry-after'))).toBeGreaterThan(0)
  expect(Number(headers?.get('retry-after'))).toBeLessThanOrEqual(60)
})

test('answers without a limit say nothing of one', async () => {
  await limit({ per: 'project', match: 'docs', rpm: 60 })
  expect(await ask()).toMatchObject({ status: 200, limit: Number.NaN, remaining: Number.NaN })
})

test('keys, users, projects and models are counted apart, and altogether', async () => {
  const other = await issue(caller.userId)
  await limit({ per: 'key', rpm: 1, burst: 2 })
  expect(await statuses(3)).toEqual([200, 200, 429])
  expect(await statuses(3, other)).toEqual([200, 200, 429])

  await limit({ per: 'user', rpm: 1, burst: 2 })
  expect([...(await statuses(1)), ...(await statuses(2, other))]).toEqual([200, 200, 429])

  await limit({ per: 'project', rpm: 1, burst: 1 })
  const [a, b] = [crypto.randomUUID(), crypto.randomUUID()]
  expect([...(await statuses(2, { project: a })), ...(await statuses(1, { project: b }))]).toEqual([
    200, 429, 200,
  ])

  await limit({ per: 'model', match: 'gpt-4o', rpm: 1, burst: 1 })
  expect(await statuses(1, { body: { model: 'gpt-4o' } })).toEqual([200])
  expect(await statuses(1, { body: { model: 'openai/GPT-4o' } })).toEqual([429])
  expect(await statuses(2, { body: { model: 'gpt-4o-mini' } })).toEqual([200, 200])

  await limit({ per: 'global', rpm: 1, burst: 1 })
  expect([...(await statuses(1)), ...(await statuses(1, other))]).toEqual([200, 429])
})

test('of several rules that match the most specific counts, and a refused call takes nothing from the others', async () => {
  await limit(
    { per: 'key', rpm: 1, burst: 1 },
    { per: 'key', match: `${caller.keyId.slice(0, 12)}*`, rpm: 1, burst: 2 },
    { per: 'key', match: caller.keyId, rpm: 1, burst: 3 },
  )
  expect(await statuses(4)).toEqual([200, 200, 200, 429])

  const project = crypto.randomUUID()
  const other = await issue(caller.userId)
  await limit({ per: 'key', rpm: 1, burst: 2 }, { per: 'project', rpm: 1, burst: 3 })
  expect(await statuses(6, { ...other, project })).toEqual([200, 200, 429, 429, 429, 429])
  expect(await ask({ secret: (await issue(caller.userId)).secret, project })).toMatchObject({ status: 200 })
})

test('a toggle, a reconfiguration and a reset of the rules refill nothing', async () => {
  const rule = { per: 'key', rpm: 1, burst: 2 }
  await limit(rule)
  expect(await statuses(3)).toEqual([200, 200, 429])
  await gateway.module('rateshield', { enabled: false })
  expect(await statuses(1)).toEqual([200])
  await limit(rule)
  expect(await statuses(1)).toEqual([429])
  await limit({ ...rule, match: caller.keyId })
  expect(await statuses(1)).toEqual([429])
  await limit()
  await limit(rule)
  expect(await statuses(1)).toEqual([429])
})

test('tokens are reserved by estimate and settled with what was used', async () => {
  await limit({ per: 'key', tpm: 1000 })
  const body = { max_tokens: 600 }
  const running = hold(1, body)
  await upstream.received(1)
  const refused = await ask({ body })
  expect(refused).toMatchObject({ status: 429, limit: 1000, remaining: 1000 - 602 })
  expect(refused.retryAfter).toBeGreaterThan(30)
  await running.leave()

  upstream.reply({ usage: { prompt_tokens: 10, completion_tokens: 40, total_tokens: 50 } })
  await expect.poll(() => ask({ body })).toMatchObject({ status: 200, remaining: 1000 - 602 })
  expect(await ask({ body: { max_tokens: 10 } })).toMatchObject({ remaining: 1000 - 50 - 12 })
})

test('tokens of an answer from the cache do not count', async () => {
  await limit({ per: 'key', tpm: 1000 })
  await gateway.module('cachelayer', { enabled: true })
  const body = { max_tokens: 5, messages: [{ role: 'user', content: 'the same again' }] }
  upstream.reply({ usage: { prompt_tokens: 10, completion_tokens: 290, total_tokens: 300 } })
  expect((await ask({ body })).status).toBe(200)
  for (let n = 0; n < 5; n += 1) expect((await ask({ body })).status).toBe(200)
  expect(upstream.requests).toHaveLength(1)
  const { remaining } = await ask({ body: { max_tokens: 5, messages } })
  expect(remaining).toBeGreaterThan(1000 - 300 - 20)
  expect(remaining).toBeLessThan(1000 - 300)
  await gateway.module('cachelayer', { enabled: false })
})

test('tokens beyond the estimate count, and those of calls that failed do not', async () => {
  await limit({ per: 'key', tpm: 1000 })
  upstream.reply({ status: 400 })
  expect((await ask({ body: { max_tokens: 500 } })).status).toBe(400)
  expect(await ask({ body: { max_tokens: 500 } })).toMatchObject({ status: 200, remaining: 1000 - 502 })

  upstream.reset()
  caller = { ...caller, ...(await issue(caller.userId)) }
  upstream.reply({ usage: { prompt_tokens: 10, completion_tokens: 990, total_tokens: 1000 } })
  expect(await ask({ body: { max_tokens: 5 } })).toMatchObject({ status: 200 })
  expect(await ask({ body: { max_tokens: 5 } })).toMatchObject({
    status: 429,
    remaining: 0,
    reset: expect.any(Number),
  })
})

test('calls at a time are bounded, and each gives back its own place only', async () => {
  await limit({ per: 'key', concurrency: 2 })
  const many = hold(5)
  await expect.poll(() => many.refused).toBe(3)
  expect(upstream.requests).toHaveLength(2)
  await many.leave()

  upstream.reset()
  const one = hold(1)
  await upstream.received(1)
  await expect.poll(() => statuses(2)).toEqual([200, 200])
  const more = hold(5)
  await expect.poll(() => more.refused).toBe(4)
  await Promise.all([one.leave(), more.leave()])
})

const endings: Record<string, () => Promise<unknown>> = {
  'a refusal by the provider': () => {
    upstream.reply({ status: 400 })
    return ask()
  },
  'a stream that breaks off': () => {
    upstream.reply({ content: ['a', 'b', 'c'], cutAfter: 3 })
    return ask({ body: { stream: true } }).catch(() => {})
  },
  'a client that leaves': async () => {
    upstream.reply({ hang: true })
    const leaving = new AbortController()
    const body = { model: 'gpt-4o-mini', messages, stream: true } as const
    const left = clientOf(caller.secret).chat.completions.create(body, { signal: leaving.signal })
    const gone = expect(left).rejects.toThrow(OpenAI.APIUserAbortError)
    await upstream.received(1)
    leaving.abort()
    await gone
  },
}

test.each(Object.entries(endings))('%s gives the place of its call back', async (_, end) => {
  await limit({ per: 'key', concurrency: 1 })
  await end()
  await expect.poll(async () => (await ask()).status).toBe(200)
})

test('a call that runs while the module is switched off and on again keeps its place until it ends', async () => {
  await limit({ per: 'key', concurrency: 1 })
  const running = hold(1)
  await upstream.received(1)
  await gateway.module('rateshield', { enabled: false })
  await limit({ per: 'key', concurrency: 1 })
  expect((await ask()).status).toBe(429)
  await running.leave()
  await expect.poll(async () => (await ask()).status).toBe(200)
})

/** Switches a plugin off, after those that need it; returns all of them in that order. */
async function switchOff(id: string): Promise<string[]> {
  const { registry } = gateway.kernel
  const refusal = await registry.change(id, { enabled: false }).then(
    () => undefined,
    (error: unknown) => String(error),
  )
  if (refusal === undefined) return [id]
  const [, names] = /needed by ([^;]+);/.exec(refusal) ?? []
  if (names === undefined) throw new Error(refusal)
  const gone: string[] = []
  for (const name of names.split(', ')) if (!gone.includes(name)) gone.push(...(await switchOff(name)))
  return [...gone, ...(await switchOff(id))]
}

test('what counts cannot go while it is needed, and knows what runs when it comes back', async () => {
  await limit({ per: 'key', concurrency: 1 })
  const running = hold(1)
  await upstream.received(1)
  const { registry } = gateway.kernel
  await expect(registry.change('counting', { enabled: false })).rejects.toThrow(/needed by .*rateshield/)
  for (const id of (await switchOff('counting')).toReversed()) await registry.change(id, { enabled: true })
  await limit({ per: 'key', concurrency: 1 })
  expect((await ask()).status).toBe(429)
  await running.leave()
  await expect.poll(async () => (await ask()).status).toBe(200)
})

test('a limit that is reached is told once, however many calls it refuses', async () => {
  const told: unknown[] = []
  const end = gateway.kernel.events.onAny((data, { type }) => {
    if (type.name === 'rate_limit_hit') told.push(data)
  })
  await limit({ per: 'key', rpm: 1, burst: 1 })
  expect(await statuses(4)).toEqual([200, 429, 429, 429])
  end()
  expect(told).toEqual([
    {
      scope: 'key',
      scope_id: caller.keyId,
      measure: 'requests',
      limit: 1,
      window_s: 60,
      retry_after_s: expect.any(Number),
    },
  ])
})

test('a rule that limits nothing, and a burst of nothing, are refused', async () => {
  await expect(limit({ per: 'key' })).rejects.toThrow('needs at least one of rpm, tpm and concurrency')
  await expect(limit({ per: 'key', tpm: 5, burst: 2 })).rejects.toThrow('burst needs rpm')
})

test('limits hold over a restart, and what ran when it came is given back', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-rateshield-'))
  const config = {
    modules: {
      rateshield: {
        enabled: true,
        config: { rules: [{ per: 'key', rpm: 1, burst: 2, tpm: 1000, concurrency: 1 }] },
      },
    },
  }
  const start = () => startGateway({ upstream, dataDir: folder, config })
  let other = await start()
  const call = (max_tokens: number) =>
    other.api('POST', '/v1/chat/completions', { model: 'gpt-4o-mini', messages, max_tokens })
  try {
    upstream.reply({ usage: { prompt_tokens: 10, completion_tokens: 390, total_tokens: 400 } })
    expect((await call(10)).status).toBe(200)
    await other.close()
    other = await start()
    const second = await call(10)
    expect([second.status, second.headers.get('x-ratelimit-remaining')]).toEqual([200, '0'])
    expect(await call(10)).toMatchObject({
      status: 429,
      body: { error: { details: { measure: 'requests' } } },
    })
    await other.module('rateshield', { config: { rules: [{ per: 'key', tpm: 1000 }] } })
    expect(Number((await call(1)).headers.get('x-ratelimit-remaining'))).toBeLessThan(600)
  } finally {
    await other.close()
    await rm(folder, { recursive: true, force: true })
  }
})
