import { afterEach, describe, expect, test } from 'vitest'
import { contentOf, type Isolated, places, shareGateways, textOf } from '../test/isolated.ts'

/** Each of these modules does the same in the process and in a worker. */

const startIsolated = shareGateways()
let far: Isolated

afterEach(() => far?.close())

describe.each(places)('%s', (place) => {
  test('a module looks at tries before and after, adds to their headers, and refuses some', async () => {
    far = await startIsolated(
      place,
      `const met = new WeakSet()
      return {
        attempt(attempt, call, headers) {
          met.add(attempt.identity)
          headers['x-try'] = attempt.n + ' ' + attempt.model
          call.trace.header('x-known', Object.keys(headers).sort().join())
          if (call.request.user === 'no') throw Object.assign(new Error('not a word'), { secret: 1 })
        },
        attempted(attempt, call) {
          const { status, error, n } = attempt
          const same = call.trace.attempts.find((one) => one.n === n) === attempt
          const isMet = met.has(attempt.identity)
          ctx.report('tried', [n, status, error?.code, error?.providerStatus, error?.retryable, same, isMet].join(' '))
        },
      }`,
      { failure: 'closed' },
    )
    far.upstream.reply({ content: 'one' })
    far.upstream.reply({ status: 400 })
    const response = await far.call()
    expect(await textOf(response)).toBe('one')
    expect(response.headers.get('x-known')).toBe('traceparent,x-try')
    expect(far.upstream.last().headers['x-try']).toBe('1 gpt-4o-mini')
    expect((await far.call()).status).toBe(400)
    const refused = await far.call({ user: 'no' })
    expect(refused.status).toBe(500)
    expect(await refused.json()).toMatchObject({ error: { code: 'internal_error', module: 'far' } })
    expect(far.upstream.requests).toHaveLength(2)
    const reported = await far.reported()
    expect(reported.filter(([kind]) => kind === 'tried')).toEqual([
      ['tried', '1 200    true true'],
      ['tried', '1 400 bad_request 400 false true true'],
    ])
  })

  test('a module that reveals shows the client alone what it kept of the request, whole and streamed', async () => {
    far = await startIsolated(
      place,
      `const kept = ctx.slot(() => ({ name: undefined }))
      return {
        request(call) {
          const [first] = call.request.messages
          kept(call).name = first.content
          return call.withRequest({ messages: [{ ...first, content: '<1>' }] })
        },
        reveal: { reach: 3, applies: (call) => kept(call).name !== undefined, scan: (text, place, call, from) => {
          const start = text.indexOf('<1>', from)
          return start < 0 ? [] : [{ start, end: start + 3, label: 'name', action: 'replace', replacement: kept(call).name }]
        } },
      }`,
    )
    far.upstream.reply({ content: 'Hello <1>!' })
    far.upstream.reply({ content: ['Hello <', '1>', '!'] })
    const whole = await far.call()
    expect(await textOf(whole)).toBe('Hello hi!')
    expect(contentOf(await (await far.call({ stream: true })).text())).toBe('Hello hi!')
    expect(far.upstream.last().body).toMatchObject({ messages: [{ content: '<1>' }] })
    expect(JSON.stringify(await far.traceOf(whole))).toContain('Hello <1>!')
  })

  test('a module ends a call with its own error, and learns of the end', async () => {
    far = await startIsolated(
      place,
      `const late = ctx.slot(() => ({ timer: undefined, started: 0 }))
      return {
        request(call) {
          late(call).timer = setTimeout(() => call.cancel.abort(Object.assign(new Error('enough'), { name: 'Enough' })), 100)
          late(call).started = call.trace.started
        },
        settled({ ending, error }, call) {
          clearTimeout(late(call).timer)
          ctx.report('ended', [ending, call.cancel.reason?.name, performance.now() - late(call).started < 60_000].join(' '))
        },
      }`,
    )
    const never = Promise.withResolvers<void>()
    far.upstream.reply({ content: ['one ', 'two'], gate: { opened: never.promise, after: 1 } })
    const response = await far.call({ stream: true })
    await response.text().catch(() => '')
    await expect.poll(() => far.reported()).toContainEqual(['ended', 'gateway_error Enough true'])
    never.resolve()
  })

  test('a module in shadow changes nothing, and what it would have done is told', async () => {
    far = await startIsolated(
      place,
      `return {
        admit({ path }) { if (path.startsWith('/v1/')) throw new Error('no') },
        request: (call) => call.withRequest({ max_tokens: 7 }),
        around: async (call, next) => {
          const reply = await next(call.withRequest({ n: 2 }))
          return { kind: 'whole', body: { ...(reply.body ?? {}), model: 'other' } }
        },
        attempt(attempt, call, headers) { headers['x-far'] = 'yes' },
        stream: () => ({ push() {}, end(out) { out.finish('length') } }),
        settled: (outcome, call) => ctx.report('settled', outcome.ending),
      }`,
      { failure: 'closed' },
    )
    await far.gateway.module('far', { mode: 'shadow' })
    far.upstream.reply({ content: 'as it is' })
    const response = await far.call()
    expect(await textOf(response)).toBe('as it is')
    expect(far.upstream.last().body).not.toHaveProperty('max_tokens')
    expect(far.upstream.last().headers).not.toHaveProperty('x-far')
    await expect.poll(async () => (await far.reported()).map(([kind]) => kind)).toContain('settled')
    const { modules } = (await far.traceOf(response)) as { modules: Record<string, unknown>[] }
    const noted = modules.filter(({ module, mode }) => module === 'far' && mode === 'shadow')
    expect(noted.map(({ verdict, detail }) => [verdict, detail])).toEqual(
      expect.arrayContaining([
        ['changed', { of: 'request', paths: ['max_tokens'] }],
        ['changed', { of: 'request', paths: ['n'] }],
        ['changed', { of: 'headers', paths: ['x-far'] }],
        ['changed', { of: 'reply', paths: ['model'] }],
      ]),
    )
    far.upstream.reply({ content: ['one ', 'two'] })
    expect(contentOf(await (await far.call({ stream: true })).text())).toBe('one two')
    expect(await far.shown()).toMatchObject({ state: 'active', mode: 'shadow' })
  })

  test('what it leaves for others on the way is there: a header once set is not set again', async () => {
    far = await startIsolated(
      place,
      `return {
        request(call) {
          call.trace.header('x-far', 'first')
          call.trace.facts.far = { n: 1 }
          call.trace.decide({ kind: 'far', chosen: 'a', reason: 'because' })
        },
        reply(body, call) { call.trace.changeParam('-far') },
        stream(call) {
          const said = []
          call.trace.body = () => ({ choices: [{ index: 0, message: { role: 'assistant', content: said.join('') } }] })
          return { push(chunk, out) {
            said.push(chunk.data.choices[0]?.delta?.content?.toUpperCase() ?? '')
            out.emit(chunk)
          } }
        },
      }`,
    )
    far.upstream.reply({ content: 'one' })
    far.upstream.reply({ content: ['one ', 'two'] })
    await far.gateway.module('streamsnap', { enabled: false })
    const response = await far.call()
    expect(response.headers.get('x-far')).toBe('first')
    expect(response.headers.get('x-params-changed')).toBe('-far')
    const streamed = await far.call({ stream: true })
    await streamed.text()
    const trace = async () => JSON.stringify(await far.traceOf(streamed))
    await expect.poll(trace).toContain('"ONE TWO"')
    await far.gateway.module('streamsnap', { enabled: true })
  })
})

test.each(places)(
  'what a module in the place %s lacks is told with its state while it runs',
  async (place) => {
    far = await startIsolated(place, `ctx.report('lacks', 'a package'); return { request() {} }`)
    expect(await far.shown()).toMatchObject({
      state: 'active',
      problem: 'a package',
      warnings: ['It runs, and lacks something that it needs: a package'],
    })
  },
)
