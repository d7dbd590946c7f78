import { beforeEach, describe, expect, test } from 'vitest'
import { shared } from '../shared.ts'
import { providers } from './providers/index.ts'
import type { TestProvider } from './providers/provider.ts'
import { startStand } from './stand.ts'
import { chat } from './wires/chat.ts'
import { gemini } from './wires/gemini.ts'
import { messages } from './wires/messages.ts'
import { responses } from './wires/responses.ts'

/** A conversation that one provider began goes on at another, with everything that the client was given. */

const stand = shared(() => startStand(providers))
beforeEach(() => stand.reset())

const tools = [
  {
    name: 'weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
]
const turns = [{ text: 'How is it in Bern?' }]

const ways = [chat, messages, responses, gemini].flatMap((wire) =>
  providers.flatMap((from) =>
    providers
      .filter((to) => to !== from)
      .map((to) => ({ wire, from, to, name: `on ${wire.id}, from ${from.name} to ${to.name}` })),
  ),
)

/** What a client of the wire carries that the next provider does not understand, as it is named. */
function lostOf(wire: string, from: TestProvider, to: TestProvider): RegExp {
  if (wire !== 'chat' || (from.signer !== undefined && from.signer === to.signer)) return /^/
  if (from.signer === 'google') return /-messages\.tool_calls\.extra_content/
  if (from.signer === 'claude') return /-messages\.reasoning_details/
  // These take thoughts for their own.
  return ['cohere', 'mistral'].includes(to.name) ? /^/ : /-messages\.reasoning/
}

describe.each(ways)('$name', ({ wire, from, to }) => {
  test.each([false, true])(
    'a call, its result and the thoughts before it are taken (stream: %s)',
    async (stream) => {
      const first = stand.cell(wire, from)
      first.upstream.reply({
        reasoning: 'I must look.',
        ...(from.name !== 'cohere' && { content: 'Let me see.' }),
        toolCalls: [{ name: 'weather', arguments: { city: 'Bern' } }],
      })
      const asked = await first.ask({ model: first.model('reasoning'), turns, tools, stream, effort: 'high' })
      expect(asked.stop).toBe('tools')

      const second = stand.cell(wire, to)
      second.upstream.reply({ content: 'Sunny.' })
      const results = [{ id: asked.calls[0]!.id, text: '20 degrees' }]
      const told = await second.ask({ turns: [...turns, { answer: asked }, { results }], tools, stream })
      expect(told.text).toBe('Sunny.')
      expect(second.sent.rawBody).toContain('20 degrees')
      expect(second.sent.rawBody).toContain('Bern')
      expect(told.headers.get('x-params-changed') ?? '').toMatch(lostOf(wire.id, from, to))
    },
  )
})
