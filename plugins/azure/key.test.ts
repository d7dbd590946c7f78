import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formProblem } from '#provider'
import { keyOf } from './key.ts'

it('a key of either form is taken apart into what was put into it', () => {
  const parts = fc.record({
    tenant: fc.oneof(fc.uuid(), fc.domain()),
    clientId: fc.uuid(),
    clientSecret: fc.stringMatching(/^[\x21-\x7e]{1,40}$/),
  })
  fc.assert(
    fc.property(parts, ({ tenant, clientId, clientSecret }) => {
      const expected = { kind: 'client', client: { tenant, clientId, clientSecret } }
      expect(keyOf(`${tenant}:${clientId}:${clientSecret}`)).toEqual(expected)
      const json = { tenant_id: tenant, client_id: clientId, client_secret: clientSecret }
      expect(keyOf(JSON.stringify(json))).toEqual(expected)
    }),
  )
})

it.each([
  ['0123456789abcdef0123456789abcdef', 'api-key'],
  ['eyJ0eXAi.eyJhdWQi.c2ln', 'token'],
  ['machine:11111111-2222-4333-8444-555555555555', 'machine'],
  ['federated:contoso.example:11111111-2222-4333-8444-555555555555:/var/run/token', 'client'],
  ['certificate:contoso.example:11111111-2222-4333-8444-555555555555:C:/certificate.pem', 'client'],
])('%s is a key of the kind %s', (secret, kind) => {
  expect(keyOf(secret).kind).toBe(kind)
})

it('what is wrong with a key is told without telling the key', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 8 }), (secret) => {
      expect(formProblem(() => keyOf(secret)) ?? '').not.toContain(secret)
    }),
  )
})
