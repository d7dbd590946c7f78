import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Dropin } from '../test/dropins.ts'
import { contentOf, type Isolated, shareGateways, textOf } from '../test/isolated.ts'

const startIsolated = shareGateways()
let far: Isolated
let { gateway, upstream } = {} as Isolated

afterEach(() => far?.close())

async function withModule(
  setup: string,
  manifest: Dropin['manifest'] = {},
  config: object = {},
): Promise<void> {
  far = await startIsolated('worker', setup, manifest, config)
  ;({ gateway, upstream } = far)
}

const call = (body: object = {}): Promise<Response> => far.call(body)
const shown = () => far.shown()

/** Far more than it takes, for machines that are busy. */
const patience = { timeout: 20_000 }

/** The first look at a module in a worker starts another one, to learn its settings. */

describe('a module in a worker', () => {
  test('sees and changes calls, answers, streams and the trace, and remembers what it did for a call', async () => {
    await withModule(
      `const seen = ctx.slot(() => ({ n: 0 }))
      return {
        request(call) {
          seen(call).n += 1
          call.trace.header('x-thread', String(globalThis.isGateway ?? 'none'))
          call.trace.note('far', 'looked', { at: call.request.messages.length })
          return call.withRequest({ max_tokens: 7, messages: [...call.request.messages, { role: 'user', content: 'more' }] })
        },
        reply(body, call) { return { ...body, choices: body.choices.map((choice) => ({ ...choice,
          message: { ...choice.message, content: choice.message.content + ' ' + seen(call).n } })) } },
        stream: () => ({ push(chunk, out) { out.emit(chunk) } }),
        async settled(outcome, call) { ctx.report('settled', outcome.ending + ' ' + seen(call).n) },
      }`,
    )
    ;(globalThis as { isGateway?: boolean }).isGateway = true
    upstream.reply({ content: 'one' })
    const response = await call()
    delete (globalThis as { isGateway?: boolean }).isGateway
    expect(response.headers.get('x-thread')).toBe('none')
    expect(await textOf(response)).toBe('one 1')
    expect(upstream.last().body).toMatchObject({ max_tokens: 7, messages: [{}, { content: 'more' }] })
    upstream.reply({ content: ['a ', 'b ', 'c'] })
    expect(contentOf(await (await call({ stream: true })).text())).toBe('a b c')
    const events = async () => (await gateway.api('GET', '/api/proxy/modules/far/events')).body.events
    await expect.poll(async () => (await events()).length).toBe(2)
    expect(await events()).toMatchObject([{ kind: 'settled', detail: 'ok 1' }, { detail: 'ok 1' }])
    const trace = await gateway.api('GET', `/api/observe/traces/${response.headers.get('x-trace-id')}`)
    expect(JSON.stringify(trace.body)).toContain('looked')
    expect(await shown()).toMatchObject({ state: 'active', isolation: 'worker', stats: { errors: 0 } })
  })

  test('that says what makes no sense harms nobody, and goes on', async () => {
    await withModule(`return import('node:worker_threads').then(({ parentPort }) => ({ request(call) {
      for (const odd of [null, {}, 7, { notify: 'log', argument: { level: 'bogus' } }, { notify: 'emit' }, { notify: 'abort' }, { call: 1, method: 'nothing' },
        ...['mayRecord', 'finding', 'slot', 7].map((add) => ({ notify: 'add', argument: { of: call.id, add, given: [undefined] } })),
        { notify: 'add', argument: { of: call.id, add: 'decide' } }, { notify: 'fail' }, { call: 1e6, method: 'next', argument: { of: call.id } },
        { call: 1e6, method: 'read', argument: { of: call.id, run: 7, stream: 'x' } }])
        parentPort.postMessage([odd])
      parentPort.postMessage(7)
      call.trace.header('x-far', 'here')
    } }))`)
    for (let n = 0; n < 2; n++) expect((await call()).headers.get('x-far')).toBe('here')
    expect(gateway.logged.join('')).toContain('an uncaught error in a background task')
  })

  test('answers by itself, and finds what is cut in two', async () => {
    await withModule(
      `return {
      request(call) {
        if (call.request.user === 'answer') return { kind: 'whole', body: { choices: [{ index: 0, message: { role: 'assistant', content: 'here' }, finish_reason: 'stop' }] } }
      },
      detect: { reply: { reach: 6, scan: (text, place, call, from) => {
        const starts = Array.from(text.slice(from).matchAll(/secret/g), ({ index }) => from + index)
        return starts.map((start) => ({ start, end: start + 6, label: 'word', action: 'replace', replacement: '***' }))
      } } },
    }`,
      { finds: 'policy' },
    )
    expect(await textOf(await call({ user: 'answer' }))).toBe('here')
    expect(contentOf(await (await call({ user: 'answer', stream: true })).text())).toBe('here')
    upstream.reply({ content: ['a sec', 'ret to ', 'keep, sec', 'ret', '!'] })
    const response = await call({ stream: true })
    expect(contentOf(await response.text())).toBe('a *** to keep, ***!')
    const { guardrails } = await far.traceOf(response)
    const spans = [2, 18].map((start) => ({ role: 'assistant', kind: 'content', start, end: start + 6 }))
    expect(guardrails).toMatchObject([{ module: 'far', type: 'policy', label: 'word', count: 2, spans }])
  })

  test('gets events that came together as one chunk, with what they add, and gives them back as they came', async () => {
    await withModule(`let events = 0
      let text = ''
      return {
        stream: () => ({ push(chunk, out) {
          events += chunk.events
          try { text += chunk.data.choices[0]?.delta?.content ?? '' } catch { text += '!' }
          out.emit(chunk)
        } }),
        settled() { ctx.report('settled', events + ' ' + text) },
      }`)
    const frame = (content: string) =>
      `data: {"id":"c","choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`
    const end = 'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    const events = ['a', 'b', 'ć', 'd', 'e'].map(frame)
    const odd = ['x', 'y', 'b\tad'].map(frame)
    for (const [chunks, said] of [
      [events, '6 abćde'],
      [odd, '10 abćdex!'],
    ] as const) {
      upstream.reply({ chunks: [[...chunks, end, 'data: [DONE]\n\n'].join('')] })
      expect(await (await call({ stream: true })).text()).toBe([...chunks, end, 'data: [DONE]\n\n'].join(''))
      const reports = async () => (await gateway.api('GET', '/api/proxy/modules/far/events')).body.events
      await expect.poll(async () => (await reports())[0]?.detail).toBe(said)
    }
  })

  test('keeps what it remembers over a change of its settings', async () => {
    await withModule(`const count = ctx.memory('count', () => ({ n: 0 }))
      return { request(call) { count.n += 1; call.trace.header('x-count', String(count.n)) } }`)
    await call()
    await call()
    await gateway.module('far', { config: { again: true } })
    expect((await call()).headers.get('x-count')).toBe('3')
    await gateway.module('far', { enabled: false })
    await gateway.module('far', { enabled: true })
    expect((await call()).headers.get('x-count')).toBe('4')
  })

  test('learns how a call ended whose client left, with what it kept for it', async () => {
    await withModule(`const seen = ctx.slot(() => ({ n: 0 }))
      return {
        request(call) { seen(call).n = 41 },
        settled(outcome, call) { ctx.report('settled', outcome.ending + ' ' + (seen(call).n + 1)) },
      }`)
    upstream.reply({ content: ['one ', 'two ', 'three'], gapMs: 200 })
    const leaving = new AbortController()
    const response = await far.call({ stream: true }, { signal: leaving.signal })
    await response.body!.getReader().read()
    leaving.abort()
    const events = async () => (await gateway.api('GET', '/api/proxy/modules/far/events')).body.events
    await expect.poll(events).toMatchObject([{ kind: 'settled', detail: 'client_abort 42' }])
  })

  test('asks models through the gateway, within its budget', async () => {
    await withModule(
      `return { async request(call) {
        const { choices } = await ctx.complete({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: '?' }] }, { on: call })
        call.trace.header('x-judge', choices[0].message.content)
      } }`,
      { permissions: ['body:read', 'models:1'] },
    )
    upstream.reply({ content: 'fine' })
    expect((await call()).headers.get('x-judge')).toBe('fine')
    expect(upstream.requests).toHaveLength(2)
  })

  test('does not see texts that it may not read', async () => {
    await withModule(
      `return { request(call) { ctx.report('saw', JSON.stringify(call.request)); return call.withRequest({ n: 1 }) } }`,
      { permissions: [] },
    )
    await call()
    const { body } = await gateway.api('GET', '/api/proxy/modules/far/events')
    expect(body.events[0].detail).not.toContain('hi')
    expect(upstream.last().body).toMatchObject({ n: 1, messages: [{ content: 'hi' }] })
  })
})

