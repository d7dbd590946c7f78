import { expect, test } from 'vitest'
import { z } from 'zod'
import { parsePart } from './parse-part.ts'

const schema = z.strictObject({ comment: z.string().optional(), rating: z.number().optional() })

const refusalOf = (body: unknown) => {
  try {
    parsePart(schema, body, 'body')
  } catch (error) {
    return error as Error & { param: string; details: object }
  }
  throw new Error('it was taken')
}

test('a key that is not known is told with the nearest one that is', () => {
  const { message, param } = refusalOf({ coment: 'x' })
  expect(message).toBe('body coment: Unrecognized key: "coment"; the nearest known is comment.')
  expect(param).toBe('coment')
})

test.each([
  ['many keys', Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`comment${n}`, 1]))],
  ['a long key', { ['a'.repeat(5_000_000)]: 1 }],
])('%s that are not known make a short refusal', (_, body) => {
  const { message, param, details } = refusalOf(body)
  expect(message.length + param.length + JSON.stringify(details).length).toBeLessThan(5000)
})
