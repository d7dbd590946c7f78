import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ask } from '../../test/ask.ts'
import { anthropic } from '../../test/conformance/providers/anthropic.ts'
import { gemini } from '../../test/conformance/providers/gemini.ts'
import { openai } from '../../test/conformance/providers/openai.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const providers = [openai, anthropic, gemini]
const upstreams = new Map<string, Upstream>()
let gateway: TestGateway

const window = 700

beforeAll(async () => {
  for (const { name, dialect } of providers) upstreams.set(name, await startUpstream({ wires: [dialect] }))
  gateway = await startGateway({
    config: {
      providers: Object.fromEntries(
        providers.map(({ name, entry }) => [
          name,
          { base_url: upstreams.get(name)!.baseUrl(), api_key: 'sk-test', ...entry },
        ]),
      ),
      models: {
        ...Object.fromEntries(
          providers.map(({ name, models }) => [`${name}/${models.chat}`, { context_window: window }]),
        ),
        'openai/gpt-4o': { context_window: 20_000 },
      },
    },
  })
})

afterAll(async () => {
  await gateway.close()
  for (const upstream of upstreams.values()) await upstream.close()
})

beforeEach(() => {
  for (const upstream of upstreams.values()) upstream.reset()
})

const use = (config: object = {}) =>
  gateway.module('tokentrim', {
    enabled: true,
    config: {
      strategy: 'oldest',
      reserve_output: 100,
      keep_turns: null,
      pinned: null,
      summary_model: null,
      summary_tokens: null,
      ...config,
    },
  })

interface Step {
  readonly ids: readonly string[]
  readonly result: string
}
interface Turn {
  readonly asked: string
  readonly steps: readonly Step[]
  readonly answered: string
}

const words = (most: number) => fc.integer({ min: 1, max: most }).map((n) => 'word '.repeat(n).trim())
const turns = fc.array(
  fc.record({
    asked: words(40),
    steps: fc.array(
      fc.record({
        ids: fc.uniqueArray(fc.constantFrom('c1', 'c2', 'c3'), { minLength: 1, maxLength: 3 }),
        result: words(30),
      }),
      { maxLength: 3 },
    ),
    answered: words(40),
  }),
  { minLength: 6, maxLength: 14 },
)

const parameters = { type: 'object', properties: {} }

/** The conversation as clients of a wire send it; it ends with the user, or with results of tools. */
const wires: Record<string, (turns: readonly Turn[], last: string) => { path: string; body: object }> = {
  chat: (turns, last) => ({
    path: '/v1/chat/completions',
    body: {
      tools: [{ type: 'function', function: { name: 'look', parameters } }],
      messages: [
        { role: 'system', content: 'Be brief.' },
        ...turns.flatMap(({ asked, steps, answered }) => [
          { role: 'user', content: asked },
          ...steps.flatMap(({ ids, result }) => [
            {
              role: 'assistant',
              content: null,
              tool_calls: ids.map((id) => ({
                id,
                type: 'function',
                function: { name: 'look', arguments: '{}' },
              })),
            },
            ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: result })),
          ]),
          { role: 'assistant', content: answered },
        ]),
        { role: 'user', content: last },
      ],
    },
  }),
  messages: (turns, last) => ({
    path: '/v1/messages',
    body: {
      max_tokens: 50,
      system: 'Be brief.',
      tools: [{ name: 'look', input_schema: parameters }],
      messages: [
        ...turns.flatMap(({ asked, steps, answered }) => [
          { role: 'user', content: asked },
          ...steps.flatMap(({ ids, result }) => [
            {
              role: 'assistant',
              content: ids.map((id) => ({ type: 'tool_use', id, name: 'look', input: {} })),
            },
            {
              role: 'user',
              content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: result })),
            },
          ]),
          { role: 'assistant', content: answered },
        ]),
        { role: 'user', content: last },
      ],
    },
  }),
  responses: (turns, last) => ({
    path: '/v1/responses',
    body: {
      instructions: 'Be brief.',
      tools: [{ type: 'function', name: 'look', parameters }],
      input: [
        ...turns.flatMap(({ asked, steps, answered }) => [
          { role: 'user', content: asked },
          ...steps.flatMap(({ ids, result }) => [
            ...ids.map((id) => ({ type: 'function_call', call_id: id, name: 'look', arguments: '{}' })),
            ...ids.map((id) => ({ type: 'function_call_output', call_id: id, output: result })),
          ]),
          { role: 'assistant', content: answered },
        ]),
        { role: 'user', content: last },
      ],
    },
  }),
  gemini: (turns, last) => ({
    path: '/v1beta/models/{model}:generateContent',
    body: {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      tools: [{ functionDeclarations: [{ name: 'look' }] }],
      contents: [
        ...turns.flatMap(({ asked, steps, answered }) => [
          { role: 'user', parts: [{ text: asked }] },
          ...steps.flatMap(({ ids, result }) => [
            { role: 'model', parts: ids.map(() => ({ functionCall: { name: 'look', args: {} } })) },
            {
              role: 'user',
              parts: ids.map(() => ({ functionResponse: { name: 'look', response: { result } } })),
            },
          ]),
          { role: 'model', parts: [{ text: answered }] },
        ]),
        { role: 'user', parts: [{ text: last }] },
      ],
    },
  }),
}

