import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../harness.ts'
import { anthropic } from '../upstream/anthropic/index.ts'
import { gemini, openai, startUpstream, type Upstream } from '../upstream/index.ts'

/** Coding agents as they are configured out of the box: what they send is carried, whoever answers. */

let upstream: Upstream
let gateway: TestGateway
let codex: OpenAI
let claudeCode: Anthropic

beforeAll(async () => {
  upstream = await startUpstream({ wires: [openai, anthropic, gemini] })
  const entry = (wire: string) => ({ base_url: upstream.baseUrl(wire), api_key: 'sk-test' })
  gateway = await startGateway({
    upstream,
    config: {
      providers: {
        anthropic: entry('anthropic'),
        gemini: entry('gemini'),
        local: { type: 'openai', ...entry('openai'), models: ['local-*'] },
      },
    },
  })
  const { key } = await gateway.signUp()
  codex = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 })
  claudeCode = new Anthropic({ baseURL: gateway.url, authToken: key, apiKey: null, maxRetries: 0 })
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

type Fields = Readonly<Record<string, unknown>>
type Item = Fields & { readonly type: string }

const object = (properties: Fields = {}) => ({ type: 'object', properties, additionalProperties: false })
const fn = (name: string, properties?: Fields) => ({
  type: 'function',
  name,
  description: `Does ${name}.`,
  strict: false,
  parameters: object(properties),
})
const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: LINE+\nLINE: /.+/' }
const editFile = {
  type: 'custom',
  name: 'edit_file',
  description: 'Takes a patch as it is.',
  format: grammar,
}
const helpers = { type: 'namespace', name: 'helpers', description: 'Helpers', tools: [fn('start'), editFile] }
const search = {
  type: 'tool_search',
  execution: 'client',
  description: 'Finds more tools.',
  parameters: object({ query: { type: 'string' } }),
}
const webSearch = { type: 'web_search', external_web_access: true }
const said = (role: string, text: string) => ({
  type: 'message',
  id: `msg_${role}`,
  role,
  content: [{ type: 'input_text', text }],
})
const question = [said('developer', 'You edit files.'), said('user', 'Greet the world in a file.')]

/** What an agent on the Responses wire asks, streamed, and what comes of it. */
async function turn(model: string, fields: Fields) {
  const body = {
    model,
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { summary: 'auto', context: 'all_turns' },
    store: false,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: '01a2-3b4c',
    client_metadata: { window: '0' },
    stream: true,
    ...fields,
  } as unknown as OpenAI.Responses.ResponseCreateParamsStreaming
  const { data, response } = await codex.responses
    .create(body, { headers: { 'session-id': '01a2', originator: 'agent' } })
    .withResponse()
  let output: Item[] = []
  for await (const event of data)
    if (event.type === 'response.completed') output = event.response.output as unknown as Item[]
  const changed = response.headers.get('x-params-changed')?.split(', ') ?? []
  return { output, changed, calls: output.filter(({ call_id }) => call_id !== undefined) }
}

const toolCall = (id: string, name: string, args: Fields) => ({ toolCalls: [{ id, name, arguments: args }] })
const result = (type: string, id: string, output: string) => ({ type, call_id: id, output })
const sent = (): string => upstream.last().rawBody
const patch = '*** add "hello"\n+hi\n'

const models = ['gpt-5-mini', 'local-coder', 'claude-haiku-4-5', 'gemini-2.5-pro', 'gemini-3-pro-preview']

