import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

const unlimited = {
  max_calls: 'none',
  max_depth: 'none',
  max_tool_calls: 'none',
  max_tokens: 'none',
  max_cost_usd: 'none',
  max_minutes: 'none',
  loop_repeats: 'none',
  idle_minutes: 60,
  derive: 'tools',
}

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

beforeEach(() => upstream.reset())

const limit = (config: Record<string, unknown>, on = gateway) =>
  on.module('agentguard', { enabled: true, config: { ...unlimited, ...config } })

type Message = OpenAI.ChatCompletionMessageParam
const model = 'gpt-4o-mini'
const tools: OpenAI.ChatCompletionTool[] = [
  { type: 'function', function: { name: 'search', parameters: { type: 'object' } } },
]
const question = (): Message[] => [{ role: 'user', content: `Find it, ${crypto.randomUUID()}.` }]

interface Agent {
  readonly session?: string | undefined
  readonly stream?: boolean
  readonly key?: string
  readonly messages?: Message[]
  readonly withTools?: boolean
}

/** One step of an agent with the official client: asks, and runs the tools that the model calls. */
async function step({
  session,
  stream = false,
  key = gateway.adminKey,
  messages = question(),
  withTools = true,
}: Agent) {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key })
  const options = { headers: session === undefined ? {} : { 'X-Session-Id': session } }
  const body = { model, messages, ...(withTools && { tools }) }
  const message = stream
    ? await client.chat.completions.stream(body, options).finalMessage()
    : (await client.chat.completions.create(body, options)).choices[0]!.message
  const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function')
  const tool_calls = calls.map(({ id, type, function: { name, arguments: args } }) => {
    return { id, type, function: { name, arguments: args } }
  })
  messages.push({ role: 'assistant', content: message.content, ...(calls.length > 0 && { tool_calls }) })
  for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: 'Nothing was found.' })
  return messages
}

interface Stopped {
  readonly steps: number
  readonly error: {
    status: number
    type: string
    error: { module: string; details: Record<string, unknown> }
  }
}

/** Lets an agent go on until it is stopped, for so many steps at the most. */
async function run(agent: Agent, most = 10): Promise<Stopped> {
  for (let steps = 0; steps < most; steps += 1) {
    try {
      await step(agent)
    } catch (error) {
      return { steps, error: error as Stopped['error'] }
    }
  }
  throw new Error(`it was not stopped in ${most} steps`)
}

const boundOf = ({ error }: Stopped) => [error.status, error.type, error.error.details.bound]

/** The model calls a tool each time; the arguments say how often. */
const calling = (args: (n: number) => unknown): void => {
  for (let n = 0; n < 12; n += 1)
    upstream.reply({ toolCalls: [{ name: 'search', arguments: JSON.stringify(args(n)) }] })
}

const sessions = async (query = '', key?: string) =>
  (await gateway.api('GET', `/api/modules/agentguard/sessions${query}`, undefined, key)).body.sessions

describe.each([
  { by: 'header', stream: false },
  { by: 'header', stream: true },
  { by: 'conversation', stream: false },
  { by: 'conversation', stream: true },
])('an agent by $by (streamed: $stream)', ({ by, stream }) => {
  const sessionOf = () => (by === 'header' ? crypto.randomUUID() : undefined)

  test('that calls one tool with the same arguments again and again is stopped after the fourth time', async () => {
    await limit({ loop_repeats: 4 })
    calling((n) => (n % 2 === 0 ? { q: 'x', page: 1 } : { page: 1, q: 'x' }))
    const messages = question()
    const stopped = await run({ session: sessionOf(), stream, messages })
    expect(boundOf(stopped)).toEqual([429, 'session_stopped', 'repeated_tool'])
    expect(stopped.steps).toBe(4)
    // The official client did not try again, and nothing more reached the provider.
    expect(upstream.requests).toHaveLength(4)
  })

  test('that does something else each time is not, and ends at the calls that it may make', async () => {
    await limit({ loop_repeats: 2, max_calls: 6 })
    calling((n) => ({ page: n }))
    const stopped = await run({ session: sessionOf(), stream, messages: question() })
    expect([stopped.steps, boundOf(stopped)]).toEqual([6, [429, 'session_stopped', 'calls']])
  })

  test('goes on when the user says something', async () => {
    await limit({ loop_repeats: 2 })
    calling(() => ({ q: 'x' }))
    const agent = { session: sessionOf(), stream, messages: question() }
    expect((await run(agent)).steps).toBe(2)
    agent.messages.push({ role: 'user', content: 'Look again.' })
    expect((await run(agent)).steps).toBe(2)
  })
})