interface Sent {
  readonly messages?: readonly {
    readonly role: string
    readonly tool_calls?: readonly { readonly id: string }[]
    readonly tool_call_id?: string
    readonly content?: unknown
  }[]
  readonly contents?: readonly {
    readonly role: string
    readonly parts: readonly { readonly functionCall?: object; readonly functionResponse?: object }[]
  }[]
}

/** How many calls and results a provider was sent, in order: each batch of calls must be followed by as many results. */
function exchangesIn(provider: string, { messages = [], contents = [] }: Sent): [string, string[]][] {
  if (provider === 'gemini')
    return contents.flatMap(({ parts }): [string, string[]][] => [
      ['call', parts.flatMap(({ functionCall }) => (functionCall ? ['look'] : []))],
      ['result', parts.flatMap(({ functionResponse }) => (functionResponse ? ['look'] : []))],
    ])
  if (provider === 'anthropic')
    return messages.flatMap(({ content }): [string, string[]][] => {
      const blocks = Array.isArray(content) ? content : []
      return [
        ['call', blocks.flatMap(({ type, id }) => (type === 'tool_use' ? [id as string] : []))],
        [
          'result',
          blocks.flatMap(({ type, tool_use_id: id }) => (type === 'tool_result' ? [id as string] : [])),
        ],
      ]
    })
  return messages.flatMap(({ role, tool_calls = [], tool_call_id }): [string, string[]][] => [
    ['call', tool_calls.map(({ id }) => id)],
    ['result', role === 'tool' ? [tool_call_id!] : []],
  ])
}

/** Calls without results, and results without calls. */
function partedIn(provider: string, sent: Sent): string[] {
  const parted: string[] = []
  let open: string[] = []
  for (const [kind, ids] of exchangesIn(provider, sent)) {
    if (ids.length === 0) continue
    if (kind === 'call') {
      parted.push(...open)
      open = [...ids]
      continue
    }
    for (const id of ids) {
      const at = open.indexOf(id)
      if (at === -1) parted.push(id)
      else open.splice(at, 1)
    }
  }
  return [...parted, ...open]
}

