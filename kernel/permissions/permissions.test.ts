import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { type Dropin, writeDropins } from '../../test/dropins.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let gateway: TestGateway
let upstream: Upstream
let remove: () => Promise<void>
let server: Server | undefined

afterEach(async () => {
  await gateway?.close()
  await upstream?.close()
  await remove?.()
  server?.close()
  server = undefined
})

async function withModule(
  setup: string,
  permissions: readonly string[],
  config: object = {},
  manifest: Dropin['manifest'] = {},
): Promise<void> {
  const dropins = await writeDropins({ asks: { setup, manifest: { permissions, ...manifest } } })
  remove = dropins.remove
  upstream = await startUpstream()
  gateway = await startGateway({ upstream, config: { plugin_dirs: [dropins.folder], ...config } })
}

const call = (body: object = {}): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'a secret' }],
      ...body,
    }),
  })

const shown = async () => (await gateway.api('GET', '/api/proxy/modules/asks')).body
const reported = async (): Promise<string[]> =>
  (await gateway.api('GET', '/api/proxy/modules/asks/events')).body.events.map(
    ({ detail }: { detail: string }) => detail,
  )

describe('what was not asked for', () => {
  test.each([
    ['store', `ctx.store.collection('a', {})`],
    [
      'routes',
      `ctx.route({ method: 'get', path: '/api/a', access: 'any', summary: 's', returns: 'text', handle() {} })`,
    ],
    ['providers', `ctx.protocol({ id: 'a' })`],
    ['network:example.com', `await ctx.fetch('https://example.com/')`],
    ['network:example.com', `await ctx.post('https://example.com/', { body: '' })`],
    ['secrets:TOKEN', `ctx.secret('TOKEN')`],
    ['models:<USD a day>', `await ctx.complete({ model: 'gpt-4o-mini', messages: [] })`],
    ['body:read', `return { stream: () => undefined }`],
    ['body:read', `return { around: (call, next) => next(call) }`],
  ])('stops the setup, which names the permission: %s', async (permission, code) => {
    await withModule(`return (async () => { ${code} })()`, [])
    expect(await shown()).toMatchObject({
      state: 'failed',
      problem: expect.stringContaining(`without the permission "${permission}"`),
    })
    expect((await shown()).problem).toContain('in its manifest')
    expect((await call()).status).toBe(200)
  })

  test.each([
    'reveal: { reach: 1, scan: () => [] }',
    'show: { headers: () => {} }',
    'detect: { request: { reach: 1, scan: () => [], frame: (text) => text } }',
  ])('to change texts stops the setup of a module that may only read them: %s', async (hooks) => {
    await withModule(`return { ${hooks} }`, ['body:read'])
    expect(await shown()).toMatchObject({
      state: 'failed',
      problem: expect.stringContaining('which changes texts, without the permission "body:write"'),
    })
  })

  test('is no reason to refuse a copy of the context', async () => {
    await withModule(`const copy = { ...ctx }; return { request() { copy.report('ran', copy.id) } }`, [])
    await call()
    expect(await reported()).toEqual(['asks'])
  })

  test('cannot be asked for by a name that nobody knows', async () => {
    await withModule('', ['files'])
    expect(await shown()).toMatchObject({
      state: 'invalid',
      problem: expect.stringContaining('network:<host>'),
    })
  })
})

describe('the texts of calls', () => {
  test('are not in the call of a module that may not read them, which may change parameters nevertheless', async () => {
    await withModule(
      `return {
        request(call) {
          ctx.report('request', JSON.stringify(call.request))
          return call.withRequest({ max_tokens: 7 })
        },
        settled(outcome, call) { ctx.report('settled', JSON.stringify([call.request, outcome.body() ?? null])) },
      }`,
      [],
    )
    expect((await call({ user: 'ada' })).status).toBe(200)
    await expect.poll(async () => (await reported()).length).toBe(2)
    expect((await reported()).join(' ')).not.toMatch(/secret|ada/)
    expect(upstream.last().body).toMatchObject({
      max_tokens: 7,
      user: 'ada',
      messages: [{ role: 'user', content: 'a secret' }],
    })
  })

  test.each([
    [[], `request: (call) => call.withRequest({ messages: [] })`, 'changes messages of a request'],
    [[], `request: () => ({ kind: 'whole', body: { choices: [] } })`, 'answers a call'],
    [['body:read'], `request: (call) => call.withRequest({ messages: [] })`, 'changes messages of a request'],
    [
      ['body:read'],
      `around: (call, next) => next(call.withRequest({ user: 'x' }))`,
      'changes user of a request',
    ],
    [['body:read'], `around: async (call, next) => ({ ...(await next(call)) })`, 'answers a call'],
    [['body:read'], `reply: (body) => ({ ...body }), stream: 'buffer'`, 'changes an answer'],
    [
      ['body:read'],
      `stream: () => ({ push: (chunk, out) => { out.emit(chunk); out.emit(chunk) } })`,
      'changes an answer',
    ],
    [
      ['body:read'],
      `detect: { request: { reach: 9, scan: () => [{ start: 0, end: 1, label: 'x', action: 'replace' }] } }`,
      'replaces a text',
    ],
  ])('are not changed by a module that may not: %s %s', async (permissions, hooks, what) => {
    await withModule(`return { ${hooks} }`, permissions)
    for (const stream of [false, true]) {
      const response = await call({ stream })
      expect(response.status).toBe(200)
      expect(await response.text()).toContain('chat.completion')
    }
    expect(upstream.last().body).toMatchObject({ messages: [{ role: 'user', content: 'a secret' }] })
    expect((await reported()).join(' ')).toContain(`${what} without the permission "body:write"`)
    expect((await reported()).join(' ')).not.toContain('answers a call without the permission "body:read"')
  })

  test('may be read and refused by a module that may read only', async () => {
    await withModule(
      `return { detect: { request: { reach: 9, scan: (text, place, call, from) => {
        const start = text.indexOf('secret', from)
        return start < 0 ? [] : [{ start, end: start + 6, label: 'word', action: 'block' }]
      } } }, stream: () => ({ push: (chunk, out) => out.emit(chunk) }) }`,
      ['body:read'],
    )
    expect((await call()).status).toBe(400)
    const passed = await call({ messages: [{ role: 'user', content: 'hello' }], stream: true })
    expect(await passed.text()).toContain('[DONE]')
    expect((await shown()).stats.errors).toBe(0)
  })
})