test.each([false, true])(
  'an agent that sends no history is stopped all the same (streamed: %j)',
  async (stream) => {
    await limit({ loop_repeats: 3 })
    calling(() => ({ q: 'x' }))
    const session = crypto.randomUUID()
    const [first] = question()
    let made = 0
    const again = async (): Promise<void> => {
      await step({ session, stream, messages: [first!] })
      made += 1
      // What an answer adds is counted when its call has settled.
      await vi.waitFor(async () => expect((await sessions())[0].tool_calls).toBe(made), { timeout: 10_000 })
    }
    for (let n = 0; n < 3; n += 1) await again()
    await expect(again()).rejects.toMatchObject({ error: { details: { bound: 'repeated_tool', used: 3 } } })
  },
)

test.each([false, true])('answers that are nearly the same are a loop (streamed: %j)', async (stream) => {
  await limit({ loop_repeats: 3 })
  const text = (n: number) =>
    `I will now look at the file again to see whether the problem that you told me of is still there, for the ${n}th time, and then I will tell you about all of it in detail and in order as you asked me to do`
  const session = crypto.randomUUID()
  for (let n = 0; n < 3; n += 1) {
    upstream.reply({ content: text(n) })
    await step({ session, stream, withTools: false, messages: [{ role: 'user', content: `Go on ${n}` }] })
    await vi.waitFor(async () => expect((await sessions())[0].tokens).toBeGreaterThan(n * 10), {
      timeout: 10_000,
    })
  }
  const { error } = await run({ session, stream, withTools: false })
  expect(error.error.details).toMatchObject({ bound: 'repeated_answer', limit: 3 })
})

describe('a session', () => {
  const spent = () =>
    vi.waitFor(async () => expect((await sessions())[0].tokens).toBeGreaterThan(0), { timeout: 10_000 })

  test.each([
    ['tokens', { max_tokens: 1 }],
    ['cost_usd', { max_cost_usd: 0.000_000_001 }],
    ['tool_calls', { max_tool_calls: 1 }],
    ['depth', { max_depth: 1 }],
  ])('ends at its %s', async (bound, config) => {
    await limit(config)
    calling((n) => ({ page: n }))
    const agent = { session: crypto.randomUUID(), messages: question() }
    await step(agent)
    await spent()
    expect(boundOf(await run(agent))[2]).toBe(bound)
  })

  test('ends after its minutes', async () => {
    await limit({ max_minutes: 0.000_01 })
    const session = crypto.randomUUID()
    await step({ session })
    await expect.poll(async () => boundOf(await run({ session }))[2]).toBe('minutes')
  })

  test('has its calls counted exactly when they come at once, and those that others refuse given back', async () => {
    await limit({ max_calls: 5 })
    const session = crypto.randomUUID()
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => step({ session })))
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
    expect(upstream.requests).toHaveLength(5)
    const other = crypto.randomUUID()
    await gateway.module('loadshed', { enabled: false })
    const unknown = await gateway.api('POST', '/v1/chat/completions', { model: 'no-such-model' })
    expect(unknown.status).toBe(400)
    await step({ session: other })
    expect((await sessions())[0]).toMatchObject({ session: other, calls: 1 })
  })

  test('of another user is another one, and a user sees only their own', async () => {
    await limit({ max_calls: 1 })
    const [ada, bob] = [await gateway.signUp('ada-guard'), await gateway.signUp('bob-guard')]
    const session = crypto.randomUUID()
    await step({ session, key: ada.key })
    await step({ session, key: bob.key })
    const own = await sessions('', ada.key)
    expect(own).toHaveLength(1)
    expect(own[0]).toMatchObject({ session, user_id: ada.userId, calls: 1, state: 'active', from: 'header' })
    const [theirs] = await sessions('', bob.key)
    const kill = `/api/modules/agentguard/sessions/${theirs.id}/kill`
    expect((await gateway.api('POST', kill, {}, ada.key)).status).toBe(404)
    const reset = await gateway.api(
      'DELETE',
      `/api/modules/agentguard/sessions/${own[0].id}`,
      undefined,
      ada.key,
    )
    expect(reset.status).toBe(403)
    await gateway.api('DELETE', `/api/auth/users/${ada.userId}/data`)
    expect(await sessions('', ada.key)).toEqual([])
  })

  test('may begin anew when an admin resets it, and is told to others when it stops', async () => {
    await limit({ max_calls: 1 })
    const told: unknown[] = []
    const end = gateway.kernel.events.onAny((data, { type }) => {
      if (type.name === 'agent.session_stopped') told.push(data)
    })
    const session = crypto.randomUUID()
    await step({ session })
    await run({ session })
    await run({ session })
    end()
    const [{ id }] = await sessions('?state=stopped&limit=1')
    expect(told).toEqual([{ session_id: id, bound: 'calls', limit: 1, user_id: null }])
    const reset = await gateway.api('DELETE', `/api/modules/agentguard/sessions/${id}`)
    expect([reset.status, reset.body]).toEqual([200, { deleted: true, id }])
    await step({ session })
  })

  test.each([false, true])('that is killed ends at once (streamed: %j)', async (stream) => {
    await limit({})
    const session = crypto.randomUUID()
    upstream.reply(stream ? { content: ['one ', 'two '], hangAfter: 2 } : { hang: true })
    const running = run({ session, stream }, 1)
    const request = await upstream.received(1)
    const [{ id }] = await sessions()
    const { status, body } = await gateway.api('POST', `/api/modules/agentguard/sessions/${id}/kill`, {
      reason: 'It runs away.',
    })
    expect([status, body.state, body.reason]).toEqual([200, 'killed', 'It runs away.'])
    expect((await running).error).toBeInstanceOf(Error)
    await request.closed
    const after = await run({ session, stream })
    expect([after.steps, boundOf(after)]).toEqual([0, [429, 'session_stopped', 'killed']])
  })
})

