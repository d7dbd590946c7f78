import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Claim } from './claims.ts'
import { Gate, nobodyHeld, type Stay } from './gate.ts'
import { type Bound, emptyState } from './limits.ts'

const claimOf = (limit: Bound): Claim => ({ limit, scope: 'key', subject: 'k', bucket: 'key:k' })
const aThread = fc.integer({ min: 1, max: 4 })
const aStep = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('enter' as const), thread: aThread }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('leave' as const), at: fc.nat({ max: 20 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('lose' as const), thread: fc.integer({ min: 2, max: 4 }) }),
  },
)

test('calls at a time are those that are in, whichever threads they came from and are lost with', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(aStep, { maxLength: 60 }), (most, steps) => {
      const gate = new Gate(emptyState(), nobodyHeld())
      const claims = [claimOf({ measure: 'concurrency', most })]
      let inside: { thread: number; stay: Stay }[] = []
      for (const step of steps) {
        if (step.kind === 'enter') {
          const { stay, refusal } = gate.enter({ claims, tokens: 0 }, step.thread)
          expect(refusal === undefined).toBe(inside.length < most)
          if (stay) inside.push({ thread: step.thread, stay: structuredClone(stay) })
        } else if (step.kind === 'leave') {
          const [left] = inside.splice(step.at, 1)
          if (left) gate.leave(left.stay, 0)
        } else {
          gate.lose(step.thread)
          inside = inside.filter(({ thread }) => thread !== step.thread)
        }
      }
      const { refusal } = gate.enter({ claims, tokens: 0 }, 1)
      expect(refusal === undefined).toBe(inside.length < most)
    }),
  )
})

test('what is left twice, or after its thread was lost, is given back once', () => {
  const gate = new Gate(emptyState(), nobodyHeld())
  const claims = [claimOf({ measure: 'concurrency', most: 2 })]
  const enter = () => gate.enter({ claims, tokens: 0 }, 2)
  const { stay } = enter()
  gate.lose(2)
  gate.leave(stay!, 0)
  gate.leave(stay!, 0)
  expect([enter(), enter(), enter()].map(({ refusal }) => refusal === undefined)).toEqual([true, true, false])
})

test('tokens that a lost call had reserved count as used', () => {
  const gate = new Gate(emptyState(), nobodyHeld())
  const claims = [claimOf({ measure: 'tokens', most: 100 })]
  gate.enter({ claims, tokens: 60 }, 3)
  gate.lose(3)
  expect(gate.enter({ claims, tokens: 60 }, 1).refusal).toBeDefined()
  expect(gate.enter({ claims, tokens: 40 }, 1).refusal).toBeUndefined()
})

test('a call that was lost with its thread is settled once, whoever tells of it again', () => {
  const gate = new Gate(emptyState(), nobodyHeld())
  const claims = [claimOf({ measure: 'tokens', most: 100 }), claimOf({ measure: 'concurrency', most: 2 })]
  gate.enter({ claims, tokens: 10 }, 1)
  const { stay } = gate.enter({ claims, tokens: 20 }, 3)
  gate.lose(3)
  gate.lose(3)
  gate.leave(stay!, 90)
  gate.lose(3)
  const [first, second] = [gate.enter({ claims, tokens: 1 }, 1), gate.enter({ claims, tokens: 1 }, 1)]
  expect([first.refusal, second.refusal?.claim.limit.measure]).toEqual([undefined, 'concurrency'])
  const tokens = [claimOf({ measure: 'tokens', most: 100 })]
  expect(gate.enter({ claims: tokens, tokens: 70 }, 1).refusal).toBeDefined()
  expect(gate.enter({ claims: tokens, tokens: 69 }, 1).refusal).toBeUndefined()
})

test('a call that is told of twice as over gives its tokens back once', () => {
  const gate = new Gate(emptyState(), nobodyHeld())
  const claims = [claimOf({ measure: 'tokens', most: 100 })]
  const { stay } = gate.enter({ claims, tokens: 60 }, 2)
  gate.leave(stay!, 10)
  gate.leave(stay!, 10)
  expect(gate.enter({ claims, tokens: 91 }, 1).refusal).toBeDefined()
  expect(gate.enter({ claims, tokens: 90 }, 1).refusal).toBeUndefined()
})
