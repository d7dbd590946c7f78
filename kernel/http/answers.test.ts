import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { answer, answers, jsonOrEvents } from '../../contract/answers.ts'
import { type FileAnswer, fileAnswer } from '../../kit/http/file-answer.ts'
import { type HtmlPage, pageAnswer } from '../../kit/http/page-answer.ts'
import { openapi } from '../../plugins/system/openapi/document.ts'
import { aRoute, type Served, serveRoutes } from '../../test/served.ts'
import type { SentForm } from '../contract/answers.ts'
import { checkRoute } from '../plugin/offered.ts'
import type { LiveRoute, ServerEvent } from '../route.ts'

const thing = z.object({ id: z.string() })
const job = z.object({ job: z.string() })
const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251))

let served: Served
let page: HtmlPage | string
let file: FileAnswer
let opened: [number, number][]
let released = 0

async function* parts(from: number, to: number): AsyncGenerator<Uint8Array> {
  opened.push([from, to])
  try {
    for (let at = from; at <= to; at += 1000) yield bytes.subarray(at, Math.min(at + 1000, to + 1))
  } finally {
    released += 1
  }
}

async function* counted(): AsyncGenerator<ServerEvent> {
  for (const n of [1, 2]) yield { event: 'count', data: { n } }
}

/** A form of a plugin's own. */
const lines: SentForm<readonly string[]> = {
  mediaType: 'text/csv',
  send(response, value) {
    response.set('x-lines', String(value.length))
    response.type = 'text/csv'
    response.body = value.join('\n')
  },
}

const base = { access: 'public', summary: 'An answer' } as const
const routes = [
  aRoute({
    ...base,
    method: 'post',
    path: '/api/several',
    body: z.object({ status: z.number() }),
    returns: answers({ 200: thing, 202: job, 206: 'text' }),
    handle: ({ body: { status } }) => {
      if (status === 200) return answer(200, { id: 'a', secret: 'x' })
      if (status === 202) return answer(202, { job: 'b' })
      return answer(status as 206, 'part')
    },
  }),
  aRoute({
    ...base,
    method: 'post',
    path: '/api/streamed',
    body: z.object({ stream: z.boolean().optional() }),
    returns: jsonOrEvents(thing),
    handle: ({ body: { stream } }) => (stream ? counted() : { id: 'whole', secret: 'x' }),
  }),
  aRoute({
    ...base,
    method: 'post',
    path: '/api/unlike',
    body: z.object({ stream: z.boolean() }),
    returns: jsonOrEvents(thing),
    handle: ({ body: { stream } }) => (stream ? { id: 'whole' } : counted()),
  }),
  aRoute({ ...base, method: 'get', path: '/api/text', returns: 'text', handle: () => '<b>bold</b>' }),
  aRoute({ ...base, method: 'get', path: '/lines', returns: lines, handle: () => ['a,b', '1,2'] }),
  aRoute({ ...base, method: 'get', path: '/page', returns: pageAnswer, handle: () => page }),
  aRoute({ ...base, method: 'get', path: '/file', returns: fileAnswer, handle: () => file }),
]

beforeAll(async () => {
  served = await serveRoutes({ test: routes })
})

beforeEach(() => {
  opened = []
  released = 0
  file = { body: parts, size: bytes.length, type: 'application/pdf', etag: 'v1' }
})

afterAll(() => served.close())

