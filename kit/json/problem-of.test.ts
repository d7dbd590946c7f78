import { expect, test } from 'vitest'
import { z } from 'zod'
import { problemOf } from './problem-of.ts'

const told = (schema: z.ZodType, value: unknown): string =>
  problemOf(schema.safeParse(value).error!.issues[0]!)

const text = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))])

test('an absent field is called missing', () => {
  expect(told(z.string(), undefined)).toBe('it is missing: expected string')
  expect(told(z.string(), 5)).toBe('Invalid input: expected string, received number')
})

test('a field of several forms is told which there are', () => {
  expect(told(text, undefined)).toBe('it is missing: expected string or array')
  expect(told(text, 5)).toBe('Invalid input: expected string or array, received number')
  expect(told(z.union([text, z.array(z.int())]), null)).toBe(
    'Invalid input: expected string or array, received null',
  )
})

test('a value that has one of them is told what is wrong inside it', () => {
  expect(told(text, [{}])).toBe('0.type: it is missing: expected string')
  expect(told(text, ['a'])).toBe('0: Invalid input: expected object, received string')
  expect(told(z.object({ a: text }), { a: [{ type: 1 }] })).toBe(
    '0.type: Invalid input: expected string, received number',
  )
})

test('a value that has one of them with another fault, or a fault in one place by all of them, is told that', () => {
  const lists = z.union([z.string(), z.array(z.string()).min(1), z.array(z.int()).min(1)])
  expect(told(lists, [])).toBe('Too small: expected array to have >=1 items')
  expect(told(lists, [null])).toBe('0: Invalid input: expected string or number, received null')
  expect(told(lists, 5)).toBe('Invalid input: expected string or array, received number')
})

test('a value that several may be meant by keeps the words of the schema', () => {
  const shapes = z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])
  expect(told(shapes, {})).toBe('Invalid input')
  expect(told(z.union([z.string(), z.int()], 'give a name or a number'), [])).toBe('give a name or a number')
  expect(told(z.union([z.enum(['auto', 'none']), z.object({ name: z.string() })]), 'often')).toBe(
    'Invalid input: expected one of "auto"|"none" or object, received string',
  )
})
