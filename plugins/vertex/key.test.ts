import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formProblem } from '#provider'
import { keyOf } from './key.ts'

it.each([
  ['ya29.c.abc', 'token'],
  ['AIzaSyA-b_c', 'api-key'],
  ['AQ.Ab8-x', 'api-key'],
  ['/etc/google.json', 'file'],
  ['google.json', 'file'],
  ['C:\\keys\\google.json', 'file'],
  ['{"type":"authorized_user","client_id":"c","client_secret":"s","refresh_token":"r","account":""}', 'user'],
])('%s is a key of the kind %s', (secret, kind) => {
  expect(keyOf(secret).kind).toBe(kind)
})

it('what is wrong with a key is told without telling the key', () => {
  const account = fc.record({
    type: fc.constantFrom('service_account', 'authorized_user', 'other'),
    client_email: fc.string(),
    private_key: fc.string({ minLength: 12 }),
  })
  fc.assert(
    fc.property(account, fc.string({ minLength: 12 }), (made, other) => {
      const problem = formProblem(() => keyOf(JSON.stringify(made)))
      expect(problem).toBeTypeOf('string')
      expect(problem).not.toContain(made.private_key)
      expect(formProblem(() => keyOf(other)) ?? '').not.toContain(other)
    }),
  )
})
