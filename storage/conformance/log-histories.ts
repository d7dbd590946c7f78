import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LogQuery } from '../index.ts'
import { type OpenEngine, withEngine } from './harness.ts'
import { type Call, callOptions, LogModel, models } from './log-model.ts'

const aModel = fc.constantFrom(...models)
const aStatus = fc.constantFrom(200, 429, -1, 0.5)
const aTag = fc.constantFrom('a', 'b', 'c', 'a b')
const aTime = fc.integer({ min: 0, max: 19 })
const aCall = fc.record(
  {
    id: fc.oneof(fc.constantFrom('x', 'y'), fc.string({ minLength: 1, maxLength: 6, unit: 'grapheme' })),
    at: aTime,
    model: aModel,
    status: aStatus,
    cached: fc.boolean(),
    tags: fc.array(aTag, { maxLength: 3 }),
  },
  { requiredKeys: ['id', 'at', 'model', 'status', 'tags'] },
)
const aBody = fc.option(
  fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('', '\n', '1,2\n3', 'x'.repeat(70_000))),
  { nil: undefined },
)
const anyOf = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof(value, fc.array(value, { maxLength: 2 }), fc.constant(undefined))
const aQuery: fc.Arbitrary<LogQuery> = fc.record(
  {
    where: fc.record(
      { model: anyOf(aModel), status: anyOf(aStatus), cached: anyOf(fc.boolean()), tag: anyOf(aTag) },
      { requiredKeys: [] },
    ),
    atLeast: fc.record(
      { at: fc.option(aTime, { nil: undefined }), code: fc.constantFrom(-1, 0, 0.25, 200, 201, 1000) },
      { requiredKeys: [] },
    ),
    from: aTime,
    to: aTime,
    limit: fc.integer({ min: 0, max: 5 }),
    offset: fc.integer({ min: 0, max: 30 }),
    reverse: fc.boolean(),
    filter: fc.constantFrom((call: Call) => call.at % 2 === 0),
  },
  { requiredKeys: [] },
)
const someCalls = fc.array(fc.tuple(aCall, aBody), { minLength: 1, maxLength: 30 })
const anOperation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('append' as const), calls: someCalls }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('query' as const), query: aQuery }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('prune' as const), before: aTime }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pruneBodies' as const), before: aTime }) },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        kind: fc.constant('erase' as const),
        model: aModel,
        options: fc.record({ from: aTime, to: aTime, bodiesOnly: fc.boolean() }, { requiredKeys: [] }),
      },
      { requiredKeys: ['kind', 'model'] },
    ),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('flush' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
)

/** All operations of a log, in any order. */
export function logHistories(open: OpenEngine): void {
  describe('a log', () => {
    test('equals a simple model after every step of any history', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anOperation, { maxLength: 12 }), (operations) =>
          withEngine(open, async ({ engine, reopen }) => {
            let log = engine.log('calls', callOptions)
            const model = new LogModel()
            for (const operation of operations) {
              if (operation.kind === 'append') {
                for (const [call, body] of operation.calls) {
                  log.append(call, () => body)
                  model.append(call, body)
                }
              } else if (operation.kind === 'query') {
                await model.checkQuery(log, operation.query)
              } else if (operation.kind === 'prune') {
                const old = model.remove(({ at }) => at < operation.before)
                expect(await log.prune(operation.before)).toBe(old)
              } else if (operation.kind === 'pruneBodies') {
                const old = model.removeBodies(operation.before)
                expect(await log.pruneBodies(operation.before)).toBe(old)
              } else if (operation.kind === 'erase') {
                const { options = {} } = operation
                const matches = (call: Call) => call.model === operation.model
                const { from = -Infinity, to = Infinity, bodiesOnly } = options
                const gone = (call: Call) => call.at >= from && call.at < to && matches(call)
                const expected = bodiesOnly ? model.removeBodiesOf(gone) : model.remove(gone)
                expect(await log.erase(matches, options)).toBe(expected)
              } else if (operation.kind === 'flush') {
                await log.flush()
              } else {
                log = (await reopen()).log('calls', callOptions)
              }
              if (operation.kind !== 'append') await model.check(log)
            }
            await model.check(log)
          }),
        ),
        { numRuns: 60 },
      )
    }, 180_000)
  })
}
