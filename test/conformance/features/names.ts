import { expect } from 'vitest'
import type { Cell } from '../cell.ts'
import type { AskedTool } from '../wires/client.ts'

const toolNamed = (name: string): AskedTool => ({
  name,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
})

const long = `mcp__${'weather_service_of_the_whole_world_'.repeat(4)}`
const foreign = ['2nd.forecast:for-tomorrow', `${long}today`, `${long}tomorrow`] as const
const plain = 'weather'
const turns = [{ text: 'How is it there?' }]
const tools = [...foreign, plain].map(toolNamed)

/** Names of tools that the service does not take: known to the client by nothing else, to the service by others. */
export async function toolNames(cell: Cell): Promise<void> {
  for (const stream of [false, true]) {
    for (const own of foreign) {
      const { headers } = await cell.ask({ turns, tools, stream })
      const sent = sentNames(cell, (await cell.trace(headers)).facts)
      expect(new Set(Object.values(sent)).size).toBe(foreign.length)
      for (const name of foreign) expect(cell.sent.rawBody).not.toContain(name)

      const calls = [own, plain].map((name) => ({ name: sent[name] ?? name, arguments: { city: 'Bern' } }))
      cell.reply({ toolCalls: calls })
      const asked = await cell.ask({ turns, tools, stream, choice: own })
      expect(asked.calls.map(({ name }) => name)).toEqual([own, plain])
      expect(cell.sent.rawBody).not.toContain(own)
      cell.expectWhole(asked)

      const results = asked.calls.map(({ id }) => ({ id, text: 'sun' }))
      cell.reply({ content: 'It is fine.' })
      const told = await cell.ask({ turns: [...turns, { answer: asked }, { results }], tools, stream })
      expect(told.text).toBe('It is fine.')
      expect(cell.sent.rawBody).not.toContain(own)
      expect(cell.sent.rawBody.split(sent[own]!).length - 1).toBeGreaterThanOrEqual(2)
      cell.expectWhole(told)
      expect(told.headers.get('x-params-changed') ?? '').not.toContain('name')
    }
  }
}

/** What the trace says the names were at this provider. */
function sentNames({ provider }: Cell, facts: unknown): Readonly<Record<string, string>> {
  const { tool_names } = facts as { tool_names: Readonly<Record<string, Readonly<Record<string, string>>>> }
  return tool_names[provider.name]!
}
