import { beforeEach, describe, expect, test } from 'vitest'
import { bareChain } from '../bare.ts'
import { shared } from '../shared.ts'
import type { Cell } from './cell.ts'
import { providers } from './providers/index.ts'
import { startStand } from './stand.ts'
import type { Answer } from './wires/client.ts'
import { wires } from './wires/index.ts'

/** Guards hold whichever wire a client speaks and whichever provider answers, streamed byte by byte too. */

const stand = shared(() => startStand(providers))
beforeEach(async () => {
  stand.reset()
  await bareChain(stand.gateway)
})

const ways = wires.flatMap((wire) =>
  providers
    .filter(({ operations }) => operations.includes(wire.operation))
    .map((provider) => ({ wire, provider, name: `${wire.id} to ${provider.name}` })),
)
const email = 'ada.lovelace@example.com'
const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'
const tools = [
  { name: 'send', parameters: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] } },
]

/** Everything that a client was given. */
const allOf = ({ text, reasoning, calls, native }: Answer): string =>
  JSON.stringify({ text, reasoning, calls, native })

/** What stands for the address in what the provider was sent last. */
function placeholderIn({ sent }: Cell): string {
  expect(sent.rawBody).not.toContain(email)
  const [placeholder] = /\[EMAIL_\w+\]/.exec(sent.rawBody) ?? []
  if (!placeholder) throw new Error('the provider was sent no placeholder')
  return placeholder
}

describe.each(ways)('$name', ({ wire, provider }) => {
  const cell = () => stand.cell(wire, provider)
  const speaksTools = wire.features.includes('tools')

  test.each([false, true])(
    'maskmode hides an address from the provider and shows it to its owner (stream: %s)',
    async (stream) => {
      await stand.gateway.module('maskmode', { enabled: true, config: {} })
      const one = cell()
      const turns = [{ text: `Write to ${email}` }]
      one.upstream.reply({ ...(stream && { splitBytes: 1 }) })
      expect((await one.ask({ turns, stream })).text).toContain(email)
      const placeholder = placeholderIn(one)
      if (!speaksTools) return

      one.upstream.reply({
        toolCalls: [{ name: 'send', arguments: { to: placeholder } }],
        ...(stream && { splitBytes: 1 }),
      })
      const asked = await one.ask({ turns, tools, stream })
      expect(asked.calls).toMatchObject([{ name: 'send', input: { to: email } }])

      const results = [{ id: asked.calls[0]!.id, text: `Sent to ${email}` }]
      one.upstream.reply({ content: 'Done.' })
      await one.ask({ turns: [...turns, { answer: asked }, { results }], tools, stream })
      expect(placeholderIn(one)).toBe(placeholder)
    },
  )

  test('secretscan keeps a secret from the provider, wherever it stands', async () => {
    await stand.gateway.module('secretscan', { enabled: true, config: {} })
    const one = cell()
    one.upstream.reply({ toolCalls: [{ name: 'send', arguments: { to: 'x' } }] })
    const asked = speaksTools ? await one.ask({ tools }) : undefined
    const question = { text: 'hi' }
    const places = [
      [{ text: `My key is ${secret}` }],
      ...(asked
        ? [[question, { answer: asked }, { results: [{ id: asked.calls[0]!.id, text: `It is ${secret}` }] }]]
        : []),
    ]
    one.upstream.reset()
    for (const turns of places) {
      for (const stream of [false, true]) {
        const problem = await one.problem(one.ask({ turns, stream, ...(asked && { tools }) }))
        expect(problem.status).toBe(400)
      }
    }
    expect(one.upstream.requests).toHaveLength(0)
  })

  test.each([false, true])(
    'secretscan takes a secret out of answers, calls and thoughts included (stream: %s)',
    async (stream) => {
      await stand.gateway.module('secretscan', { enabled: true, config: {} })
      const one = cell()
      const content = `Your key is ${secret}, keep it.`
      const splitBytes = stream ? { splitBytes: 1 } : {}
      one.upstream.reply({ content, ...splitBytes })
      const plain = await one.ask({ stream })
      expect(plain.text).toBe('Your key is [REDACTED:github_token], keep it.')
      if (!speaksTools) return

      one.upstream.reply({
        reasoning: content,
        toolCalls: [{ name: 'send', arguments: { to: secret } }],
        ...splitBytes,
      })
      const called = await one.ask({ model: one.model('reasoning'), tools, stream, effort: 'high' })
      expect(called.calls).toMatchObject([{ name: 'send', input: { to: '[REDACTED:github_token]' } }])
      for (const answer of [plain, called]) expect(allOf(answer)).not.toContain(secret)
    },
  )
})