test.each([
  ['a route', `ctx.route({})`, 'routes'],
  ['a word in where calls go', `return { eligible: () => undefined }`, 'a word in where calls go'],
  ['a look at what leaves', `return { show: {} }`, 'the hook show'],
  ['the end of attempts', `return { attemptEnded() {} }`, 'the hook attemptEnded'],
  ['a call for others', `ctx.call({}, {})`, 'calls in the name of others'],
  ['a look at targets', `ctx.targets({})`, 'the places that calls may go to'],
  ['a service', `ctx.use(Symbol.for('switchyard:x'))`, 'services'],
])('what cannot cross is refused with a word on what to do: %s', async (_, setup, what) => {
  await withModule(setup, { permissions: ['body:write', 'routes'] })
  const { state, problem } = await shown()
  expect({ state, problem }).toEqual({
    state: 'failed',
    problem: `far runs in a worker, which does not support ${what}: set "isolation": "inproc"`,
  })
  expect((await call()).status).toBe(200)
})

describe('a module that goes wrong in its worker is tripped when it does so often, the call goes on, and it comes back', () => {
  const ways = {
    'an endless loop': [`for (;;);`, 'no sign of life for 400 ms'],
    'a leak': [
      `const all = []; for (;;) all.push(new Array(1e5).fill(all.length))`,
      'more memory than it may',
    ],
    'an error that nobody catches': [
      `setTimeout(() => { throw new Error('loose') })
      return new Promise(() => {})`,
      'Error was thrown in it',
    ],
    'an exit': [`process.exit(3)`, 'ended with code 3'],
  } as const

  test.each(Object.entries(ways))('%s in a request', async (_, [code, reason]) => {
    await withModule(
      `return { request(call) {
      if (call.request.user !== 'harm') { call.trace.header('x-far', 'yes'); return }
      ${code}
    } }`,
      {},
      {
        workers: { hang: reason.includes('sign of life') ? '400ms' : '10s', memory: '64mb' },
        module_circuit: { open: '1s', timeout: '5s', failures: 1 },
      },
    )
    let asked = 0
    const marked = async (body?: object): Promise<string | null> => {
      asked += 1
      const { status, headers } = await call(body)
      expect(status).toBe(200)
      return headers.get('x-far')
    }
    expect(await marked()).toBe('yes')
    // It may have come back already before it is seen to be left out: then it is lost once more.
    const leftOut = async (): Promise<string | null> => {
      const harmed = marked({ user: 'harm' })
      expect((await gateway.api('GET', '/health')).status).toBe(200)
      await harmed
      expect(await shown()).toMatchObject({ state: 'tripped', problem: expect.stringContaining(reason) })
      return marked()
    }
    await expect.poll(leftOut, patience).toBeNull()
    await expect.poll(() => marked(), patience).toBe('yes')
    await expect.poll(async () => (await shown()).state).toBe('active')
    expect(upstream.requests).toHaveLength(asked)
  })

  /** Only what does not end is taken for that, though the machine is busy. */
  const patient = { workers: { hang: '2s', memory: '64mb' } }

  /** A streamed call: what comes after so many chunks of the provider is held back until the client has seen this. */
  async function streamed(content: readonly string[], after: number, seen: string): Promise<string> {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>()
    // Apart from each other after that, too, as events that come together are one chunk.
    upstream.reply({ content, gate: { opened, after }, gapMs: 20 })
    const response = await call({ stream: true })
    let text = ''
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      text += part
      if (text.includes(seen)) open()
    }
    return text
  }

  test('an endless loop in the middle of a stream, which goes on as it came', async () => {
    await withModule(
      `return { stream: () => ({ push(chunk, out) {
        if (chunk.data.choices[0]?.delta?.content?.includes('two ')) for (;;);
        out.emit(chunk)
      } }) }`,
      {},
      patient,
    )
    const text = await streamed(['one ', 'two ', 'three'], 2, 'one ')
    expect(contentOf(text)).toBe('one two three')
    expect(text).toContain('[DONE]')
    await expect.poll(shown).toMatchObject({ state: 'active', stats: { errors: 1 } })
  })

  test('an endless loop in the middle of a stream that it was changing, which ends with an error', async () => {
    await withModule(
      `return { stream: () => ({ push(chunk, out) {
        const content = chunk.data.choices[0]?.delta?.content
        if (content?.includes('two ')) for (;;);
        if (content !== 'one ') out.emit(chunk)
      } }) }`,
      {},
      patient,
    )
    // The module has changed something before it is asked about what it does not come back from.
    const text = await streamed(['one ', 'half ', 'two ', 'three'], 3, 'half ')
    expect(text).toContain('"module":"far"')
    expect(text).not.toContain('[DONE]')
  })

  test('an endless loop when its code is imported, or in its setup', async () => {
    await withModule(
      `for (;;);`,
      { enabled: false },
      {
        plugins: { setup_timeout: '3s' },
      },
    )
    const change = gateway.api('PUT', '/api/proxy/modules/far', { enabled: true })
    expect((await gateway.api('GET', '/health')).status).toBe(200)
    expect((await call()).status).toBe(200)
    expect(await change).toMatchObject({ status: 409 })
    expect((await shown()).problem).toContain('was not ready within')
  })

  test('what refuses then says so with 503', async () => {
    await withModule(`return { request() { process.exit(1) } }`, { failure: 'closed' })
    for (let n = 0; n < 5; n++) expect((await call()).status).toBe(500)
    const refused = await call()
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({ error: { module: 'far', type: 'module_tripped' } })
  })
})

