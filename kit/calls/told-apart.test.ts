import { expect, test } from 'vitest'
import { createTeller, others } from './told-apart.ts'

test('a user who makes names up gets so many lines a day, and takes none from anybody else', () => {
  const tell = createTeller()
  const told = new Set(Array.from({ length: 5000 }, (_, n) => tell('ada\n1', 'model', `model-${n}`)))
  expect(told.size).toBe(201)
  expect(told).toContain(others)
  expect(tell('ada\n1', 'model', 'model-7')).toBe('model-7')
  expect(tell('ada\n1', 'project', 'model-4999')).toBe('model-4999')
  expect(tell('ada\n2', 'model', 'model-4999')).toBe('model-4999')
  expect(tell('bob\n1', 'model', 'model-4999')).toBe('model-4999')
})
