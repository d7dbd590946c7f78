import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { takenIn } from './taken.ts'
import { alphabet, Vault } from './vault.ts'

const code = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 6, maxLength: 6 })
const text = fc.string({ unit: fc.constantFrom(...'27BXz a"ß'), maxLength: 200 })

test('a code is taken where it stands in the call, in any letter case, whether few or many are asked about', () => {
  fc.assert(
    fc.property(text, code, code, fc.constantFrom(0, 60), (said, inside, other, before) => {
      const request = {
        model: 'm',
        messages: [{ role: 'user' as const, content: `${said}${inside.toLowerCase()}${said}` }],
      }
      const isTaken = takenIn({ request })
      for (let n = 0; n < before; n += 1) isTaken('222222')
      expect(isTaken(inside)).toBe(true)
      expect(isTaken(other)).toBe(JSON.stringify(request).toUpperCase().includes(other))
    }),
    runs(300),
  )
})

test('each of many values takes about the time of each of a few', () => {
  const took = (values: number): number => {
    const mails = Array.from({ length: values }, (_, n) => `user${n}@example.com`)
    const request = { model: 'm', messages: [{ role: 'user' as const, content: mails.join(' ') }] }
    const began = performance.now()
    const vault = new Vault('key', takenIn({ request }))
    for (const mail of mails) vault.placeholderFor('email', mail)
    return performance.now() - began
  }
  took(1000)
  expect(took(20_000)).toBeLessThan(60 * took(1000) + 1000)
})
