import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { checkedHooks, hookNames } from './checked-hooks.ts'

const run = (): undefined => undefined
const detection = { reach: 5, scan: () => [] }

test.each<[object]>([
  [{}],
  [
    {
      admit: run,
      request: run,
      around: run,
      wraps: run,
      varies: run,
      attempt: run,
      attempted: run,
      settled: run,
    },
  ],
  [{ pure: true, request: run }],
  [{ stream: 'buffer', reply: run }],
  [{ stream: run, reply: run }],
  [{ stream: run }],
  [{ stream: 'buffer' }],
  [{ detect: {} }],
  [{ show: {} }],
  [{ show: { body: run, stream: run } }],
  [{ show: { stream: run, error: run, headers: run, body: undefined } }],
  [{ detect: { request: detection, reply: detection }, reveal: detection }],
  [{ request: undefined, detect: undefined, reveal: undefined, stream: undefined, reply: undefined }],
])('hooks %# are taken as they are', (hooks) => {
  expect(checkedHooks(hooks)).toBe(hooks)
})

test('the page for authors lists every hook once, and no other', async () => {
  const page = await readFile('docs/modules.md', 'utf8')
  const [, table = ''] = /^## Hooks$(.*?)^## /ms.exec(page) ?? []
  const listed = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)
  expect(listed.sort()).toEqual([...hookNames].sort())
})

test('no hooks at all are none', () => {
  expect([checkedHooks(undefined), checkedHooks(null)]).toEqual([{}, {}])
})

test.each<[unknown, string]>([
  [7, 'setup must return hooks, and returned a number'],
  ['hooks', 'setup must return hooks, and returned a string'],
  [[run], 'setup must return hooks, and returned an array'],
  [run, 'setup must return hooks, and returned a function'],
  ...[
    'admit',
    'request',
    'around',
    'wraps',
    'varies',
    'leadsTo',
    'attempt',
    'attempted',
    'reply',
    'settled',
  ].map((hook): [unknown, string] => [
    { stream: 'buffer', [hook]: {} },
    `the hook ${hook} must be a function, and is an object`,
  ]),
  [{ request: null }, 'the hook request must be a function, and is null'],
  [{ settle: run }, 'unknown hook settle; the nearest is settled'],
  [{ streams: run }, 'the nearest is stream'],
  [{ detects: {} }, 'the nearest is detect'],
  [{ reveals: {} }, 'the nearest is reveal'],
  [{ pures: true }, 'the nearest is pure'],
  [{ shows: {} }, 'the nearest is show'],
  [{ show: run }, 'the hook show must be an object'],
  [{ show: { bodies: run } }, 'show has no bodies'],
  [{ show: { streams: run } }, 'show has no streams; the nearest is stream'],
  [{ show: { errors: run } }, 'show has no errors; the nearest is error'],
  [{ show: { header: run } }, 'show has no header; the nearest is headers'],
  [{ show: { error: 7 } }, 'show.error must be a function, and is a number'],
  [{ show: { headers: null } }, 'show.headers must be a function, and is null'],
  [{ show: { body: run } }, 'say what happens to streams: add show.stream'],
  [{ stream: 'hold' }, "the hook stream must be a function or 'buffer', and is a string"],
  [{ stream: [] }, "the hook stream must be a function or 'buffer', and is an array"],
  [{ reply: run }, "must handle streams: add stream as a function or as 'buffer'"],
  [{ detect: run }, 'the hook detect must be an object'],
  [{ detect: null }, 'the hook detect must be an object'],
  [{ detect: { request: run } }, 'a detection must have scan, a function, and reach, a number'],
  [{ detect: { reply: { reach: 5 } } }, 'a detection must have scan'],
  [{ detect: { reply: { scan: run } } }, 'a detection must have scan'],
  [{ reveal: { scan: 'all', reach: 5 } }, 'a detection must have scan'],
  [{ reveal: { scan: run, reach: '5' } }, 'a detection must have scan'],
])('of hooks %# is told what is wrong', (hooks, told) => {
  expect(() => checkedHooks(hooks)).toThrow(told)
})
