import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BudgetExceeded, CallBudget } from './call-budget.ts'

const never = new AbortController().signal

test('calls of one price go above a budget by less than one of them, in whatever order they end', async () => {
  const calls = fc.record({
    price: fc.integer({ min: 1, max: 50 }),
    most: fc.integer({ min: 1, max: 500 }),
    count: fc.integer({ min: 1, max: 40 }),
    order: fc.array(fc.nat(), { minLength: 40, maxLength: 40 }),
  })
  await fc.assert(
    fc.asyncProperty(calls, async ({ price, most, count, order }) => {
      const budget = new CallBudget(most, 0)
      let spent = 0
      let refused = 0
      const underWay: (() => void)[] = []
      const all = Array.from({ length: count }, async () => {
        try {
          const settle = await budget.claim(never)
          await new Promise<void>((resolve) => underWay.push(resolve))
          spent += price
          settle(price)
        } catch (error) {
          expect(error).toBeInstanceOf(BudgetExceeded)
          refused += 1
        }
      })
      const over = Promise.all(all)
      for (let n = 0; ; n += 1) {
        for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
        if (underWay.length === 0) break
        underWay.splice(order[n % order.length]! % underWay.length, 1)[0]!()
      }
      await over
      expect(spent).toBeLessThan(most + price)
      expect(refused === 0 || spent >= most).toBe(true)
    }),
  )
})

test('a dear kind of call waits for what the first of it costs, however cheap the others are', async () => {
  const budget = new CallBudget(100, 0)
  const cheap = await budget.claim(never, 'cheap')
  cheap(1)
  const others = [await budget.claim(never, 'cheap'), await budget.claim(never, 'cheap')]
  let begun = 0
  const dear = Array.from({ length: 3 }, async () => {
    const settle = await budget.claim(never, 'dear')
    begun += 1
    return settle
  })
  for (const settle of others) settle(1)
  ;(await Promise.race(dear))(60)
  await Promise.race(dear.slice(1))
  expect(begun).toBe(2)
  ;(await dear[1]!)(60)
  await expect(dear[2]).rejects.toBeInstanceOf(BudgetExceeded)
})

test('calls that cost nothing go side by side once one was answered, and not while all fail', async () => {
  const budget = new CallBudget(100, 0)
  const failed = await budget.claim(never)
  failed(0)
  const first = await budget.claim(never)
  let second = false
  const waiting = budget.claim(never).then((settle) => {
    second = true
    return settle
  })
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
  expect(second).toBe(false)
  first(0, true)
  const settle = await waiting
  ;(await budget.claim(never))(0, true)
  settle(0, true)
})
