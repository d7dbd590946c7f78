import { beforeEach, describe, expect, test } from 'vitest'
import claude from '../fixtures/loops/anthropic.json' with { type: 'json' }
import google from '../fixtures/loops/gemini.json' with { type: 'json' }
import french from '../fixtures/loops/mistral.json' with { type: 'json' }
import { shared } from '../shared.ts'
import { anthropic } from './providers/anthropic.ts'
import { gemini } from './providers/gemini.ts'
import { mistral } from './providers/mistral.ts'
import { startStand } from './stand.ts'
import type { Turn } from './wires/client.ts'
import { wires } from './wires/index.ts'

/**
 * Loops of three turns in which the model thinks before it calls tools. What it signed, or wants to be told again, must
 * come back to it as it was, byte for byte and in its place, whichever wire the client speaks.
 */

const providers = [anthropic, gemini, mistral]
const stand = shared(() => startStand(providers))
beforeEach(() => stand.reset())

interface Sent {
  readonly messages?: readonly {
    readonly role: string
    readonly content: readonly { readonly type: string }[]
  }[]
  readonly contents?: readonly { readonly parts: readonly { readonly thoughtSignature?: string }[] }[]
}

/** How a service's loop was written down, and what of it is found in a request. */
const loops = [
  {
    provider: anthropic,
    turns: claude.turns,
    frame: (event: { readonly type?: string }) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
    /** All blocks of the model's n-th turn. */
    keptIn: ({ messages = [] }: Sent, n: number) => messages[2 * n + 1]?.content ?? [],
  },
  {
    provider: gemini,
    turns: google.turns,
    frame: (event: object) => `data: ${JSON.stringify(event)}\r\n\r\n`,
    /** The parts of it that are signed. */
    keptIn: ({ contents = [] }: Sent, n: number) =>
      contents[2 * n + 1]?.parts.filter(({ thoughtSignature }) => thoughtSignature !== undefined) ?? [],
  },
  {
    provider: mistral,
    turns: french.turns,
    frame: (event: object, i: number, all: readonly object[]) =>
      `data: ${JSON.stringify(event)}\n\n${i === all.length - 1 ? 'data: [DONE]\n\n' : ''}`,
    /** The thoughts in the content of the model's n-th message. */
    keptIn: ({ messages = [] }: Sent, n: number) => {
      const { content } = messages.filter(({ role }) => role === 'assistant')[n] ?? { content: [] }
      return content.filter(({ type }) => type === 'thinking')
    },
  },
]

const ways = wires
  .filter(({ features }) => features.includes('reasoning'))
  .flatMap((wire) => loops.map((loop) => ({ wire, ...loop, name: `${wire.id} to ${loop.provider.name}` })))

describe.each(ways)('$name', ({ wire, provider, turns, frame, keptIn }) => {
  test.each([
    ['plain', false, undefined],
    ['streamed', true, undefined],
    ['streamed byte by byte', true, 1],
  ])('%s', async (_, stream, splitBytes) => {
    const cell = stand.cell(wire, provider)
    const tools = [
      {
        name: 'weather',
        parameters: { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: true },
      },
    ]
    const asked: Turn[] = [{ text: 'How is it there?' }]
    const about = { model: cell.model('reasoning'), tools, effort: 'low', stream } as const
    for (const { events, body } of turns) {
      const script = stream ? { chunks: events.map(frame) } : { body }
      cell.upstream.reply({ ...script, ...(splitBytes && { splitBytes }) })
      const answer = await cell.ask({ ...about, turns: asked })
      expect(answer.stop).toBe('tools')
      asked.push({ answer }, { results: answer.calls.map(({ id }, i) => ({ id, text: `result ${i}` })) })
    }
    cell.upstream.reply({ content: 'Done.' })
    expect((await cell.ask({ ...about, turns: asked })).text).toBe('Done.')
    const sent = cell.sent.body as Sent
    for (const [n, { kept }] of turns.entries()) expect(keptIn(sent, n)).toEqual(kept)
  })
})