test('a limit that has a default is switched off by `none`, and on again by a number or the default', async () => {
  const looping = async (loop_repeats: unknown) => {
    await limit({ max_calls: 6, loop_repeats })
    upstream.reset()
    calling(() => ({ q: 'x' }))
    const stopped = await run({ session: crypto.randomUUID(), messages: question() })
    return [stopped.steps, boundOf(stopped)[2]]
  }
  expect(await looping('none')).toEqual([6, 'calls'])
  expect(await looping(2)).toEqual([2, 'repeated_tool'])
  expect(await looping(null)).toEqual([4, 'repeated_tool'])
})

test('which calls without a session id are meant is a setting', async () => {
  const plain = question()
  const twice = async () => {
    const agent = { withTools: false, messages: plain.slice(0, 1) }
    return Promise.allSettled([step(agent), step({ ...agent, messages: plain.slice(0, 1) })])
  }
  const refused = (all: readonly PromiseSettledResult<unknown>[]) =>
    all.filter(({ status }) => status === 'rejected').length
  await limit({ max_calls: 1 })
  expect(refused(await twice())).toBe(0)
  await limit({ max_calls: 1, derive: 'all' })
  expect(refused(await twice())).toBe(1)
  await limit({ max_calls: 1, derive: 'none' })
  expect(
    refused(await Promise.allSettled([step({ messages: [...plain] }), step({ messages: [...plain] })])),
  ).toBe(0)
})

test('a call that ends before a provider is asked is none of its session', async () => {
  const session = crypto.randomUUID()
  await limit({ max_calls: 1 })
  await gateway.module('secretscan', { enabled: true, config: { request: 'block' } })
  const messages: Message[] = [{ role: 'user', content: `my key is ghp_${'a1B2c3D4e5F6'.repeat(3)}` }]
  await expect(step({ session, messages })).rejects.toMatchObject({ status: 400 })
  await gateway.module('secretscan', { config: null })
  const allowed = async () => {
    await step({ session })
    return true
  }
  // The bound is lifted when the call has settled, a moment after its answer.
  await expect.poll(() => allowed().catch(() => false)).toBe(true)
  await expect(step({ session })).rejects.toMatchObject({ status: 429 })
})

test('sessions hold over a restart, killed ones too', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'switchyard-agentguard-'))
  const config = { modules: { agentguard: { enabled: true, config: { ...unlimited, max_calls: 2 } } } }
  const start = () => startGateway({ upstream, dataDir, config })
  let other = await start()
  const call = async (session: string) => {
    const response = await fetch(`${other.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${other.adminKey}`,
        'content-type': 'application/json',
        'x-session-id': session,
      },
      body: JSON.stringify({ model, messages: question() }),
    })
    await response.text()
    return response.status
  }
  const listed = async () => (await other.api('GET', '/api/modules/agentguard/sessions')).body
  try {
    expect([await call('counted'), await call('killed')]).toEqual([200, 200])
    const { sessions } = await listed()
    const { id } = sessions.find(({ session }: { session: string }) => session === 'killed')
    await other.api('POST', `/api/modules/agentguard/sessions/${id}/kill`, {})
    await other.close()
    other = await start()
    expect(await listed()).toMatchObject({ total: 2, has_more: false })
    expect([await call('counted'), await call('counted'), await call('killed')]).toEqual([200, 429, 429])
  } finally {
    await other.close()
    await rm(dataDir, { recursive: true, force: true })
  }
})