describe('a call that costs a module its worker', () => {
  const harm = (code: string) => `return { async request(call) {
    if (call.request.user === 'harm') ${code}
    if (call.request.user === 'slow') ctx.report('slow', call.id)
    if (call.request.user === 'slow') await new Promise((resolve) => setTimeout(resolve, 60_000))
    call.trace.header('x-far', 'yes')
  } }`
  const served = async (): Promise<void> => {
    const response = await call()
    expect([response.status, response.headers.get('x-far')]).toEqual([200, 'yes'])
  }

  test.each(['for (;;);', 'process.exit(1)'])(
    'takes it from no call after it, whatever else was in the worker: %s',
    async (code) => {
      await withModule(
        harm(code),
        { failure: 'closed' },
        { module_circuit: { open: '1h', timeout: '5s', budget: '300ms' } },
      )
      await served()
      const others = Array.from({ length: 8 }, () => call({ user: 'slow' }))
      await expect.poll(() => far.reported()).toHaveLength(8)
      expect((await call({ user: 'harm' })).status).toBe(500)
      expect((await Promise.all(others)).map(({ status }) => status)).toEqual(others.map(() => 500))
      await Promise.all(Array.from({ length: 8 }, served))
      expect(await shown()).toMatchObject({ state: 'active', stats: { errors: 9 } })
    },
  )

  test('does not shut out the calls of others, however often it is made', async () => {
    await withModule(harm('process.exit(1)'), { failure: 'closed' })
    for (let n = 0; n < 7; n++) {
      expect((await call({ user: 'harm' })).status).toBe(500)
      await served()
      await served()
    }
    expect((await shown()).state).toBe('active')
  })
})

