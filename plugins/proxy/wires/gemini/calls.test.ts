import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../test/suite/runs.ts'
import { CallIds } from './calls.ts'
import { messagesOf } from './contents.ts'

const id = fc.constantFrom(undefined, '', 'a', 'b')
const name = fc.constantFrom('f', 'g')
const steps = fc.array(fc.record({ isCall: fc.boolean(), id, name }), { maxLength: 30 })

test('a result is of the first call without one that has its id, or its name where one of them has no id', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const ids = new CallIds()
      const open: { id: string; name: string; isMade: boolean }[] = []
      for (const [i, step] of all.entries()) {
        if (step.isCall) {
          const given = ids.called(step.id, step.name, `${i}`)
          open.push({ id: given, name: step.name, isMade: !step.id })
          continue
        }
        const at = open.findIndex((call) =>
          step.id && !call.isMade
            ? call.id === step.id
            : call.name === step.name && (call.isMade || !step.id),
        )
        const found = ids.answered(step.id, step.name, `${i}`)
        if (at >= 0) expect(found).toBe(open.splice(at, 1)[0]!.id)
        else if (step.id) expect(found).toBe(step.id)
        else expect(open.map((call) => call.id)).not.toContain(found)
      }
    }),
    runs(500),
  )
})

const many = 80_000

test('results of very many calls are found in any order, without a look at all calls for each', {
  timeout: 4000,
}, () => {
  const ids = new CallIds()
  for (let i = 0; i < many; i += 1) ids.called(`c${i}`, `f${i}`, `${i}`)
  let found = 0
  for (let i = many - 1; i >= 0; i -= 1) if (ids.answered(undefined, `f${i}`, `r${i}`) === `c${i}`) found += 1
  expect(found).toBe(many)
})

test('very many events of a model become one message, without a copy of all parts for each', {
  timeout: 4000,
}, () => {
  const contents = Array.from({ length: many }, () => ({ role: 'model' as const, parts: [{ text: 'a' }] }))
  const messages = messagesOf(contents, undefined, () => {})
  expect(messages).toHaveLength(1)
  expect(messages[0]!.content).toHaveLength(many)
})