describe.each(models)('an agent on the Responses wire with %s', (model) => {
  test('runs commands, edits files, searches tools and uses what it found', async () => {
    const tools = [fn('run', { command: { type: 'string' } }), helpers, editFile, search, webSearch]
    const input: unknown[] = [...question]
    const steps = [
      {
        reply: toolCall('call_1', 'run', { command: 'ls' }),
        call: { type: 'function_call', name: 'run', arguments: '{"command":"ls"}' },
        answer: result('function_call_output', '', 'README.md'),
      },
      {
        reply: toolCall('call_2', 'helpers__start', {}),
        call: {
          type: 'function_call',
          name: 'start',
          namespace: 'helpers',
          arguments: '{}',
        },
        answer: result('function_call_output', '', 'started'),
      },
      {
        reply: toolCall('call_3', 'edit_file', { input: patch }),
        call: { type: 'custom_tool_call', name: 'edit_file', input: patch },
        answer: result('custom_tool_call_output', '', 'Done.'),
      },
      {
        reply: toolCall('call_4', 'tool_search', { query: 'mail' }),
        call: {
          type: 'tool_search_call',
          execution: 'client',
          arguments: { query: 'mail' },
        },
        answer: {
          type: 'tool_search_output',
          execution: 'client',
          status: 'completed',
          tools: [{ type: 'namespace', name: 'mail', description: 'Mail', tools: [fn('send')] }],
        },
      },
      {
        reply: toolCall('call_5', 'mail__send', {}),
        call: { type: 'function_call', name: 'send', namespace: 'mail' },
        answer: result('function_call_output', '', 'sent'),
      },
    ]
    for (const { reply, call, answer } of steps) {
      upstream.reply({ reasoning: 'I see.', content: ['One ', 'moment.'], ...reply })
      const { output, calls, changed } = await turn(model, { tools, input })
      expect(calls).toMatchObject([call])
      expect(changed).toContain('-tools.web_search')
      input.push(...output, { ...answer, call_id: calls[0]!.call_id })
    }
    upstream.reply({ content: ['All ', 'done.'] })
    const { output } = await turn(model, { tools, input })
    expect(output).toMatchObject([{ type: 'message', content: [{ text: 'All done.' }] }])
    for (const text of ['README.md', 'started', 'Done.', 'mail__send', 'sent']) expect(sent()).toContain(text)
    expect(sent()).not.toContain('web_search')
  })

  test('has its tools from an item of its input, all of them in namespaces', async () => {
    const brought = { type: 'additional_tools', id: 'at_1', role: 'developer', tools: [helpers] }
    const input: unknown[] = [brought, ...question]
    upstream.reply(toolCall('call_1', 'helpers__edit_file', { input: patch }))
    const { output, calls } = await turn(model, { input, parallel_tool_calls: false })
    expect(calls).toMatchObject([
      { type: 'custom_tool_call', name: 'edit_file', namespace: 'helpers', input: patch },
    ])
    input.push(...output, result('custom_tool_call_output', String(calls[0]!.call_id), 'Done.'))
    upstream.reply({ content: 'Edited.' })
    expect((await turn(model, { input })).output).toMatchObject([{ type: 'message' }])
    expect(sent()).toContain('helpers__edit_file')
  })
})

describe('a tool of free text', () => {
  const calls = [{ type: 'custom_tool_call', call_id: 'c', name: 'edit_file', input: patch }]
  const input = [...question, ...calls, result('custom_tool_call_output', 'c', 'Done.')]
  const body = () => upstream.last().body as { tools: unknown; messages: Fields[]; tool_choice: unknown }

  test('is one for OpenAI’s own models', async () => {
    const tool_choice = { type: 'custom', name: 'edit_file' }
    await turn('gpt-5-mini', { tools: [editFile], input, tool_choice })
    const { definition, syntax } = grammar
    const format = { type: 'grammar', grammar: { definition, syntax } }
    expect(body().tools).toEqual([
      { type: 'custom', custom: { name: 'edit_file', description: editFile.description, format } },
    ])
    expect(body().tool_choice).toEqual({ type: 'custom', custom: { name: 'edit_file' } })
    expect(body().messages[2]!.tool_calls).toEqual([
      { id: 'c', type: 'custom', custom: { name: 'edit_file', input: patch } },
    ])
  })

  test('is a function with that text for others, who are told its grammar', async () => {
    const tool_choice = {
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'custom', name: 'edit_file' }],
    }
    await turn('local-coder', { tools: [editFile], input, tool_choice })
    expect(body().tools).toMatchObject([{ type: 'function', function: { name: 'edit_file' } }])
    expect(JSON.stringify(body().tools)).toContain('LINE+')
    expect(body().messages[2]!.tool_calls).toEqual([
      {
        id: 'c',
        type: 'function',
        function: { name: 'edit_file', arguments: JSON.stringify({ input: patch }) },
      },
    ])
  })
})

