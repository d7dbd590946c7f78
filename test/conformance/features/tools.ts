import { expect } from 'vitest'
import type { Cell } from '../cell.ts'
import type { AskedTool } from '../wires/client.ts'

const weather: AskedTool = {
  name: 'weather',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string', description: 'Where' } },
    required: ['city'],
    additionalProperties: false,
  },
}

const turns = [{ text: 'How is it there?' }]
const tools = [weather]

/** A call of a function, its result, and the answer after it. */
export async function tool(cell: Cell): Promise<void> {
  for (const stream of [false, true]) {
    cell.reply({ toolCalls: [{ name: 'weather', arguments: { city: 'Zürich "ZH"' } }] })
    const asked = await cell.ask({ turns, tools, stream })
    expect(cell.at(cell.provider.places.tool)).toEqual(weather.parameters)
    expect(asked).toMatchObject({
      stop: 'tools',
      calls: [{ name: 'weather', input: { city: 'Zürich "ZH"' } }],
    })
    cell.expectWhole(asked)

    const results = [{ id: asked.calls[0]!.id, text: '12 degrees' }]
    cell.reply({ content: 'It is cool.' })
    const told = await cell.ask({ turns: [...turns, { answer: asked }, { results }], tools, stream })
    expect(told).toMatchObject({ text: 'It is cool.', stop: 'stop' })
    expect(JSON.stringify(cell.at(cell.provider.places.result))).toContain('12 degrees')
    cell.expectWhole(told)
  }
}

/** Two calls of one function in one answer, their results in the other order. */
export async function parallelTools(cell: Cell): Promise<void> {
  for (const stream of [false, true]) {
    const inputs = [{ city: 'Bern' }, { city: 'Genève' }]
    cell.reply({ toolCalls: inputs.map((input) => ({ name: 'weather', arguments: input })) })
    const asked = await cell.ask({ turns, tools, stream })
    expect(asked.stop).toBe('tools')
    expect(asked.calls.map(({ input }) => input)).toEqual(inputs)
    const [first, second] = asked.calls
    expect(first!.id).not.toBe(second!.id)

    const results = [
      { id: second!.id, text: 'rain' },
      { id: first!.id, text: 'sun' },
    ]
    cell.reply({ content: 'Mixed.' })
    const told = await cell.ask({ turns: [...turns, { answer: asked }, { results }], tools, stream })
    expect(told.text).toBe('Mixed.')
    expect(cell.sent.rawBody).toContain('rain')
    cell.expectWhole(told)
  }
}