describe('the network', () => {
  const fetching = `return { async request(call) {
    const url = call.request.metadata?.url ?? call.request.user
    try {
      const response = await ctx.fetch(url)
      ctx.report('fetched', await response.text())
    } catch (error) { ctx.report('refused', error.message) }
  } }`
  const read = (...hosts: string[]) => ['body:read', ...hosts.map((host) => `network:${host}`)]

  async function listen(): Promise<string> {
    server = createServer((req, res) => {
      const to = new URL(req.url ?? '/', 'http://x').searchParams.get('to')
      if (to) res.writeHead(302, { location: to }).end()
      else res.end('hello')
    })
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
    return `:${(server.address() as AddressInfo).port}`
  }

  test.each([
    'http://127.0.0.1',
    'http://0x7f.1',
    'http://localhost',
    'http://[::1]',
    'http://[::ffff:127.0.0.1]',
    'http://10.1.2.3',
    'http://169.254.169.254/latest/meta-data',
    'http://168.63.129.16',
    'http://0.0.0.0',
    'http://[fd00:ec2::254]',
  ])('does not lead to where only insiders get: %s', async (url) => {
    await withModule(fetching, read('*'))
    await call({ user: url })
    expect((await reported())[0]).toContain('where plugins may not go')
  })

  test('leads to an address that the operator allowed, and through a redirect no further', async () => {
    const port = await listen()
    await withModule(fetching, read('127.0.0.1', 'localhost'), { egress: { allow: ['127.0.0.1/32'] } })
    await call({ user: `http://127.0.0.1${port}/` })
    await call({ user: `http://localhost${port}/?to=${encodeURIComponent('http://169.254.169.254/')}` })
    await call({ user: `http://127.0.0.1${port}/?to=${encodeURIComponent(`http://127.0.0.2${port}/`)}` })
    await call({ user: 'https://elsewhere.example/' })
    await call({ user: 'file:///etc/passwd' })
    expect((await reported()).toReversed()).toEqual([
      'hello',
      expect.stringContaining('without the permission "network:169.254.169.254"'),
      expect.stringContaining('without the permission "network:127.0.0.2"'),
      expect.stringContaining('without the permission "network:elsewhere.example"'),
      expect.stringContaining('file:'),
    ])
  })

  test('does not lead inside through a redirect of a host that may be reached', async () => {
    const port = await listen()
    await withModule(fetching, read('*'), { egress: { allow: ['localhost'] } })
    await call({ user: `http://localhost${port}/?to=${encodeURIComponent(`http://127.0.0.1${port}/`)}` })
    expect((await reported())[0]).toContain('127.0.0.1 (loopback), where plugins may not go')
  })
})

describe('a posted message', () => {
  const posting = `return { async request(call) {
    const { user: url, messages, stop } = call.request
    try {
      const { status, headers } = await ctx.post(url, {
        body: messages[0].content,
        headers: { 'x-mark': 'one' },
        ...(stop && { signal: AbortSignal.timeout(20) }),
      })
      ctx.report('posted', status + ' ' + (headers.location ?? headers['x-answer']))
    } catch (error) { ctx.report('failed', error.name + ': ' + error.message) }
  } }`
  let connections: number
  let got: string[]

  /** A receiver on this machine, and a module that may post to it. */
  async function withReceiver(isolation?: 'worker'): Promise<string> {
    connections = 0
    got = []
    server = createServer(async (req, res) => {
      got.push(`${req.method} ${req.headers['x-mark']} ${(await req.toArray()).join('')}`)
      if (req.url === '/silent') return
      if (req.url === '/moved') res.writeHead(302, { location: '/' }).end()
      else if (req.url === '/endless') res.writeHead(200, { 'x-answer': 'endless' }).write('and')
      else res.writeHead(202, { 'x-answer': 'taken' }).end('x'.repeat(10_000))
    }).on('connection', () => (connections += 1))
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
    const permissions = ['body:read', 'network:*']
    await withModule(posting, permissions, { egress: { allow: ['127.0.0.1'] } }, isolation && { isolation })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  test.each([undefined, 'worker'] as const)(
    'arrives, and one connection serves the next (%s)',
    async (isolation) => {
      const url = await withReceiver(isolation)
      for (let n = 0; n < 5; n++) await call({ user: url })
      await expect.poll(reported).toEqual(Array(5).fill('202 taken'))
      expect(got).toEqual(Array(5).fill('POST one a secret'))
      expect(connections).toBe(1)
    },
  )

  test('is answered by its head alone, and follows no redirect', async () => {
    const url = await withReceiver()
    await call({ user: `${url}/endless` })
    await call({ user: `${url}/moved` })
    expect((await reported()).toReversed()).toEqual(['200 endless', '302 /'])
    expect(got).toHaveLength(2)
  })

  test('ends with the reason of its signal, and does not lead inside', async () => {
    const url = await withReceiver()
    await call({ user: `${url}/silent`, stop: 'now' })
    await call({ user: 'http://10.1.2.3/' })
    expect((await reported()).toReversed()).toEqual([
      expect.stringContaining('TimeoutError'),
      expect.stringContaining('where plugins may not go'),
    ])
  })
})

test('a secret is what the operator set, and says so when it is not set', async () => {
  await withModule(
    `ctx.report('secret', ctx.secret('TOKEN').length + ''); return { request() { ctx.secret('OTHER') } }`,
    ['secrets:TOKEN', 'secrets:OTHER'],
    { secrets: { TOKEN: 'hush-hush' } },
  )
  await call()
  expect(await reported()).toEqual([expect.stringContaining('set secrets.OTHER in service.yaml'), '9'])
})

describe('model calls of a plugin', () => {
  const asking = `return { async request(call) {
    if (call.request.user !== 'ask') return
    const answer = await ctx.complete({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'is it?' }] }, { on: call })
    call.trace.header('x-judge', answer.choices[0].message.content)
  } }`
  const price = { prices: { 'openai/gpt-4o-mini': { input_usd_per_m: 1000, output_usd_per_m: 1000 } } }

  test('are made, traced and paid on its own account, until its budget is used up', async () => {
    await withModule(asking, ['body:read', 'models:0.03'], price)
    const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 }
    upstream.reply({ content: 'yes', usage, times: 4 })
    const first = await call({ user: 'ask' })
    expect(first.headers.get('x-judge')).toBe('yes')
    expect(upstream.requests).toHaveLength(2)
    const second = await call({ user: 'ask' })
    expect(second.status).toBe(200)
    expect(second.headers.get('x-judge')).toBeNull()
    expect(upstream.requests).toHaveLength(3)
    expect((await reported())[0]).toContain('$0.02 of the $0.03 a day')
    await expect.poll(async () => (await gateway.api('GET', '/api/observe/traces')).body.total).toBe(3)
    const { body } = await gateway.api('GET', '/api/observe/traces')
    const own = body.traces.filter((trace: { key_id: string }) => trace.key_id === 'plugin:asks')
    expect(own).toMatchObject([{ cost_usd: 0.02 }])
    const { body: trace } = await gateway.api('GET', `/api/observe/traces/${own[0].id}`)
    expect(JSON.stringify(trace)).not.toContain('is it?')
    expect(gateway.kernel.registry.generation.leases).toBe(1)
  })

  test.each(['route', 'deliver'])('do not come by the module that makes them, in stage %s', async (stage) => {
    await withModule(
      `let met = 0
      return { async request(call) {
        met += 1
        if (met > 1) return
        await ctx.complete({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'is it?' }] }, { on: call })
        call.trace.header('x-met', String(met))
      } }`,
      ['body:read', 'models:1'],
      price,
      { stage },
    )
    expect((await call()).headers.get('x-met')).toBe('1')
    expect(upstream.requests).toHaveLength(2)
  })

  test('that fail are the failure of the module, not a refusal of the caller', async () => {
    await withModule(asking, ['body:read', 'models:1'], price)
    upstream.reply({ status: 401, body: { error: { message: 'no' } } })
    upstream.reply({ content: 'the answer' })
    const response = await call({ user: 'ask' })
    expect(response.status).toBe(200)
    expect((await shown()).stats.errors).toBe(1)
  })
})