describe.each(models)('an agent on the Messages wire with %s', (model) => {
  const cached = { cache_control: { type: 'ephemeral' as const } }
  const bash = {
    name: 'Shell',
    description: 'Runs a command.',
    input_schema: { type: 'object' as const, properties: { command: { type: 'string' } } },
  }
  const who = JSON.stringify({ device: 'd'.repeat(64), account: '', session: 's'.repeat(36) })

  test('thinks, runs commands and goes on, though marks and edits of its context mean nothing there', async () => {
    const messages: Anthropic.MessageParam[] = [
      { role: 'user', content: [{ type: 'text', text: 'Say hello in a shell.', ...cached }] },
    ]
    const ask = () =>
      claudeCode.messages
        .stream(
          {
            model,
            max_tokens: 32_000,
            system: [
              { type: 'text', text: 'You are an agent.' },
              { type: 'text', text: 'You run commands.', ...cached },
            ],
            tools: [bash],
            thinking: { type: 'enabled', budget_tokens: 31_999 },
            context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
            metadata: { user_id: who },
            messages,
          } as Anthropic.MessageStreamParams,
          {
            query: { beta: 'true' },
            headers: {
              'anthropic-beta': 'interleaved-thinking-2025-05-14,context-management-2025-06-27',
              'x-app': 'cli',
            },
          },
        )
        .finalMessage()
    upstream.reply({ reasoning: 'A command.', ...toolCall('toolu_1', 'Shell', { command: 'echo hello' }) })
    const first = await ask()
    const use = first.content.find(({ type }) => type === 'tool_use') as Anthropic.ToolUseBlock
    expect(use).toMatchObject({ name: 'Shell', input: { command: 'echo hello' } })
    messages.push(
      { role: 'assistant', content: first.content },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: use.id, content: 'hello', is_error: false, ...cached }],
      },
    )
    upstream.reply({ content: ['It ', 'said hello.'] })
    expect((await ask()).content.at(-1)).toMatchObject({ type: 'text', text: 'It said hello.' })
    const { user } = upstream.last().body as { user?: string }
    if (user !== undefined) expect(user).toMatch(/^[0-9a-f]{64}$/)
  })
})

describe('a search that Anthropic runs itself', () => {
  const searching = { type: 'web_search_20250305', name: 'web_search', max_uses: 8 }
  const shell = { name: 'Shell', input_schema: { type: 'object' } }
  const ask = (model: string, tools: object[]) =>
    claudeCode.messages
      .create({
        model,
        max_tokens: 1000,
        messages: [{ role: 'user', content: 'Search for news.' }],
        tools,
      } as Anthropic.MessageCreateParamsNonStreaming)
      .withResponse()
  const sentTools = () => (upstream.last().body as { tools: unknown }).tools
  const changesOf = ({ response }: { response: Response }) => response.headers.get('x-params-changed')

  test('is Claude’s own, and Gemini’s where nothing else is offered', async () => {
    await ask('claude-haiku-4-5', [searching])
    expect(sentTools()).toEqual([searching])
    expect(changesOf(await ask('gemini-2.5-pro', [searching]))).toContain(
      'tools.web_search_20250305->google_search',
    )
    expect(sentTools()).toEqual([{ googleSearch: {} }])
  })

  test.each(['gpt-5-mini', 'local-coder'])(
    'is refused where %s could only make results up',
    async (model) => {
      await expect(ask(model, [searching])).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining('tools.0.type'),
      })
      expect(upstream.requests).toHaveLength(0)
    },
  )

  test.each(['gpt-5-mini', 'local-coder', 'gemini-2.5-pro'])(
    'is left out beside tools for %s',
    async (model) => {
      expect(changesOf(await ask(model, [searching, shell]))).toContain('-tools.web_search_20250305')
      expect(JSON.stringify(sentTools())).not.toContain('earch')
    },
  )
})
