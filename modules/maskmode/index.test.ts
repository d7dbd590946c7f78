import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ask as askOf, textOf } from '../../test/ask.ts'
import { streamsAsWhole } from '../../test/cuts.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

describe('over HTTP', () => {
  let upstream: Upstream
  let gateway: TestGateway
  let client: OpenAI
  const secretText = 'My name is Ada Lovelace, write to ada@example.com or call +49 30 1234 5678.'
  const private_ = ['Lovelace', 'ada@example.com', '1234 5678']
  const messages = [{ role: 'user' as const, content: secretText }]

  beforeAll(async () => {
    upstream = await startUpstream()
    gateway = await startGateway({ upstream })
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: (await gateway.signUp()).key, maxRetries: 0 })
    await gateway.module('maskmode', { enabled: true })
  })

  beforeEach(() => upstream.reset())

  afterAll(async () => {
    await gateway.close()
    await upstream.close()
  })

  const unseen = (): void => {
    for (const { rawBody } of upstream.requests)
      for (const text of private_) expect(rawBody).not.toContain(text)
  }

  test('the provider never sees the values, the client does: plain and streamed', async () => {
    const plain = await client.chat.completions.create({ model: 'gpt-4o-mini', messages })
    expect(plain.choices[0]!.message.content).toBe(`You said: ${secretText}`)
    expect(await client.chat.completions.stream({ model: 'gpt-4o-mini', messages }).finalContent()).toBe(
      `You said: ${secretText}`,
    )
    unseen()
  })

  test('placeholders that come back in tool arguments, split at every byte, are restored as JSON', async () => {
    const address = 'quote"d@example.com'
    await gateway.module('maskmode', {
      config: { custom: [{ type: 'handle', pattern: '[a-z]+"d@example\\.com' }] },
    })
    const tools = [{ type: 'function' as const, function: { name: 'send', parameters: { type: 'object' } } }]
    const ask = [{ role: 'user' as const, content: `Mail ${address}` }]
    for (const splitBytes of [1, 5, 1000]) {
      let placeholder = ''
      const remember = ({ rawBody }: { rawBody: string }): boolean => {
        placeholder = /\[HANDLE_\w+\]/.exec(rawBody)?.[0] ?? 'nobody'
        return true
      }
      upstream.reply(remember, {
        splitBytes,
        get toolCalls() {
          return [{ name: 'send', arguments: { to: placeholder } }]
        },
      })
      const answer = await client.chat.completions
        .stream({ model: 'gpt-4o-mini', messages: ask, tools })
        .finalChatCompletion()
      const [call] = answer.choices[0]!.message.tool_calls!
      expect(JSON.parse((call as { function: { arguments: string } }).function.arguments)).toEqual({
        to: address,
      })
    }
  })

  test('placeholders in an answer that is JSON, split at every byte, are restored as JSON', async () => {
    const ask = [{ role: 'user' as const, content: 'As JSON: quote"d@example.com' }]
    for (const stream of [false, true]) {
      for (const splitBytes of [1, 5, 1000]) {
        let placeholder = ''
        const remember = ({ rawBody }: { rawBody: string }): boolean => {
          placeholder = /\[HANDLE_\w+\]/.exec(rawBody)?.[0] ?? 'nobody'
          return true
        }
        upstream.reply(remember, {
          splitBytes,
          get content() {
            return `{"to": "${placeholder}", "n": 1}`
          },
        })
        const body = { model: 'gpt-4o-mini', messages: ask, response_format: { type: 'json_object' }, stream }
        expect(textOf((await askOf(gateway, { body })).body)).toBe('{"to": "quote\\"d@example.com", "n": 1}')
      }
    }
  })

  test('a number that is redacted in an answer that is JSON leaves JSON, wherever a stream cuts it', async () => {
    await gateway.module('maskmode', { config: { replies: true } })
    const fields = {
      response_format: { type: 'json_object' },
      messages: [{ role: 'user', content: 'Go on, in JSON' }],
    }
    const text = '{"card": 4111111111111111, "of": [4111111111111111, 1]}'
    const seen = await streamsAsWhole(gateway, upstream, text, fields)
    expect(seen).toBe('{"card": "[REDACTED:card]", "of": ["[REDACTED:card]", 1]}')
    expect(await streamsAsWhole(gateway, upstream, 'Card 4111111111111111.')).toBe('Card [REDACTED:card].')
    await gateway.module('maskmode', { config: { replies: null } })
  })

  test('traces keep the masked form', async () => {
    const answer = await client.chat.completions.create({ model: 'gpt-4o-mini', messages }).asResponse()
    await answer.text()
    const { body } = await gateway.api('GET', `/api/observe/traces/${answer.headers.get('x-trace-id')}`)
    const trace = JSON.stringify(body)
    expect(trace).toMatch(/\[EMAIL_\w{6}\]/)
    for (const text of private_) expect(trace).not.toContain(text)
  })

  test('completions and embeddings are masked too', async () => {
    const legacy = await client.completions.create({ model: 'davinci-002', prompt: secretText })
    expect(legacy.choices[0]!.text).toContain('ada@example.com')
    await client.embeddings.create({ model: 'text-embedding-3-small', input: [secretText, 'none'] })
    unseen()
  })

  /** The request that the provider gets, and nothing else. */
  const sent = (): string => JSON.stringify(upstream.last().body)

  test('a value has the same placeholder wherever it stands and in every turn; the text is found masked again', async () => {
    const history = [
      { role: 'user' as const, content: 'I am called Ada Lovelace. Ada is at ada@example.com.' },
      { role: 'assistant' as const, content: 'Hello Ada Lovelace (ada@example.com)!' },
    ]
    await client.chat.completions.create({ model: 'gpt-4o-mini', messages: history.slice(0, 1) })
    const first = JSON.stringify((upstream.last().body as { messages: unknown[] }).messages[0])
    await client.chat.completions.create({
      model: 'gpt-4o-mini',
      messages: [...history, { role: 'user', content: 'Ada?' }],
    })
    expect(sent()).toContain(first)
    expect(sent()).not.toMatch(/Ada|ada@/)
    expect(new Set(sent().match(/\[EMAIL_\w{6}\]/g)).size).toBe(1)
  })

  test('another user has another placeholder for a value, and a user the same one with every key', async () => {
    const placeholder = async (apiKey: string): Promise<string> => {
      const own = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 })
      await own.chat.completions.create({ model: 'gpt-4o-mini', messages })
      return /\[EMAIL_\w{6}\]/.exec(sent())![0]
    }
    const { userId, key } = await gateway.signUp('bob')
    const second = (await gateway.api('POST', `/api/auth/users/${userId}/keys`, {})).body.api_key as string
    const admin = (await gateway.api('POST', '/api/auth/admin/keys', {})).body.api_key as string
    const own = [await placeholder(key), await placeholder(second)]
    const others = [
      await placeholder((await gateway.signUp('cyd')).key),
      await placeholder(admin),
      await placeholder(gateway.adminKey),
    ]
    expect(own[1]).toBe(own[0])
    expect(new Set([own[0], ...others]).size).toBe(4)
  })

  test('a long text that was seen before is masked where a name in it is told later, and restored', async () => {
    const long = `${'Plain words go on and on. '.repeat(60)}Lovelace wrote it.`
    const history = [{ role: 'user' as const, content: long }]
    for (let n = 0; n < 2; n += 1) {
      await client.chat.completions.create({ model: 'gpt-4o-mini', messages: history })
      expect(sent()).toContain('Lovelace wrote it.')
    }
    const later = [...history, { role: 'user' as const, content: 'My name is Ada Lovelace.' }]
    for (let n = 0; n < 2; n += 1) {
      await client.chat.completions.create({ model: 'gpt-4o-mini', messages: later })
      expect(sent()).not.toContain('Lovelace')
    }
    await client.chat.completions.create({ model: 'gpt-4o-mini', messages: history })
    expect(sent()).toContain('Lovelace wrote it.')
  })

  test('a long text with personal data is masked each time, and when other kinds are looked for', async () => {
    const long = `${'Plain words go on and on. '.repeat(60)}Use badge B-7731.`
    const ask = () =>
      client.chat.completions.create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: long }] })
    await ask()
    expect(sent()).toContain('B-7731')
    await gateway.module('maskmode', { config: { custom: [{ type: 'badge', pattern: 'B-[0-9]{4}' }] } })
    for (let n = 0; n < 2; n += 1) {
      await ask()
      expect(sent()).toMatch(/Use badge \[BADGE_\w{6}\]/)
    }
    await gateway.module('maskmode', { config: { custom: [] } })
  })

  test('text of the caller that looks like a placeholder is neither restored nor changed', async () => {
    const content = 'Keep [EMAIL_7KQ4X2] and EMAIL_1, but hide ada@example.com.'
    const answer = await client.chat.completions.create({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content }],
    })
    expect(answer.choices[0]!.message.content).toBe(`You said: ${content}`)
    expect(sent()).toContain('Keep [EMAIL_7KQ4X2] and EMAIL_1, but hide [EMAIL_')
  })

  test('values in parameters, tools and earlier calls do not reach the provider', async () => {
    const call = {
      id: 'call_1',
      type: 'function' as const,
      function: { name: 'send', arguments: '{"to":"ada\\u0040example.com"}' },
    }
    await client.chat.completions.create({
      model: 'gpt-4o-mini',
      user: 'ada@example.com',
      metadata: { customer: 'ada@example.com' },
      tools: [
        {
          type: 'function',
          function: { name: 'send', description: 'Mails ada@example.com', parameters: { type: 'object' } },
        },
      ],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Mail ada@example.com' }] },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: 'Sent to ada@example.com' },
      ],
    })
    expect(upstream.last().rawBody).not.toMatch(/ada(@|\\\\?u0040)example/)
    expect(sent().match(/\[EMAIL_\w{6}\]/g)).toHaveLength(6)
  })

  test('a placeholder that a stream splits at any byte, inflected, is restored', async () => {
    const inflect = [
      (p: string) => p,
      (p: string) => p.toLowerCase(),
      (p: string) => `**${p.slice(1, -1)}**'s`,
    ]
    for (const write of inflect) {
      for (const splitBytes of [1, 2, 7]) {
        let placeholder = ''
        const remember = ({ rawBody }: { rawBody: string }): boolean => {
          placeholder = /\[EMAIL_\w+\]/.exec(rawBody)![0]
          return true
        }
        upstream.reply(remember, {
          splitBytes,
          get content() {
            return [...`Dear ${write(placeholder)} box`]
          },
        })
        const text = await client.chat.completions.stream({ model: 'gpt-4o-mini', messages }).finalContent()
        expect(text).toBe(`Dear ${write('[x]').replace(/\[?x\]?/, 'ada@example.com')} box`)
      }
    }
  })

  test('an answer without a placeholder keeps its bytes', async () => {
    const body = '{"id":"x",  "choices": [ {"message":{ "content":"hi" }} ]}'
    upstream.reply({ body })
    const answer = await client.chat.completions.create({ model: 'gpt-4o-mini', messages }).asResponse()
    expect(await answer.text()).toBe(body)
  })

  test('the mode redact restores nothing', async () => {
    await gateway.module('maskmode', { config: { mode: 'redact' } })
    const answer = await client.chat.completions.create({ model: 'gpt-4o-mini', messages })
    expect(answer.choices[0]!.message.content).toContain('write to [REDACTED:email]')
    unseen()
    await gateway.module('maskmode', { config: { mode: 'pseudonym' } })
  })

  test('personal data that the model brings up stays, or is redacted when so set, beside what is restored', async () => {
    const said = 'Ask bob@example.org about it.'
    upstream.reply({ content: said })
    const before = await client.chat.completions.create({ model: 'gpt-4o-mini', messages })
    expect(before.choices[0]!.message.content).toBe(said)
    await gateway.module('maskmode', { config: { replies: true } })
    for (const stream of [false, true]) {
      let placeholder = ''
      const remember = ({ rawBody }: { rawBody: string }): boolean => {
        placeholder = /\[EMAIL_\w+\]/.exec(rawBody)![0]
        return true
      }
      upstream.reply(remember, {
        get content() {
          return `${placeholder}: ${said}`
        },
      })
      const text = stream
        ? await client.chat.completions.stream({ model: 'gpt-4o-mini', messages }).finalContent()
        : (await client.chat.completions.create({ model: 'gpt-4o-mini', messages })).choices[0]!.message
            .content
      expect(text).toBe('ada@example.com: Ask [REDACTED:email] about it.')
    }
    await gateway.module('maskmode', { config: { replies: false } })
  })
})
