import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LiveRoute } from '../kernel/route.ts'
import { startGateway, type TestGateway } from './harness.ts'
import { startUpstream, type Upstream } from './upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let userKey: string

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    upstream,
    config: {
      server: {
        body_limit: '64kb',
        proxy_body_limit: '256kb',
        body_nodes: 2000,
        cors_origins: ['https://good.example'],
      },
    },
  })
  userKey = (await gateway.signUp('hostile')).key
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const chat = (body: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${userKey}`, 'content-type': 'application/json', ...headers },
    body,
  })

const ask = (more: Record<string, unknown>): string =>
  JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }], ...more })

async function refused(
  response: Response,
  status: number,
): Promise<{ message: string; param: string | null }> {
  const { error } = (await response.json()) as {
    error: { code: string; status: number; message: string; param: string | null; request_id: string }
  }
  expect(error.status).toBe(status)
  expect(response.status).toBe(status)
  expect(error.request_id).toMatch(/^(tr|req)_/)
  return error
}

describe('a model call', () => {
  test.each([
    ['no JSON', '{"model": "gpt-4o-mini", ', undefined],
    ['nothing', '', undefined],
    ['a string', '"hello"', undefined],
    ['a list', '[]', undefined],
    ['null', 'null', undefined],
    ['a model that is a number', ask({ model: 4 }), 'model'],
    ['an empty model', ask({ model: '' }), 'model'],
    ['messages that are text', ask({ messages: 'hi' }), 'messages'],
    ['no messages', ask({ messages: [] }), 'messages'],
    ['a message that is null', ask({ messages: [null] }), 'messages.0'],
    ['an unknown role', ask({ messages: [{ role: 'root', content: 'x' }] }), 'messages.0.role'],
    ['content that is a number', ask({ messages: [{ role: 'user', content: 7 }] }), 'messages.0.content'],
    ['a stream that is text', ask({ stream: 'yes' }), 'stream'],
    ['tools that are an object', ask({ tools: {} }), 'tools'],
    ['a negative limit', ask({ max_tokens: -1 }), 'max_tokens'],
  ])('with %s is refused and names the field', async (_, body, param) => {
    const before = upstream.requests.length
    const error = await refused(await chat(body), 400)
    if (param !== undefined) expect(error.param).toBe(param)
    expect(upstream.requests).toHaveLength(before)
  })

  test.each(['/v1/chat/completions', '/v1/messages', '/v1/messages/count_tokens', '/v1/responses'])(
    'nested too deeply is refused on %s, in the words of that wire',
    async (at) => {
      const plain = { model: 'gpt-4o-mini', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }
      const asked = at === '/v1/responses' ? { model: plain.model, input: 'hi' } : plain
      const send = async (levels: number) => {
        const metadata = '['.repeat(levels - 1) + ']'.repeat(levels - 1)
        const body = `${JSON.stringify(asked).slice(0, -1)},"metadata":${metadata}}`
        const headers = { authorization: `Bearer ${userKey}`, 'content-type': 'application/json' }
        const response = await fetch(gateway.url + at, { method: 'POST', headers, body })
        return { status: response.status, text: await response.text() }
      }
      const before = upstream.requests.length
      for (const levels of [129, 20_000]) {
        const { status, text } = await send(levels)
        expect(status).toBe(400)
        const { error, type } = JSON.parse(text)
        expect(error.message).toBe(
          'The body is nested more than 128 levels deep. The operator sets the limit as server.body_depth.',
        )
        expect(error.type).toBe('invalid_request_error')
        expect(type).toBe(at.startsWith('/v1/messages') ? 'error' : undefined)
      }
      expect(upstream.requests).toHaveLength(before)
      expect((await send(128)).text).not.toContain('nested more than')
    },
  )

  test.each([
    ['/v1/chat/completions', 2_000],
    ['/v1/embeddings', 10_000],
  ])('with more values than the limit is refused on %s', async (at, most) => {
    const send = (values: number) =>
      fetch(gateway.url + at, {
        method: 'POST',
        headers: { authorization: `Bearer ${userKey}` },
        body: `{"model":"m","messages":[],"input":[${'1,'.repeat(values)}1]}`,
      })
    const { message } = await refused(await send(most), 400)
    expect(message).toBe(
      `The body has more than ${most} values. The operator sets the limit as server.body_nodes.`,
    )
    expect(await (await send(most - 100)).text()).not.toContain('server.body_nodes')
  })

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['zstd', zstdCompressSync],
  ] as const)(
    'compressed with %s is served; one that grows beyond the limit is refused',
    async (name, pack) => {
      const send = (content: string | Buffer) =>
        fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${userKey}`, 'content-encoding': name },
          body: content,
        })
      expect((await send(pack(ask({})))).status).toBe(200)
      await refused(await send(pack(ask({ user: 'x'.repeat(50_000_000) }))), 413)
      await refused(await send(ask({})), 400)
      await refused(await send(pack(ask({})).subarray(0, -12)), 400)
    },
  )

  test('in an encoding that is not known is refused', async () => {
    await refused(await chat(ask({}), { 'content-encoding': 'pack200' }), 415)
  })

  test('over the limit is refused before the rest is read, announced or not', async () => {
    const big = ask({ messages: [{ role: 'user', content: 'x'.repeat(300 * 1024) }] })
    await refused(await chat(big), 413)

    const socket = await open()
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${userKey}\r\ntransfer-encoding: chunked\r\n\r\n`,
    )
    const answer = once(socket, 'data')
    const piece = `10000\r\n${'y'.repeat(0x10000)}\r\n`
    for (let n = 0; n < 8; n += 1) socket.write(piece)
    expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 413/)
    socket.destroy()
  })

  test('with a body that comes byte by byte is served, and one that stops harms nobody', async () => {
    const body = ask({})
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${userKey}\r\ncontent-length: ${body.length}\r\n\r\n`
    const slow = await open()
    slow.write(head)
    for (const byte of body) {
      slow.write(byte)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(String((await once(slow, 'data'))[0])).toMatch(/^HTTP\/1\.1 200/)
    slow.destroy()

    const stopped = await open()
    stopped.write(head + body.slice(0, 10))
    stopped.destroy()
    await expect.poll(() => gateway.kernel.registry.generation.leases).toBe(1)
  })

  test('that names a field twice reaches the provider as the gateway saw it', async () => {
    const response = await chat(
      '{"model":"other","model":"gpt-4o-mini","messages":[{"role":"user","content":"hi"}]}',
    )
    expect(response.status).toBe(200)
    expect(upstream.last().rawBody.match(/"model"/g)).toHaveLength(1)
    expect(upstream.last().body).toMatchObject({ model: 'gpt-4o-mini' })
  })

  test('cannot pollute a prototype', async () => {
    await chat(
      '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"hi"}],"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    )
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test('with half a UTF-8 character, a lone surrogate or a NUL is answered, not dropped', async () => {
    for (const content of ['\\ud800', '\\u0000', 'é']) {
      const response = await chat(
        `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"${content}"}]}`,
      )
      expect([200, 400]).toContain(response.status)
      await response.text()
    }
  })

  test.each([
    ['X-Service-Tags', 'no pairs'],
    ['X-Service-Tags', Array.from({ length: 21 }, (_, n) => `k${n}=v`).join(',')],
    ['X-Service-Tags', `k=${'v'.repeat(200)}`],
    ['X-Service-Tags', 'k=%zz'],
    ['X-Project', 'p'.repeat(300)],
    ['X-Provider', 'nobody'],
  ])('with a wrong %s is refused', async (name, value) => {
    await refused(await chat(ask({}), { [name]: value }), 400)
  })

  test('does not let a client choose headers of the answer or of the request to the provider', async () => {
    const response = await chat(ask({ model: 'gpt-4o-mini\r\nx-injected: 1' }))
    expect(response.headers.get('x-injected')).toBeNull()
    await response.text()
    await chat(ask({}), {
      'x-api-key': 'abc',
      cookie: 'a=b',
      'openai-organization': 'theirs',
      'x-forwarded-for': '1.2.3.4',
    })
    const { headers } = upstream.last()
    for (const name of ['cookie', 'openai-organization', 'x-forwarded-for', 'x-project'])
      expect(headers[name]).toBeUndefined()
    expect(headers.authorization).toBe('Bearer sk-test')
  })

  test('needs a key: none, a wrong one, one in the query string and one of another scheme are refused', async () => {
    await refused(await chat(ask({}), { authorization: '' }), 401)
    await refused(await chat(ask({}), { authorization: 'Bearer sy_live_wrong' }), 401)
    await refused(await chat(ask({}), { authorization: `Basic ${userKey}` }), 401)
    const query = await fetch(`${gateway.url}/v1/chat/completions?api_key=${userKey}&key=${userKey}`, {
      method: 'POST',
      body: ask({}),
    })
    await refused(query, 401)
  })

  test('with every field of the wrong type never gives an internal error', async () => {
    const fields = [
      'model',
      'messages',
      'stream',
      'stream_options',
      'max_tokens',
      'max_completion_tokens',
      'temperature',
      'n',
      'tools',
      'tool_choice',
      'response_format',
      'stop',
      'user',
      'metadata',
    ]
    for (const field of fields) {
      for (const value of [null, 0, -1, 1e308, '', 'x', [], {}, [[]], [{}], true, { a: { b: [] } }]) {
        const response = await chat(ask({ [field]: value }))
        expect(response.status, `${field} = ${JSON.stringify(value)}`).toBeLessThan(500)
        await response.text()
      }
    }
  }, 60_000)
})

describe('a management request', () => {
  const request = (route: LiveRoute, init: RequestInit = {}, key = gateway.adminKey): Promise<Response> => {
    const path = route.path.replaceAll(/\{[^}]+\}/g, 'nothing')
    return fetch(gateway.url + path, {
      method: route.method.toUpperCase(),
      ...init,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(init.headers as object),
      },
    })
  }
  const keyOf = ({ access }: LiveRoute): string => (access === 'user' ? userKey : gateway.adminKey)
  const routes = (): readonly LiveRoute[] => gateway.kernel.registry.generation.routes

  test('with any wrong body is refused on every route that takes one', async () => {
    for (const route of routes().filter(({ body }) => body)) {
      for (const body of [
        '{',
        '[]',
        '"x"',
        'null',
        '{"nobody_knows_this": 1}',
        '{"__proto__": {"a": 1}}',
        `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`,
      ]) {
        const response = await request(route, { body })
        const { error } = (await response.json()) as {
          error: { code?: string | number; type: string; status: string }
        }
        expect(response.status, `${route.method} ${route.path} ${body.slice(0, 30)}`).toBeGreaterThanOrEqual(
          400,
        )
        expect(response.status, `${route.method} ${route.path} ${body.slice(0, 30)}`).toBeLessThan(500)
        // Anthropic's envelope has a type in the place of a code, and Google's a number and a status.
        const known =
          /^(bad_request|not_found|forbidden|unauthorized|invalid_request_error|INVALID_ARGUMENT|NOT_FOUND)$/
        expect(typeof error.code === 'number' ? error.status : (error.code ?? error.type)).toMatch(known)
      }
    }
  }, 60_000)

  test('nested too deeply is refused on every route that takes a body of JSON', async () => {
    const body = `{"a":${'['.repeat(128)}${']'.repeat(128)}}`
    for (const route of routes().filter(({ body, wire }) => body && !('read' in body) && !wire)) {
      const { message } = await refused(await request(route, { body }, keyOf(route)), 400)
      expect(message, route.path).toContain('server.body_depth')
    }
  })

  test('with a body that is not said to be JSON is refused', async () => {
    const route = routes().find(({ body, access }) => body && access === 'admin')!
    await refused(await request(route, { body: '{}', headers: { 'content-type': 'text/plain' } }), 415)
  })

  test('over the limit is refused', async () => {
    const route = routes().find(({ body, access }) => body && access === 'admin')!
    await refused(await request(route, { body: JSON.stringify({ a: 'x'.repeat(100 * 1024) }) }), 413)
  })

  test('with a wrong query is refused on every listing', async () => {
    for (const route of routes().filter(({ query, method }) => query && method === 'get')) {
      for (const query of [
        'limit=0',
        'limit=100000',
        'limit=x',
        'offset=-1',
        'limit=1&limit=2',
        'nobody_knows_this=1',
      ]) {
        const response = await fetch(`${gateway.url}${route.path.replaceAll(/\{[^}]+\}/g, 'x')}?${query}`, {
          headers: { authorization: `Bearer ${gateway.adminKey}` },
        })
        expect(response.status, `${route.path}?${query}`).toBeLessThan(500)
        expect(response.status, `${route.path}?${query}`).toBeGreaterThanOrEqual(400)
        await response.body?.cancel()
      }
    }
  })

  test('with a hostile id finds nothing, anywhere', async () => {
    const ids = [
      '../../etc/passwd',
      '%2e%2e%2f',
      '__proto__',
      'constructor',
      'a'.repeat(3000),
      '\u0000',
      '{}',
      "' or 1=1",
    ]
    for (const route of routes().filter(({ path, method }) => path.includes('{') && method === 'get')) {
      for (const id of ids) {
        const path = route.path.replaceAll(/\{[^}]+\}/g, encodeURIComponent(id))
        const response = await fetch(gateway.url + path, {
          headers: { authorization: `Bearer ${gateway.adminKey}` },
        })
        expect(response.status, path.slice(0, 80)).toBeLessThan(500)
        await response.body?.cancel()
      }
    }
  })

  test('needs the key its route asks for, on every route', async () => {
    for (const route of routes().filter(({ access }) => access !== 'public')) {
      const none = await request(route, { headers: { authorization: '' }, ...(route.body && { body: '{}' }) })
      expect(none.status, `${route.method} ${route.path} without a key`).toBe(401)
      await none.body?.cancel()
      if (route.access !== 'admin') continue
      const user = await request(route, route.body ? { body: '{}' } : {}, userKey)
      expect(user.status, `${route.method} ${route.path} with a user key`).toBe(403)
      await user.body?.cancel()
    }
  })

  test('from a page of another origin gets no permission; from a configured one it does', async () => {
    const from = (origin: string) => fetch(`${gateway.url}/api/plans`, { headers: { origin } })
    expect((await from('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull()
    expect((await from('https://good.example')).headers.get('access-control-allow-origin')).toBe(
      'https://good.example',
    )
    expect(
      (await from('https://good.example.evil.example')).headers.get('access-control-allow-origin'),
    ).toBeNull()
  })
})

describe('a path that is asked in another way than it can be', () => {
  test.each([
    ['GET', '/v1/chat/completions', 'OPTIONS, POST', 'user'],
    ['DELETE', '/v1/messages', 'OPTIONS, POST', 'user'],
    ['PUT', '/v1/messages/count_tokens', 'OPTIONS, POST', 'user'],
    ['PATCH', '/api/observe/traces', 'GET, HEAD, OPTIONS', 'admin'],
    ['POST', '/health', 'GET, HEAD, OPTIONS', 'admin'],
  ])('%s %s is refused with 405 and what may be', async (method, at, allowed, who) => {
    const authorization = `Bearer ${who === 'user' ? userKey : gateway.adminKey}`
    const response = await fetch(gateway.url + at, { method, headers: { authorization } })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')!.split(', ')).toEqual(expect.arrayContaining(allowed.split(', ')))
    const body = (await response.json()) as { error: { message: string }; type?: string }
    expect(body.error.message).toContain(`${method} is not supported at ${at}`)
    expect(body.type).toBe(at.startsWith('/v1/messages') ? 'error' : undefined)
  })

  test('OPTIONS says what may be, HEAD is answered as GET is, and of what is not there nothing is said', async () => {
    const ask = (method: string, at: string) => fetch(gateway.url + at, { method })
    const options = await ask('OPTIONS', '/v1/chat/completions')
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'OPTIONS, POST'])
    const head = await ask('HEAD', '/health')
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await ask('HEAD', '/v1/chat/completions')).status).toBe(405)
    for (const method of ['OPTIONS', 'PUT']) {
      const nothing = await ask(method, '/api/nothing/here')
      expect([nothing.status, nothing.headers.get('allow')]).toEqual([404, null])
    }
  })
})

