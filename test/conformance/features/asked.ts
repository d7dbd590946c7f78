import { expect } from 'vitest'
import type { JsonObject } from '../../../kit/canonical/forms.ts'
import type { Cell } from '../cell.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='

/** A picture beside the text. */
export async function images(cell: Cell): Promise<void> {
  const asked = cell.ask({ turns: [{ text: 'What is it?', image: png }] })
  if (cell.departure) return cell.expectDeparture(asked)
  cell.expectWhole(await asked)
  expect(cell.at(cell.provider.places.image)).toContain(png)
}

/** More thought on demand, and the thoughts apart from the answer. */
export async function reasoning(cell: Cell): Promise<void> {
  for (const stream of [false, true]) {
    cell.reply({ reasoning: 'Six times seven is 42.', content: '42' })
    const asked = cell.ask({ model: cell.model('reasoning'), effort: 'high', stream })
    if (cell.departure) {
      await cell.expectDeparture(asked)
      continue
    }
    const answer = await asked
    expect(cell.at(cell.provider.places.thinking)).toBeDefined()
    expect(answer).toMatchObject({ reasoning: 'Six times seven is 42.', text: '42' })
    cell.expectWhole(answer)
  }
}

/** What an answer may be held to. */
export const verdict: JsonObject = {
  type: 'object',
  properties: { verdict: { type: 'string', enum: ['yes', 'no'] } },
  required: ['verdict'],
  additionalProperties: false,
}

/** An answer held to a schema. */
export async function jsonSchema(cell: Cell): Promise<void> {
  for (const stream of [false, true]) {
    cell.reply({ content: '{"verdict":"yes"}' })
    const asked = cell.ask({ schema: verdict, stream })
    if (cell.departure) {
      await cell.expectDeparture(asked)
      continue
    }
    const answer = await asked
    const sent = cell.at(cell.provider.places.schema)
    expect(typeof sent === 'string' ? JSON.parse(sent) : sent).toEqual(verdict)
    expect(JSON.parse(answer.text)).toEqual({ verdict: 'yes' })
    cell.expectWhole(answer)
  }
}
