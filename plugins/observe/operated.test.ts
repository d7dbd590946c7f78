import { expect, test } from 'vitest'
import { operatedModules } from './operated.ts'

const summary = (row: Parameters<typeof operatedModules>[0]) =>
  operatedModules(row).map(({ module, hook, verdict, ms }) => [module, hook, verdict, ms])

test('hooks come in the order they ran, with their verdict and time', () => {
  const row = {
    timings: [
      ['a', 'request', 1000],
      ['b', 'request', 20],
      ['a', 'reply', 500],
    ],
    notes: [['a', 'clamped', { to: 5 }]],
  } as const
  expect(summary(row)).toEqual([
    ['a', 'request', 'clamped', 1],
    ['b', 'request', 'passed', 0.02],
    ['a', 'reply', 'passed', 0.5],
  ])
})

test('what a module changed stands at its first hook for the request, and at its last one for the answer', () => {
  const at = (path: string) => ({ path, before: { type: 'absent' }, after: { type: 'null' } }) as const
  const row = {
    timings: [
      ['a', 'request', 1000],
      ['b', 'request', 20],
      ['a', 'reply', 500],
    ],
    notes: [],
    changes: [
      ['a', 'request', [at('max_tokens'), at('messages[0]')], 30],
      ['a', 'request', [at('max_tokens')], -7],
      ['a', 'reply', [at('choices[0].message.content')]],
      ['gone', 'request', [at('stop')], 1],
    ],
  } as const
  expect(
    operatedModules(row).map(({ module, changed, bytes_delta }) => [module, changed, bytes_delta]),
  ).toEqual([
    ['a', ['max_tokens', 'messages[0]'], 23],
    ['b', [], null],
    ['a', ['choices[0].message.content'], null],
  ])
})

test('a note about the reply belongs to the hook that saw it', () => {
  const row = {
    timings: [
      ['a', 'request', 1000],
      ['a', 'stream', 500],
    ],
    notes: [['a', 'redacted', { direction: 'reply' }]],
  } as const
  expect(summary(row)).toEqual([
    ['a', 'request', 'passed', 1],
    ['a', 'stream', 'redacted', 0.5],
  ])
})

test('time counts once when one hook left several notes', () => {
  const row = {
    timings: [['a', 'request', 1000]],
    notes: [
      ['a', 'redacted', undefined],
      ['a', 'flagged', undefined],
    ],
  } as const
  expect(summary(row)).toEqual([
    ['a', 'request', 'redacted', 1],
    ['a', 'request', 'flagged', 0],
  ])
})

test('a note of a module without a timed hook is not lost', () => {
  expect(summary({ timings: [], notes: [['c', 'retried', { n: 2 }]] })).toEqual([['c', null, 'retried', 0]])
})
