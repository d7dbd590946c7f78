import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startForge } from '../../../test/forge.ts'

const forge = startForge({ egress: { allow: ['127.0.0.1'] }, secrets: { TOOL_MCP: 'qxoperator' } })
const { api, run } = forge
const path = '/api/forge/tools'

interface Asked {
  readonly http: string
  readonly headers: IncomingMessage['headers']
  readonly method?: string
  readonly id?: number
  readonly params?: {
    readonly name?: string
    readonly arguments?: unknown
    readonly protocolVersion?: string
  }
}

let asked: Asked[] = []
let url: string
/** What the server answers to a use of a tool, as a whole. */
let use: (message: Asked, response: ServerResponse) => void

const json = (response: ServerResponse, message: object, headers = {}) =>
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(message))

const server = createServer(async (request, response) => {
  let text = ''
  for await (const chunk of request) text += chunk
  const message: Asked = {
    http: request.method!,
    headers: request.headers,
    ...(text !== '' && JSON.parse(text)),
  }
  asked.push(message)
  const { id, method } = message
  if (method === 'initialize') {
    const result = {
      protocolVersion: '2025-03-26',
      capabilities: {},
      serverInfo: { name: 's', version: '1' },
    }
    json(response, { jsonrpc: '2.0', id, result }, { 'mcp-session-id': 'qxsession' })
  } else if (method === 'tools/call') use(message, response)
  else response.writeHead(202).end()
})

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  const made = await api('POST', path, {
    name: 'weather',
    type: 'mcp',
    handler: { url, auth_ref: 'TOOL_MCP', tool: 'get_weather' },
    schema: { type: 'object', required: ['city'] },
  })
  expect([made.status, made.body.type, made.body.handler.tool]).toEqual([201, 'mcp', 'get_weather'])
  await forge.make('weather', [
    { id: 'ask', type: 'tool', config: { tool: 'weather', arguments: { city: '{{input.city}}' } } },
  ])
})

beforeEach(() => {
  asked = []
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const answers = (result: object) => (message: Asked, response: ServerResponse) =>
  json(response, { jsonrpc: '2.0', id: message.id, result })

const outcome = async () => {
  const { body } = await run('weather', { city: 'Bern' })
  return body.status === 'completed' ? body.output : body.error.code
}

test('a tool of a server is used in a session of its own, with the credentials of the tool', async () => {
  use = answers({
    content: [
      { type: 'text', text: 'Rain' },
      { type: 'image', data: 'x' },
      { type: 'text', text: '12°' },
    ],
  })
  expect(await outcome()).toBe('Rain\n12°')
  await expect
    .poll(() => asked.map(({ http, method }) => method ?? http))
    .toEqual(['initialize', 'notifications/initialized', 'tools/call', 'DELETE'])
  const [opening, ...within] = asked
  expect(opening!.headers['mcp-session-id']).toBeUndefined()
  expect(opening!.headers.accept).toBe('application/json, text/event-stream')
  for (const { headers } of asked) expect(headers.authorization).toBe('Bearer qxoperator')
  for (const { headers } of within)
    expect([headers['mcp-session-id'], headers['mcp-protocol-version']]).toEqual(['qxsession', '2025-03-26'])
  expect(asked[2]!.params).toEqual({ name: 'get_weather', arguments: { city: 'Bern' } })
})

test('structured content is the output as it is', async () => {
  use = answers({ content: [{ type: 'text', text: '{"degrees":12}' }], structuredContent: { degrees: 12 } })
  expect(await outcome()).toEqual({ degrees: 12 })
})

test('an answer is found in a stream of events that tells of other things, however it is cut, and that stays open', async () => {
  use = ({ id }, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    const events = [
      ': hello\n\n',
      `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: {} })}\n\n`,
      `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: 77, result: {} })}\n\n`,
      `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'Sun ☀' }] } })}\n\n`,
    ].join('')
    const bytes = Buffer.from(events)
    const middle = bytes.indexOf(Buffer.from('☀')) + 1
    response.write(bytes.subarray(0, middle))
    setTimeout(() => response.write(bytes.subarray(middle)), 20)
  }
  expect(await outcome()).toBe('Sun ☀')
})

const huge = 'x'.repeat(200_000)
test.each<[string, (message: Asked, response: ServerResponse) => void, string]>([
  ['a tool that failed', answers({ content: [{ type: 'text', text: 'no' }], isError: true }), 'tool_failed'],
  [
    'an error of the server',
    ({ id }, response) => json(response, { jsonrpc: '2.0', id, error: { code: -32602, message: 'qxtext' } }),
    'tool_failed',
  ],
  [
    'an answer to something else',
    (_, response) => json(response, { jsonrpc: '2.0', id: 9, result: {} }),
    'output_invalid',
  ],
  ['no result', answers({ content: 'x' }), 'output_invalid'],
  [
    'no JSON',
    (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('<'),
    'output_invalid',
  ],
  [
    'a stream that ends',
    (_, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {}\n\n'),
    'output_invalid',
  ],
  ['a refusal', (_, response) => response.writeHead(403).end(), 'http_status'],
  ['too much', answers({ content: [{ type: 'text', text: huge }] }), 'too_large'],
  [
    'too much in a stream',
    (_, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${huge}\n\n`),
    'too_large',
  ],
])('%s fails the step with a code', async (_name, answered, code) => {
  use = answered
  expect(await outcome()).toBe(code)
})

test.each([
  [{ type: 'mcp', handler: { url: 'https://example.com', method: 'GET' } }, 'handler.method'],
  [{ handler: { url: 'https://example.com', tool: 'x' } }, 'handler.tool'],
])('what a tool has no use for is refused: %j', async (more, param) => {
  const { status, body } = await api('POST', path, { name: 'bad', ...more })
  expect([status, body.error.param]).toEqual([400, param])
})