const post = (path: string, body: object) =>
  fetch(served.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const fetchFile = (headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${served.url}/file`, { method, headers })

test('a route answers with each status that it names, by the schema of that status, and with no other', async () => {
  const one = await post('/api/several', { status: 200 })
  expect([one.status, await one.json()]).toEqual([200, { id: 'a' }])
  const two = await post('/api/several', { status: 202 })
  expect([two.status, await two.json()]).toEqual([202, { job: 'b' }])
  const three = await post('/api/several', { status: 206 })
  expect([three.status, await three.text()]).toEqual([206, 'part'])
  expect((await post('/api/several', { status: 201 })).status).toBe(500)
  expect(served.logged.join()).toContain('with a status of 200,202,206')
})

test('the stream of a body decides between JSON and events, and a route keeps to it', async () => {
  const whole = await post('/api/streamed', {})
  expect([whole.headers.get('content-type'), await whole.json()]).toEqual([
    'application/json; charset=utf-8',
    { id: 'whole' },
  ])
  const streamed = await post('/api/streamed', { stream: true })
  expect(streamed.headers.get('content-type')).toContain('text/event-stream')
  expect(await streamed.text()).toBe('event: count\ndata: {"n":1}\n\nevent: count\ndata: {"n":2}\n\n')
  for (const stream of [true, false]) expect((await post('/api/unlike', { stream })).status).toBe(500)
})

test('text is text, also where it looks like a page', async () => {
  const response = await fetch(`${served.url}/api/text`)
  expect([response.headers.get('content-type'), await response.text()]).toEqual([
    'text/plain; charset=utf-8',
    '<b>bold</b>',
  ])
})

test('a page is inert, framed by nobody, and sniffed by nobody', async () => {
  page = '<h1>Hello</h1>'
  const { status, headers } = await fetch(`${served.url}/page`)
  expect(status).toBe(200)
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  })
  expect(headers.get('x-robots-tag')).toBeNull()
  const policy = headers.get('content-security-policy')!
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).toContain("form-action 'none'")
  expect(policy).not.toMatch(/script-src|connect-src|unsafe|\*/)
})

test('a page runs scripts of its origin and the inline texts that it names where it says so', async () => {
  const style = 'body { color: red }'
  page = { html: `<style>${style}</style>`, inline: [style], noindex: true }
  const digest = `'sha256-${createHash('sha256').update(style).digest('base64')}'`
  const inert = await fetch(`${served.url}/page`)
  expect(inert.headers.get('content-security-policy')).toContain(`style-src 'self' ${digest};`)
  expect(inert.headers.get('content-security-policy')).not.toContain('script-src')
  expect(inert.headers.get('x-robots-tag')).toBe('noindex, nofollow')
  page = { html: '', scripts: true, inline: [style] }
  const policy = (await fetch(`${served.url}/page`)).headers.get('content-security-policy')
  expect(policy).toContain(`script-src 'self' ${digest}; connect-src 'self'; form-action 'self'`)
})

test('a file is sent with its type, size, name and tag, and can do nothing in this origin', async () => {
  file = { ...file, name: '../概要 "2".pdf' }
  const response = await fetchFile()
  expect(response.status).toBe(200)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/pdf',
    'content-length': String(bytes.length),
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'cache-control': 'private, no-cache',
    etag: '"v1"',
  })
  const name = response.headers.get('content-disposition')
  expect(name).toBe(
    `attachment; filename="?? \\"2\\".pdf"; filename*=UTF-8''%E6%A6%82%E8%A6%81%20%222%22.pdf`,
  )
  expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
  expect(released).toBe(1)
})

test.each([
  ['bytes=0-0', 0, 0],
  ['bytes=10-19', 10, 19],
  ['bytes=99990-', 99_990, 99_999],
  ['bytes=99990-200000', 99_990, 99_999],
  ['bytes=-10', 99_990, 99_999],
  ['bytes=-200000', 0, 99_999],
])('the range %s is answered with its bytes, and no others are read', async (range, from, to) => {
  for (const body of [parts, new Uint8Array(bytes)]) {
    file = { ...file, body }
    const response = await fetchFile({ range })
    expect([response.status, response.headers.get('content-range')]).toEqual([
      206,
      `bytes ${from}-${to}/100000`,
    ])
    expect(response.headers.get('content-length')).toBe(String(to - from + 1))
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes.subarray(from, to + 1))).toBe(true)
  }
  expect(opened).toEqual([[from, to]])
})

test.each(['bytes=100000-', 'bytes=200000-200001', 'bytes=-0'])('the range %s is refused', async (range) => {
  const response = await fetchFile({ range })
  expect([response.status, response.headers.get('content-range')]).toEqual([416, 'bytes */100000'])
  expect(await response.json()).toMatchObject({ error: { code: 'bad_request', param: 'Range' } })
  expect(opened).toEqual([])
})

test.each([
  { range: 'bytes=5-4' },
  { range: 'bytes=-' },
  { range: 'lines=1-2' },
  { range: 'bytes=0-1,3-4' },
  { range: 'bytes=0-1', 'if-range': '"v0"' },
])('what is no range, or of another version, is answered with the whole file: %o', async (headers) => {
  const response = await fetchFile(headers)
  expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, bytes.length])
})

test('a range of the version that the client has is answered', async () => {
  const response = await fetchFile({ range: 'bytes=0-1', 'if-range': '"v1"' })
  expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([206, 2])
})

test('who has the file is told so, who asks for the head gets the head, and neither reads it', async () => {
  for (const tag of ['"v1"', 'W/"v1"', '"v0", "v1"', '*']) {
    // Not with fetch, which asks caches on the way not to answer.
    const headers = { 'if-none-match': tag }
    const [fresh] = (await once(get(`${served.url}/file`, { headers }), 'response')) as [IncomingMessage]
    expect([fresh.statusCode, fresh.headers.etag, await fresh.toArray()]).toEqual([304, '"v1"', []])
  }
  expect((await fetchFile({ 'if-none-match': '"v0"' })).status).toBe(200)
  opened = []
  const head = await fetchFile({}, 'HEAD')
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '100000', ''])
  expect(head.headers.get('content-type')).toBe('application/pdf')
  expect(opened).toEqual([])
  const body = Readable.from([bytes])
  file = { ...file, body }
  await fetchFile({}, 'HEAD')
  expect(body.destroyed).toBe(true)
})

test('a stream of unknown size is sent whole, and takes no ranges', async () => {
  file = { body: parts(0, bytes.length - 1), type: '.txt' }
  const response = await fetchFile({ range: 'bytes=0-1' })
  expect([
    response.status,
    response.headers.get('accept-ranges'),
    response.headers.get('content-type'),
  ]).toEqual([200, 'none', 'text/plain; charset=utf-8'])
  expect((await response.arrayBuffer()).byteLength).toBe(bytes.length)
})

test('an empty file is a file', async () => {
  for (const body of [new Uint8Array(0), parts]) {
    file = { ...file, body, size: 0 }
    const response = await fetchFile()
    expect([response.status, await response.text()]).toEqual([200, ''])
    expect((await fetchFile({ range: 'bytes=0-' })).status).toBe(416)
  }
})

test('a file that fails before its first byte is an error, and later ends the connection', async () => {
  const failing = (after: number) =>
    async function* (from: number, to: number) {
      yield* parts(from, after - 1)
      if (after <= to) throw new Error('the disk is gone')
    }
  file = { ...file, body: failing(0) }
  const response = await fetchFile()
  expect([response.status, await response.json()]).toMatchObject([500, { error: { code: 'internal_error' } }])
  for (const body of [failing(5000), (from: number) => parts(from, 4999)]) {
    file = { ...file, body }
    await expect(fetchFile().then((answer) => answer.arrayBuffer())).rejects.toThrow()
  }
})

test('a client that leaves ends the reading, and one that is slow holds it up', async () => {
  let sent = 0
  let ended = false
  const large = 64 * 1024 * 1024
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (; sent < large; sent += 64 * 1024) yield Buffer.alloc(64 * 1024)
    } finally {
      ended = true
    }
  }
  file = { body: endless(), size: large, type: 'bin' }
  const [response] = (await once(get(`${served.url}/file`), 'response')) as [IncomingMessage]
  let before = -1
  const stands = () => {
    const same = sent === before
    before = sent
    return same
  }
  await expect.poll(stands, { interval: 100 }).toBe(true)
  expect(sent).toBeLessThan(large / 2)
  response.destroy()
  await expect.poll(() => ended).toBe(true)
})

test("a plugin's own form writes its answer", async () => {
  const response = await fetch(`${served.url}/lines`)
  expect([response.headers.get('x-lines'), response.headers.get('content-type')]).toEqual([
    '2',
    'text/csv; charset=utf-8',
  ])
  expect(await response.text()).toBe('a,b\n1,2')
})

test('what a route cannot answer with is refused when its plugin is set up', () => {
  const check = (part: object) => () => checkRoute({ ...routes[3], plugin: 'test', ...part } as LiveRoute)
  expect(check({})).not.toThrow()
  for (const returns of [
    'html',
    undefined,
    answers({ 200: 'html' as 'text' }),
    answers({ 99: thing }),
    answers({}),
  ])
    expect(check({ returns }), String(returns)).toThrow()
  expect(check({ returns: jsonOrEvents(thing) })).toThrow('stream')
})

test('every form and status stands in the documentation', async () => {
  const { paths } = (await openapi(served.generation, '1')) as {
    paths: Record<string, Record<string, { responses: Record<string, { content: object }> }>>
  }
  const contents = (path: string, method: string, status = '200') =>
    Object.keys(paths[path]![method]!.responses[status]!.content)
  expect(contents('/lines', 'get')).toEqual(['text/csv'])
  expect(contents('/page', 'get')).toEqual(['text/html'])
  expect(contents('/file', 'get')).toEqual(['*/*'])
  expect(contents('/api/streamed', 'post')).toEqual(['application/json', 'text/event-stream'])
  expect(contents('/api/several', 'post', '202')).toEqual(['application/json'])
  expect(contents('/api/several', 'post', '206')).toEqual(['text/plain'])
})
