import { expect, test } from 'vitest'
import { z } from 'zod'
import { StoreError } from '../errors.ts'
import type { CollectionOptions } from '../index.ts'
import { shapeOf } from './shape.ts'

const Account = z.object({ owner: z.string(), limits: z.object({ daily: z.number() }).optional() })
type Account = z.infer<typeof Account>
const options: CollectionOptions<Account> = { schema: Account }

test('rows without a version have the first, and are the same for every program', () => {
  const row = { owner: 'o' }
  const shape = shapeOf(options)
  expect(shape).toMatchObject({ version: 1, indexes: [], prepare: undefined })
  expect(shape.migrate(row, 0)).toBe(row)
  const given = { ...options, version: 3, migrate: () => 'migrated', prepare: async () => {} }
  expect(shapeOf(given)).toMatchObject({ version: 3, prepare: given.prepare })
  expect(shapeOf(given).migrate(row, 1)).toBe('migrated')
})

test('the indexes of a shape have names that can be part of a key', () => {
  const owner = ({ owner }: Account) => owner
  expect(shapeOf({ ...options, indexes: { owner } }).indexes).toEqual([['owner', owner]])
  expect(() => shapeOf({ ...options, indexes: { owner, 'a!b': owner } })).toThrow(
    expect.objectContaining({ code: 'NAME_INVALID' }),
  )
})

test('a row is what its schema makes of it; a refusal names the places and no values', () => {
  const { parse } = shapeOf(options)
  expect(parse({ owner: 'o', more: 1 })).toEqual({ owner: 'o' })
  const refusalOf = (row: unknown): StoreError => {
    try {
      parse(row)
    } catch (error) {
      return error as StoreError
    }
    throw new Error('it was not refused')
  }
  const refused = refusalOf({ owner: 41, limits: { daily: 'secret' } })
  expect(refused).toBeInstanceOf(StoreError)
  expect(refused).toMatchObject({
    code: 'ROW_INVALID',
    message: 'The row does not fit its schema (owner: invalid_type, limits.daily: invalid_type).',
    cause: expect.any(z.ZodError),
  })
  expect(refusalOf(7).message).toContain('(row: invalid_type)')
})