describe('what is no request is refused in the envelope, and harms nobody:', () => {
  test.each([
    ['not HTTP', '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n', 400],
    [
      'headers that are too long',
      `GET /health HTTP/1.1\r\nhost: x\r\nx-long: ${'a'.repeat(64 * 1024)}\r\n\r\n`,
      431,
    ],
    ['no Host', 'GET /health HTTP/1.1\r\n\r\n', 400],
    ['an expectation that is not known', 'GET /health HTTP/1.1\r\nhost: x\r\nexpect: wonders\r\n\r\n', 417],
    [
      'two lengths',
      'POST /health HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
      400,
    ],
  ])('%s', async (_, bytes, status) => {
    const socket = await open()
    socket.write(bytes)
    let text = ''
    socket.on('data', (part) => {
      text += part
    })
    await once(socket, 'close')
    const [head, body] = text.split('\r\n\r\n') as [string, string]
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(head.toLowerCase()).toContain('connection: close')
    const { error } = JSON.parse(body)
    expect(error).toMatchObject({ status, code: 'bad_request', message: expect.any(String) })
    expect(head).toContain(error.request_id)
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200)
  })

  test('a request of HTTP/1.0 needs no Host', async () => {
    const socket = await open()
    socket.write('GET /health HTTP/1.0\r\n\r\n')
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200/)
    socket.destroy()
  })
})

async function open(): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}
