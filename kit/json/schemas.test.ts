import { afterAll, expect, test } from 'vitest'
import type { JsonObject } from '../canonical/forms.ts'
import { type HeldSchema, Schemas } from './schemas.ts'

const schemas = new Schemas()

afterAll(() => schemas.close())

/** A schema as honest clients send it, with so many fields. */
const large = (fields: number): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: fields }, (_, n) => [
      `field_${n}`,
      { type: 'object', properties: { a: { type: 'integer' }, b: { enum: ['x', 'y'] } }, required: ['a'] },
    ]),
  ),
})

/** So many turns of the event loop there were while something was awaited; each is one in which other calls get on. */
async function turnsDuring<T>(work: Promise<T> | T): Promise<{ turns: number; result: T }> {
  let turns = 0
  let isOver = false
  const turn = (): void => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  try {
    return { result: await work, turns }
  } finally {
    isOver = true
  }
}

test('a short schema is read at once', () => {
  const held = schemas.read({ type: 'integer' }) as HeldSchema
  expect(held.isAside).toBe(false)
  expect(held.check('3')).toEqual({ problems: ['/ must be integer'], value: '3' })
  const lenient = schemas.read({ items: { type: 'integer' } }, { coerce: true }) as HeldSchema
  const value = ['3']
  expect(lenient.check(value)).toEqual({ problems: [], value: [3] })
  expect(value).toEqual(['3'])
})

test('a large one is read and held to while others get on', async () => {
  const { turns, result: held } = await turnsDuring(schemas.read(large(50)))
  expect([held.isAside, turns > 10]).toEqual([true, true])
  const value = { field_49: { a: 1 } }
  expect(await held.check(value)).toEqual({ problems: [], value })
  expect((await held.check({ field_49: { b: 'z' } })).problems).toHaveLength(2)
  const lenient = await schemas.read(large(50), { coerce: true })
  expect(await lenient.check({ field_0: { a: '1' } })).toEqual({ problems: [], value: { field_0: { a: 1 } } })
})

test('one that cannot be used is refused with its field, and the next is read', async () => {
  const wrong = { ...large(50), type: 'nothing' }
  await expect(schemas.read(wrong, { param: 'response_format' })).rejects.toMatchObject({
    status: 400,
    param: 'response_format',
  })
  expect((await (await schemas.read(large(50))).check({})).problems).toEqual([])
})

test('a value that takes too long is refused while others get on', async () => {
  const held = await schemas.read({ uniqueItems: true })
  const value = Array.from({ length: 60_000 }, (_, n) => ({ a: [n] }))
  const { turns, result } = await turnsDuring(Promise.resolve(held.check(value)).catch((error) => error))
  expect(result).toMatchObject({ status: 400, message: expect.stringContaining('longer than 2000 ms') })
  expect(turns).toBeGreaterThan(10)
})

test('a short one whose patterns take many steps for each character is held to while others get on', async () => {
  const plain = { pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }
  expect((schemas.read(plain) as HeldSchema).isAside).toBe(false)
  const held = await schemas.read({ properties: { a: { pattern: '\\pL{0,900}\\pN' } } })
  expect(held.isAside).toBe(true)
  expect((await held.check({ a: 'abc' })).problems).toEqual(['/a must match pattern "\\pL{0,900}\\pN"'])
  const check = Promise.resolve(held.check({ a: 'é'.repeat(150_000) })).catch((error) => error)
  const { turns, result } = await turnsDuring(check)
  expect(result).toMatchObject({ status: 400, message: expect.stringContaining('longer than 2000 ms') })
  expect(turns).toBeGreaterThan(10)
  expect((await schemas.read({ patternProperties: { '(a.{0,200}){2}b': {} } })).isAside).toBe(true)
})

test('a long value of a short schema with a pattern is refused when it takes long', () => {
  const held = schemas.read({ properties: { a: { pattern: '[ab]*a[ab]{90}c' } } }) as HeldSchema
  expect(held.isAside).toBe(false)
  expect(held.check({ a: `c${'ab'.repeat(1000)}` })).toMatchObject({ problems: [expect.any(String)] })
  expect(() => held.check({ a: `c${'abbab'.repeat(200_000)}` })).toThrow('longer than 500 ms')
})

test('a thread that was given back is there again for the next', async () => {
  const own = new Schemas()
  const held = await own.read(large(50))
  await own.close()
  await expect(held.check({})).rejects.toThrow()
  const other = new Schemas()
  expect((await (await other.read(large(50))).check({ field_0: {} })).problems).toHaveLength(1)
  await other.close()
})
