import fc from 'fast-check'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findAll } from '#kit'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import { entityTypes, findersOf } from './entities.ts'
import { Vault } from './vault.ts'

const finders = findersOf(entityTypes)
const found = (text: string) =>
  findAll(finders, text, 0).map(({ start, end, type }) => [type, text.slice(start, end)])

test.each([
  ['email', 'Mail ada.lovelace+x@sub.example.co.uk now', 'ada.lovelace+x@sub.example.co.uk'],
  ['card', 'Card 4111 1111 1111 1111 expires', '4111 1111 1111 1111'],
  ['card', 'Card 378282246310005.', '378282246310005'],
  ['iban', 'Pay DE89 3704 0044 0532 0130 00 today', 'DE89 3704 0044 0532 0130 00'],
  ['iban', 'Pay GB82WEST12345698765432', 'GB82WEST12345698765432'],
  ['ssn', 'SSN 536-90-4399.', '536-90-4399'],
  ['ip', 'From 192.168.10.5, port 80', '192.168.10.5'],
  ['ip', 'From 2001:db8::8a2e:370:7334 today', '2001:db8::8a2e:370:7334'],
  ['phone', 'Call +49 30 1234 5678 soon', '+49 30 1234 5678'],
  ['phone', 'Call (415) 555-2671 soon', '(415) 555-2671'],
  ['birth_date', 'She was born on 10 December 1815 there', '10 December 1815'],
  ['birth_date', 'DOB: 1815-12-10', '1815-12-10'],
  ['address', 'Lives at 221b Baker Street now', '221b Baker Street'],
  ['address', 'Wohnt Hauptstraße 12 im Ort', 'Hauptstraße 12'],
  ['name', 'My name is Ada Lovelace and', 'Ada Lovelace'],
  ['name', 'Dear Charles,', 'Charles'],
])('%s is found: %s', (type, text, value) => {
  expect(found(text)).toEqual([[type, value]])
})

test.each([
  'Card 4111 1111 1111 1112 is no card',
  'DE89 3704 0044 0532 0130 01 has wrong check digits',
  'On 2024-01-15 at 10:30:45 we had 1,234,567 visits in version 1.2.3',
  'The order 12345 costs 99.95 and 256.300.1.2 is no address',
  'See section 3.14 and call me maybe',
])('ordinary text is left alone: %s', (text) => {
  expect(found(text)).toEqual([])
})

describe('placeholders', () => {
  test('are the same for the same value, and found again however a model writes them', () => {
    const vault = new Vault()
    const one = vault.placeholderFor('email', 'ada@example.com')
    expect(vault.placeholderFor('email', 'ada@example.com')).toBe(one)
    expect(vault.placeholderFor('email', 'bob@example.com')).not.toBe(one)
    const bare = one.slice(1, -1)
    for (const form of [one, one.toLowerCase(), bare, bare.replaceAll('_', ' '), bare.replaceAll('_', '-')]) {
      expect(vault.find(`to ${form}'s box`, 0)).toMatchObject({ value: 'ada@example.com', start: 3 })
    }
    expect(vault.find('to [EMAIL_1_zzzz]', 0)).toBeUndefined()
  })
})

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
        placeholder = /\[HANDLE_1_\w+\]/.exec(rawBody)?.[0] ?? 'nobody'
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

  test('traces keep the masked form', async () => {
    const answer = await client.chat.completions.create({ model: 'gpt-4o-mini', messages }).asResponse()
    await answer.text()
    const { body } = await gateway.api('GET', `/api/observe/traces/${answer.headers.get('x-trace-id')}`)
    const trace = JSON.stringify(body)
    expect(trace).toMatch(/EMAIL_1_/)
    for (const text of private_) expect(trace).not.toContain(text)
  })

  test('completions and embeddings are masked too', async () => {
    const legacy = await client.completions.create({ model: 'davinci-002', prompt: secretText })
    expect(legacy.choices[0]!.text).toContain('ada@example.com')
    await client.embeddings.create({ model: 'text-embedding-3-small', input: [secretText, 'none'] })
    unseen()
  })
})

test('whatever is masked comes back, wherever it is cut', () => {
  const vault = new Vault()
  fc.assert(
    fc.property(fc.emailAddress(), (email) => {
      const placeholder = vault.placeholderFor('email', email)
      expect(vault.find(`a ${placeholder} b`, 0)?.value).toBe(email)
    }),
  )
})