/** Sends a body as it is, with model and form of the answer where its wire says them. */
async function send(
  wire: string,
  path: string,
  body: object,
  { model, stream }: { model: string; stream: boolean },
) {
  const at = path.replace('{model}', encodeURIComponent(model))
  const streamed = at.replace(/generateContent$/, 'streamGenerateContent?alt=sse')
  const response = await fetch(gateway.url + (stream ? streamed : at), {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(wire === 'gemini' ? body : { ...body, model, stream }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

describe.each(Object.keys(wires))('from the wire %s', (wire) => {
  test.each(providers)(
    'to $name no call is parted from its results, and what arrives fits',
    async (provider) => {
      const { name, models } = provider
      const upstream = upstreams.get(name)!
      const model = `${name}/${models.chat}`
      let trimmed = 0
      for (const strategy of ['oldest', 'middle']) {
        await use({ strategy })
        await fc.assert(
          fc.asyncProperty(turns, fc.boolean(), async (conversation, stream) => {
            upstream.reset()
            const { path, body } = wires[wire]!(conversation, 'And now?')
            const { status, headers, text } = await send(wire, path, body, { model, stream })
            expect([status, status === 200 ? '' : text]).toEqual([200, ''])
            if (headers.has('x-context-trimmed')) trimmed += 1
            const sent = upstream.last()
            expect(partedIn(name, sent.body as Sent)).toEqual([])
            expect(sent.rawBody).toContain('Be brief.')
            expect(sent.rawBody).toContain('And now?')
            const [used = 0] = (headers.get('x-context-used') ?? '').split('/').map(Number)
            expect(used).toBeLessThanOrEqual(window - 100)
          }),
          { numRuns: 10 },
        )
      }
      expect(trimmed).toBeGreaterThan(2)
    },
  )
})

const said = (n: number) => 'word '.repeat(n).trim()
const long = Array.from({ length: 12 }, (_, n) => [
  { role: 'user', content: `Question ${n}: ${said(60)}` },
  { role: 'assistant', content: `Answer ${n}.` },
]).flat()
const chat = (messages: object[], more: object = {}) =>
  ask(gateway, { body: { model: `openai/${openai.models.chat}`, messages, ...more } })
const sentTexts = () =>
  (upstreams.get('openai')!.last().body as { messages: { content: string }[] }).messages.map(
    ({ content }) => content,
  )

test('a conversation that fits is left as it is', async () => {
  await use()
  const { headers } = await chat([{ role: 'user', content: 'Hi' }])
  expect(headers.has('x-context-trimmed')).toBe(false)
  expect(sentTexts()).toEqual(['Hi'])
})

test('what is pinned stays, and as many of the newest turns as there is room for', async () => {
  await use({ pinned: ['^Question 2:'] })
  const { headers } = await chat([...long, { role: 'user', content: 'So?' }])
  expect(Number(headers.get('x-context-trimmed'))).toBeGreaterThan(2)
  const texts = sentTexts()
  expect(texts[0]).toMatch(/^Question 2:/)
  expect(texts.slice(-3)).toEqual([expect.stringMatching(/^Question 11:/), 'Answer 11.', 'So?'])
})

test('room is left for the answer that the call asks for', async () => {
  await use()
  const few = await chat([...long, { role: 'user', content: 'So?' }], { max_tokens: 10 })
  const many = await chat([...long, { role: 'user', content: 'So?' }], { max_tokens: 300 })
  const dropped = ({ headers }: { headers: Headers }) => Number(headers.get('x-context-trimmed'))
  expect(dropped(many)).toBeGreaterThan(dropped(few))
})

test('a single text that is too long loses its middle, or is refused', async () => {
  const messages = [{ role: 'user', content: `Begin ${said(3000)} end.` }]
  await use()
  const refused = await chat(messages)
  expect([refused.status, (refused.body.error as { module: string }).module]).toEqual([400, 'contextwindow'])
  await use({ strategy: 'middle' })
  expect((await chat(messages)).status).toBe(200)
  expect(sentTexts()[0]).toMatch(/^Begin word .* characters left out …\]\n.* end\.$/s)
})

describe('with summaries', () => {
  const summaryModel = 'gpt-4o'
  const isSummary = { model: summaryModel }
  const asked = () =>
    upstreams.get('openai')!.requests.filter(({ body }) => (body as { model: string }).model === summaryModel)
  /** Summaries outlive a change of settings, so that each test has them of another length. */
  let length = 60
  const summarise = () => {
    length += 1
    return use({ strategy: 'summarize', summary_model: `openai/${summaryModel}`, summary_tokens: length })
  }

  test.each([false, true])('old turns are replaced by one, streamed: %s', async (stream) => {
    await summarise()
    upstreams.get('openai')!.reply(isSummary, { content: 'They counted words.' })
    const answer = await chat(
      [{ role: 'system', content: 'Be brief.' }, ...long, { role: 'user', content: 'So?' }],
      {
        stream,
      },
    )
    expect(answer.status).toBe(200)
    const texts = sentTexts()
    expect(texts.slice(0, 2)).toEqual([
      'Be brief.',
      '[Summary of the earlier conversation]\nThey counted words.',
    ])
    expect(texts.at(-1)).toBe('So?')
    expect(texts.join()).not.toContain('Question 0:')
    expect(asked()[0]!.rawBody).toContain('Question 0:')
  })

  test('one summary serves several turns of a conversation, and nobody else', async () => {
    await summarise()
    upstreams.get('openai')!.reply(isSummary, { content: 'They counted.', times: Number.POSITIVE_INFINITY })
    const others = await gateway.signUp('other')
    const messages = [...long, { role: 'user', content: 'So?' }]
    await chat(messages)
    await chat([...messages, { role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'Why?' }])
    expect(asked()).toHaveLength(1)
    await ask(gateway, {
      headers: { authorization: `Bearer ${others.key}` },
      body: { model: `openai/${openai.models.chat}`, messages },
    })
    expect(asked()).toHaveLength(2)
  })

  test('when the model fails, old turns are left out without one', async () => {
    await summarise()
    upstreams.get('openai')!.reply(isSummary, { status: 400, times: Number.POSITIVE_INFINITY })
    const { status, headers } = await chat([...long, { role: 'user', content: 'So?' }])
    expect([status, headers.has('x-context-trimmed')]).toEqual([200, true])
    expect(sentTexts().join()).not.toContain('Summary')
  })

  test('a model for them must be named', async () => {
    await expect(use({ strategy: 'summarize' })).rejects.toThrow('summary_model')
  })
})
