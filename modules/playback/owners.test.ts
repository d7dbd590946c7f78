import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { Cassette } from './cassette.ts'
import { Owners } from './owners.ts'

const file = 'gpt-1.json'

let folder: string
let store: Engine
let owners: Owners
let cassette: Cassette

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-owners-'))
  store = await openLevel(path.join(folder, 'db'))
  owners = new Owners(store, folder)
  cassette = new Cassette(path.join(folder, 'mine'))
})

afterEach(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

const keep = (content: string, user = 'usr_1') =>
  owners.keeping(user, 'mine', file, () =>
    cassette.keep(file, {
      operation: 'chat',
      circle: 'c',
      request: { model: 'gpt', messages: [] },
      answer: { choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] },
      steps: [],
    }),
  )

const isThere = () =>
  access(path.join(folder, 'mine', file)).then(
    () => true,
    () => false,
  )

test.each(['usr_1', 'usr_2'])(
  'a file that stays because %s had a new answer that was not kept stays its owner’s',
  async (other) => {
    expect(await keep('Small.')).toBeUndefined()
    expect(await keep('x'.repeat(5_000_000), other)).toBe('too_large')
    expect([await owners.countOf('usr_1'), await isThere()]).toEqual([1, true])
    expect(await owners.eraseOf('usr_1')).toBe(1)
    expect(await isThere()).toBe(false)
  },
)

test('what was never kept is of nobody', async () => {
  expect(await keep('x'.repeat(5_000_000))).toBe('too_large')
  expect(await owners.countOf('usr_1')).toBe(0)
})
