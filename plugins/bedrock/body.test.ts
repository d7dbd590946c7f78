import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formProblem } from '#provider'
import { runs } from '../../test/suite/runs.ts'
import { translation } from '../../test/translation.ts'
import { conversationError } from '../../test/upstream/bedrock/conversation.ts'
import { converseBody } from '../../test/upstream/bedrock/schema.ts'
import { bodyOf } from './body.ts'
import { credentialOf } from './credential.ts'
import manifest from './manifest.json' with { type: 'json' }
import { bedrockProtocol } from './protocol.ts'

const f = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }
const g = { type: 'function', function: { name: 'g.h', strict: true } }
const call = (id: string) => ({ id, type: 'function', function: { name: 'g.h', arguments: '{"a":1}' } })
const cached = { cache_control: { type: 'ephemeral', ttl: '1h' } }

const models = [
  'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  'anthropic.claude-3-7-sonnet-20250219-v1:0',
  'anthropic.claude-sonnet-4-6',
  'anthropic.claude-opus-9',
  'amazon.nova-2-lite-v1:0',
  'amazon.nova-pro-v1:0',
  'openai.gpt-oss-20b-1:0',
  'meta.llama3-3-70b-instruct-v1:0',
]

it('whatever a client of OpenAI may ask is taken by the real service, or refused by name', () => {
  const text = fc.constantFrom('', ' ', 'a', 'b\n')
  const parts = fc.array(
    fc.oneof(
      fc.record({ type: fc.constant('text'), text }),
      fc.constant({ type: 'text', text: 'c', ...cached }),
      fc.constant({ type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }),
      fc.constant({ type: 'file', file: { filename: '§ x.y.txt', file_data: 'data:text/plain,a%20b' } }),
    ),
    { maxLength: 3 },
  )
  const message = fc.oneof(
    fc.record({ role: fc.constantFrom('system', 'developer'), content: text }),
    fc.record({ role: fc.constant('user'), content: fc.oneof(text, parts) }),
    fc.record({ role: fc.constant('assistant'), content: fc.oneof(text, fc.constant(null)) }),
  )
  const loop = fc
    .tuple(fc.boolean(), fc.oneof(text, parts))
    .map(([two, content]) => [
      { role: 'assistant', content: null, tool_calls: [call('a:1'), ...(two ? [call('b')] : [])] },
      { role: 'tool', tool_call_id: 'a:1', content },
      ...(two ? [{ role: 'tool', tool_call_id: 'b', content: 'x', is_error: true }] : []),
    ])
  const fields = fc.record(
    {
      model: fc.constantFrom(...models),
      messages: fc
        .tuple(fc.array(message, { maxLength: 4 }), fc.oneof(fc.constant([]), loop))
        .map(([some, more]) => [
          { role: 'user', content: 'hi' },
          ...some,
          ...more,
          { role: 'user', content: 'on' },
        ]),
      temperature: fc.constantFrom(0, 1, 2, null),
      top_p: fc.constantFrom(0, 0.5, 1),
      top_k: fc.constantFrom(1, null),
      stop: fc.oneof(text, fc.array(text, { maxLength: 3 })),
      n: fc.constantFrom(1, 2),
      max_tokens: fc.constantFrom(10, 5000),
      user: fc.string(),
      reasoning_effort: fc.constantFrom('none', 'minimal', 'high', 'max'),
      response_format: fc.constantFrom(
        { type: 'text' },
        { type: 'json_object' },
        { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
      ),
      tools: fc.constantFrom([f], [f, g], []),
      tool_choice: fc.constantFrom('auto', 'none', 'required', { type: 'function', function: { name: 'f' } }),
      parallel_tool_calls: fc.boolean(),
      service_tier: fc.constantFrom('auto', 'flex', 'scale'),
      unheard_of: fc.constant(1),
    },
    { requiredKeys: ['model', 'messages'] },
  )
  fc.assert(
    fc.property(fields, (asked) => {
      const { call: made, target } = translation(
        manifest as Parameters<typeof translation>[0],
        asked as unknown as Parameters<typeof translation>[1],
      )
      try {
        const body: unknown = JSON.parse(JSON.stringify(bodyOf(made, target)))
        const { data, error } = converseBody.safeParse(body)
        expect(error).toBeUndefined()
        expect(conversationError(data!, asked.model)).toBeUndefined()
        if (asked.unheard_of) expect(made.trace.paramsChanged).toContain('-unheard_of')
      } catch (error) {
        expect(error).toMatchObject({ status: 400, param: expect.any(String) })
      }
    }),
    runs(400),
  )
})

it('a key of either form is taken apart into what was put into it', () => {
  const part = fc.stringMatching(/^[A-Za-z0-9+/=]{1,60}$/)
  const region = fc.option(fc.constantFrom('us-east-1', 'us-gov-west-1', 'ap-southeast-2'), {
    nil: undefined,
  })
  const id = fc.stringMatching(/^A[A-Z0-9]{19}$/)
  fc.assert(
    fc.property(
      id,
      part,
      fc.option(part, { nil: undefined }),
      region,
      (accessKeyId, secret, token, place) => {
        const expected = {
          kind: 'signing',
          accessKeyId,
          secretAccessKey: secret,
          sessionToken: token,
          region: place,
        }
        const written = [accessKeyId, secret, ...(token === undefined ? [] : [token])].join(':')
        expect(credentialOf(place === undefined ? written : `${written}@${place}`)).toEqual(expected)
        const json = {
          access_key_id: accessKeyId,
          secret_access_key: secret,
          session_token: token,
          region: place,
        }
        expect(credentialOf(JSON.stringify(json))).toEqual(expected)
      },
    ),
  )
})

it('what is wrong with a key is told without telling the key', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 8 }), (secret) => {
      const problem = formProblem(() => credentialOf(secret))
      if (problem !== undefined) expect(problem).not.toContain(secret)
    }),
  )
})

it('goes to the region of its key, and asks another host for the models', async () => {
  const { target } = translation(manifest as Parameters<typeof translation>[0], { model: 'm' })
  const at = async (secret: string) => {
    const key = { ...target.key!, secret }
    const { url, headers } = await bedrockProtocol(fetch).check({ ...target, key })
    return [url, headers.authorization ?? '']
  }
  expect(await at('ABSKkey')).toEqual([
    'https://bedrock.us-east-1.amazonaws.com/foundation-models',
    'Bearer ABSKkey',
  ])
  const [url, authorization] = await at('AKIDEXAMPLE00000001:secret@eu-north-1')
  expect(url).toBe('https://bedrock.eu-north-1.amazonaws.com/foundation-models')
  expect(authorization).toContain('/eu-north-1/bedrock/aws4_request')
})
