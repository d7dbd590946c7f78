import { describe, expect, test } from 'vitest'
import { type OpenEngine, withEngine } from './harness.ts'
import { callOf, callOptions } from './log-model.ts'

/** Fields and numbers that a log has not had before. */
export function logIndexes(open: OpenEngine): void {
  describe('a log', () => {
    test('indexes older rows when a field is new', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const log = engine.log('calls', { ...callOptions, fields: { model: callOptions.fields.model } })
        for (let n = 0; n < 100; n++) log.append(callOf(n))
        await expect(log.list({ where: { status: 500 } })).rejects.toMatchObject({ code: 'INDEX_UNKNOWN' })
        const widened = engine.log('calls', callOptions)
        for (let n = 100; n < 150; n++) log.append(callOf(n))
        expect((await widened.list({ where: { status: 500, model: 'gpt' } })).total).toBe(10)
        const { status, model } = callOptions.fields
        const swapped = (await reopen()).log('calls', {
          ...callOptions,
          fields: { status, model, at: ({ at }) => at },
        })
        expect((await swapped.list({ where: { status: 500, at: [5, 7, 145] } })).total).toBe(2)
      }))

    test('finds a number that is new for older rows, prepared or not, while rows are appended', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const { numbers, ...before } = callOptions
        const log = engine.log('calls', before)
        for (let n = 0; n < 100; n++) log.append(callOf(n))
        await expect(log.list({ atLeast: { at: 7 } })).rejects.toMatchObject({ code: 'INDEX_UNKNOWN' })
        const { at, code } = numbers
        const widened = engine.log('calls', { ...before, numbers: { at } })
        const prepared = widened.prepare()
        for (let n = 100; n < 150; n++) widened.append(callOf(n))
        expect((await widened.list({ atLeast: { at: 97 } })).total).toBe(53)
        await prepared
        const swapped = (await reopen()).log('calls', { ...before, numbers: { code } })
        expect((await swapped.list({ atLeast: { code: 500 }, where: { model: 'gpt' } })).total).toBe(10)
        await expect(swapped.list({ atLeast: { at: 7 } })).rejects.toMatchObject({ code: 'INDEX_UNKNOWN' })
      }))
  })
}
