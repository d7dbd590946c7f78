import { expect, test } from 'vitest'
import { readable } from './readable.ts'

test('what cannot be read is undefined', () => {
  expect(readable(() => JSON.parse('[1]'))).toEqual([1])
  expect(readable(() => JSON.parse('[1'))).toBeUndefined()
})
