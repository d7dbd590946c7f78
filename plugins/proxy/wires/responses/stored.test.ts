import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createLog } from '../../../../gateway/log.ts'
import { AesSecrets } from '../../../../gateway/secrets/aes-secrets.ts'
import type { Engine } from '../../../../storage/index.ts'
import { openLevel } from '../../../../storage/level.ts'
import { withEnds } from '../../../../storage/shared/ends-parts.ts'
import type { Kept, StoredParts } from './stored.ts'
import { StoredResponses } from './stored.ts'

let folder: string
let engine: Engine

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-test-'))
  engine = await openLevel(folder)
})

afterAll(async () => {
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

const secrets = new AesSecrets(new Uint8Array(32))
const log = createLog({ level: 'silent', stream: { write: () => {} } })

const stored = (
  name: string,
  limits: { days?: number; perUser?: number } = {},
  more: Partial<StoredParts> = {},
) =>
  new StoredResponses({
    store: engine.namespace(name),
    log,
    limits: { days: 30, perUser: 1000, ...limits },
    seal: (_, text) => secrets.encrypt(text),
    open: async (text) => (text.startsWith('enc:') ? secrets.decrypt(text) : undefined),
    inEachThread: (run) => run,
    ...more,
  })

/** The same responses as two threads have them. */
function inTwoThreads(name: string): readonly [StoredResponses, StoredResponses] {
  const runs: (() => Promise<void>)[] = []
  const inEachThread: StoredParts['inEachThread'] = (run) => {
    runs.push(run)
    return async () => void (await Promise.all(runs.map((each) => each())))
  }
  return [stored(name, {}, { inEachThread }), stored(name, {}, { inEachThread })]
}

const kept = (id: string, previous: string | null = null): Kept => ({
  response: { id, object: 'response', status: 'completed', output: [], previous_response_id: previous },
  input: [{ type: 'message', id: `msg_${id}`, role: 'user', content: `what is said of ${id}` }],
})

const patient = { timeout: 10_000 }
const missing = { code: 'not_found', param: 'response_id' }

describe('stored responses', () => {
  test('can be read at once, and by others that open the same store later', async () => {
    const one = stored('kept')
    one.put('ada', kept('r1'))
    expect(await one.get('ada', 'r1')).toEqual(kept('r1'))
    await vi.waitFor(async () => expect(await stored('kept').get('ada', 'r1')).toEqual(kept('r1')), patient)
  })

  test('are nobody else’s, while they are written and later', async () => {
    const one = stored('owned')
    one.put('ada', kept('r1'))
    await expect(one.get('bob', 'r1')).rejects.toMatchObject(missing)
    await expect(one.delete('bob', 'r1')).rejects.toMatchObject(missing)
    await vi.waitFor(() => stored('owned').get('ada', 'r1'), patient)
    await expect(one.get('bob', 'r1')).rejects.toMatchObject(missing)
    expect(await one.get('ada', 'r1')).toEqual(kept('r1'))
  })

  test('lie on disk encrypted', async () => {
    stored('sealed').put('ada', kept('r1'))
    await vi.waitFor(() => stored('sealed').get('ada', 'r1'), patient)
    const files = await readdir(folder)
    const bytes = await Promise.all(files.map((file) => readFile(path.join(folder, file)).catch(() => '')))
    expect(bytes.some((file) => file.includes('enc:'))).toBe(true)
    expect(bytes.some((file) => file.includes('what is said of'))).toBe(false)
  })

  test('make a conversation, oldest first, for as long as all of it is there', async () => {
    const one = stored('turns')
    one.put('ada', kept('r1'))
    one.put('ada', kept('r2', 'r1'))
    one.put('ada', kept('r3', 'r2'))
    const turns = await one.conversation('ada', 'r3', 'previous_response_id')
    expect(turns.map(({ response }) => response.id)).toEqual(['r1', 'r2', 'r3'])
    await one.delete('ada', 'r1')
    await expect(one.conversation('ada', 'r3', 'previous_response_id')).rejects.toMatchObject({
      ...missing,
      param: 'previous_response_id',
    })
  })

  test('that were deleted while they were written are gone', async () => {
    const one = stored('hasty')
    one.put('ada', kept('r1'))
    await one.delete('ada', 'r1')
    await expect(one.get('ada', 'r1')).rejects.toMatchObject(missing)
  })

  test('are so many for each user at the most, and the oldest go', async () => {
    const one = stored('bounded', { perUser: 2 })
    for (const id of ['r1', 'r2', 'r3', 'r4']) one.put('ada', kept(id))
    one.put('bob', kept('r0'))
    await one.delete('bob', 'r0')
    await one.sweep()
    for (const id of ['r1', 'r2']) await expect(one.get('ada', id)).rejects.toMatchObject(missing)
    for (const id of ['r3', 'r4']) await one.get('ada', id)
  })

  test('are no more than that where other threads write them, or the limit was another one before', () =>
    withEnds(async (a, b) => {
      const writer = stored('bounded', {}, { store: a.namespace('bounded') })
      const sweeper = stored('bounded', { perUser: 2 }, { store: b.namespace('bounded') })
      const owners = ['ada', 'ada.b', 'adab', 'bob']
      for (const owner of owners) {
        for (const n of [1, 2, 3]) writer.put(owner, kept(`${owner}-${n}`))
      }
      await writer.written()
      await sweeper.sweep()
      for (const owner of owners) {
        await expect(sweeper.get(owner, `${owner}-1`)).rejects.toMatchObject(missing)
        expect(await sweeper.count(owner)).toBe(2)
      }
      writer.put('bob', kept('bob-4'))
      await writer.written()
      await sweeper.sweep()
      await expect(sweeper.get('bob', 'bob-2')).rejects.toMatchObject(missing)
      expect(await sweeper.count('bob')).toBe(2)
      await sweeper.close()
    }))

  test('go when they are too old', async () => {
    const one = stored('old', { days: 1 })
    one.put('ada', kept('r1'))
    await vi.waitFor(() => stored('old').get('ada', 'r1'), patient)
    await one.sweep(Date.now() + 86_000_000)
    await one.get('ada', 'r1')
    await one.sweep(Date.now() + 87_000_000)
    await expect(one.get('ada', 'r1')).rejects.toMatchObject(missing)
  })

  test('go with their user', async () => {
    const one = stored('left')
    one.put('ada', kept('r1'))
    one.put('bob', kept('r2'))
    await one.forget('ada')
    await expect(one.get('ada', 'r1')).rejects.toMatchObject(missing)
    await one.get('bob', 'r2')
  })

  test('go with their user, also those that another thread is writing', async () => {
    const [one, other] = inTwoThreads('elsewhere')
    other.put('ada', kept('r1'))
    expect(await one.count('ada')).toBe(1)
    other.put('ada', kept('r2'))
    expect(await one.forget('ada')).toBe(2)
    for (const id of ['r1', 'r2']) await expect(other.get('ada', id)).rejects.toMatchObject(missing)
  })

  test('are not kept where days are 0', () => {
    expect(stored('none', { days: 0 }).enabled).toBe(false)
  })
})