test('a module that cannot start again after it lost its worker is left out at once', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-isolation-'))
  const flag = JSON.stringify(path.join(folder, 'lost'))
  await withModule(`return import('node:fs').then(({ existsSync, writeFileSync }) => {
    if (existsSync(${flag})) throw new Error('no')
    return { request(call) {
      writeFileSync(${flag}, '')
      process.exit(1)
    } }
  })`)
  expect((await call()).status).toBe(200)
  expect((await shown()).state).toBe('active')
  expect((await call()).status).toBe(200)
  expect(await shown()).toMatchObject({ state: 'tripped', problem: expect.stringContaining('start: Error') })
  await rm(folder, { recursive: true })
})

test.each([
  ['a throw in request', `request() { throw new Error('no') }`, 'request: Error'],
  ['a throw in reply', `reply() { throw new Error('no') }, stream: 'buffer'`, 'reply: Error'],
  ['a throw in a filter', `stream: () => ({ push() { throw new Error('no') } })`, 'stream: Error'],
  ['a throw in settled', `settled() { throw new Error('no') }`, 'settled: Error'],
  [
    'a throw in a detection',
    `detect: { request: { reach: 1, scan() { throw new Error('no') } } }`,
    'detect: Error',
  ],
  ['a throw at the door', `admit() { throw new Error('no') }`, 'admit: Error'],
  ['a request of text', `request: () => 'yes'`, 'request: expected a call'],
  [
    'a call with a function in it',
    `request: (call) => call.withRequest({ user: () => 1 })`,
    'cannot be sent from the worker',
  ],
  ['a promise that never resolves', `request: () => new Promise(() => {})`, 'no answer within'],
])('a hook that fails in a worker is counted and harms no call: %s', async (_, hooks, detail) => {
  await withModule(
    `return { ${hooks} }`,
    {},
    { module_circuit: { open: '1h', timeout: '500ms', failures: 2 } },
  )
  upstream.reply({ content: ['one ', 'two'], times: 6 })
  for (const stream of [true, false, true]) {
    const response = await call({ stream })
    expect(response.status).toBe(200)
    expect(await response.text()).toContain(stream ? '[DONE]' : 'one two')
  }
  const events = async () =>
    JSON.stringify((await gateway.api('GET', '/api/proxy/modules/far/events')).body.events)
  await expect.poll(events).toContain(detail)
  await expect.poll(async () => (await shown()).state).toBe('tripped')
})

test('an event that cannot cross is told of, and does no harm', async () => {
  await withModule(
    `return { request() { ctx.emit({ name: 'far.happened', description: '' }, { why() {} }) } }`,
  )
  expect((await call()).status).toBe(200)
  await expect.poll(() => gateway.logged.join('')).toContain('a value cannot be sent from the worker')
  expect(gateway.logged.join('')).toContain('far.happened')
})

test('a refusal in a worker is the refusal of the module, counted once', async () => {
  await withModule(`return { detect: { request: { reach: 2, scan: (text, place, call, from) =>
    from === 0 ? [{ start: 0, end: 2, label: 'greeting', action: 'block' }] : [] } } }`)
  const response = await call()
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { module: 'far', type: 'content_blocked' } })
  expect((await shown()).stats).toMatchObject({ refusals: 1, errors: 0 })
  const trace = await gateway.api('GET', `/api/observe/traces/${response.headers.get('x-trace-id')}`)
  expect(JSON.stringify(trace.body.request ?? null)).not.toContain('"hi"')
})
