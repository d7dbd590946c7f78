import { expect, test } from 'vitest'
import { isLocal, regionOf } from './place.ts'

test.each([
  ['http://127.0.0.1:11434/v1', true],
  ['http://[::1]:11434', true],
  ['http://localhost:8000', true],
  ['http://ollama.internal/v1', true],
  ['http://10.1.2.3', true],
  ['https://172.31.0.9', true],
  ['https://172.32.0.9', false],
  ['https://[fd00::1]/v1', true],
  ['https://api.openai.com/v1', false],
  ['https://localhost.example.com', false],
  ['https://8.8.8.8', false],
])('%s is in the private network: %s', (address, local) => {
  expect(isLocal(address, { fallback: false })).toBe(local)
})

test('without an address only who stands in for all others is here', () => {
  expect([isLocal('', { fallback: true }), isLocal('', { fallback: false })]).toEqual([true, false])
})

test('an option says where models run', () => {
  expect(regionOf({ region: 'eu-central-1' })).toBe('eu-central-1')
  expect(regionOf({ location: 'europe-west1' })).toBe('europe-west1')
  expect(regionOf({ region: '' })).toBeUndefined()
  expect(regionOf({})).toBeUndefined()
})
