import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { fillUp, hasFullDevice } from '../conformance/full-device.ts'
import { StoreError } from '../errors.ts'
import type { StoreHealth } from '../index.ts'
import { type Backed, withBacking } from './backing-parts.ts'
import type { Compactable } from './group-commit.ts'
import { Recovery } from './recovery.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const failure = new StoreError('STORE_FAILED', 'Cannot write', new Error('IO error: No space left on device'))
const refused = {
  state: 'read-only',
  reason: 'No space left on device',
  since: expect.closeTo(Date.now(), -5),
}

/** A recovery whose pauses end when the test says so. */
function recoveryOf({ folder, database, backing }: Backed) {
  const told: StoreHealth[] = []
  const pauses: number[] = []
  let waiting: (() => void) | undefined
  const pause = (ms: number, signal: AbortSignal): Promise<void> => {
    pauses.push(ms)
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting = resolve
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve())
    return promise
  }
  const { writer, gate } = backing
  const recovery = new Recovery({
    folder,
    database,
    writer,
    gate,
    changed: (health) => told.push(health),
    pause,
  })
  /** Ends the pause, and waits until so much was told. */
  const goOn = async (count: number): Promise<void> => {
    waiting!()
    await expect.poll(() => told.length).toBe(count)
  }
  return { recovery, told, pauses, goOn }
}

test('a store that refused a write is opened again after a pause, and healthy', () =>
  withBacking(async (backed) => {
    const { recovery, told, pauses, goOn } = recoveryOf(backed)
    const states: string[] = []
    for (const event of ['closed', 'open'] as const)
      backed.database.on(event, () => states.push(backed.database.status))
    recovery.begin(failure)
    expect([told, pauses, states]).toEqual([[refused], [500], []])
    await goOn(2)
    expect(told[1]).toEqual({ state: 'healthy' })
    expect(states).toEqual(['closed', 'open'])
    expect(await backed.backing.gate.run(() => 7)).toBe(7)
    await recovery.end()
    expect(pauses).toHaveLength(1)
  }))

test('operations that run are waited for, and others wait until the store is open again', () =>
  withBacking(async (backed) => {
    const { recovery, goOn, told } = recoveryOf(backed)
    const { gate } = backed.backing
    const inside = Promise.withResolvers<void>()
    const running = gate.run(async () => {
      await inside.promise
      return backed.database.status
    })
    recovery.begin(failure)
    const done = goOn(2)
    await expect.poll(() => readdir(backed.folder)).not.toContain('probe')
    const later = gate.run(() => told.length)
    inside.resolve()
    expect(await running).toBe('open')
    expect(await later).toBeLessThanOrEqual(2)
    await done
  }))

test('while the disk takes nothing the store stays as it is, and is tried again ever more seldom', () =>
  withBacking(async (backed) => {
    const { recovery, told, pauses, goOn } = recoveryOf(backed)
    const probe = join(backed.folder, 'probe')
    await mkdir(probe)
    recovery.begin(failure)
    for (let tries = 1; tries <= 6; tries++) await goOn(tries + 1)
    expect(told[1]).toEqual({ ...refused, reason: expect.stringMatching(/directory/) })
    expect(await backed.backing.gate.run(() => backed.database.status)).toBe('open')
    recovery.begin(failure)
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000])
    await rm(probe, { recursive: true })
    await goOn(8)
    expect(told.at(-1)).toEqual({ state: 'healthy' })
  }))

test('a failure within a minute of another waits as long as that did, and one later begins anew', () =>
  withBacking(async (backed) => {
    const clock = vi.spyOn(performance, 'now')
    const { recovery, pauses, goOn } = recoveryOf(backed)
    let told = 0
    for (const ms of [1000, 1000, 61_000, 121_001]) {
      clock.mockReturnValue(ms)
      recovery.begin(failure)
      told += 2
      await goOn(told)
    }
    expect(pauses).toEqual([500, 1000, 2000, 500])
  }))

test('nothing is tried before the first pause is over, which an end cuts short', () =>
  withBacking(async ({ folder, backing }) => {
    const changed = vi.fn()
    const recovery = new Recovery({ folder, ...backing, changed })
    recovery.begin(failure)
    // Long enough for a try, which begins with reading the folder.
    for (let n = 0; n < 20; n++) await readdir(folder)
    await recovery.end()
    expect(changed).toHaveBeenCalledExactlyOnceWith(refused)
  }))

test('a store that cannot be opened again is down, refuses operations, and is tried again', () =>
  withBacking(async (backed) => {
    const { recovery, told, goOn } = recoveryOf(backed)
    const { gate } = backed.backing
    const current = join(backed.folder, 'CURRENT')
    await copyFile(current, `${current}-kept`)
    await writeFile(current, 'garbage')
    recovery.begin(failure)
    await goOn(2)
    expect(told[1]).toMatchObject({ state: 'down', since: expect.any(Number) })
    await expect(gate.run(() => 7)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('cannot be reopened'),
    })
    await copyFile(`${current}-kept`, current)
    await goOn(3)
    expect(told[2]).toEqual({ state: 'healthy' })
    expect(await gate.run(() => backed.database.status)).toBe('open')
  }))

test('a recovery that is ended waits no more, and tries nothing when all was written', () =>
  withBacking(async (backed) => {
    const { recovery, told } = recoveryOf(backed)
    const closed = vi.spyOn(backed.database, 'close')
    recovery.begin(failure)
    await recovery.end()
    expect(told).toEqual([refused])
    expect(closed).not.toHaveBeenCalled()
  }))

test.skipIf(!hasFullDevice)('a recovery that is ended opens a store once more that refuses writes', () =>
  withBacking(async (backed) => {
    const { recovery, told } = recoveryOf(backed)
    const { database, folder, backing, write } = backed
    await fillUp(folder, () => (database as typeof database & Compactable).compactRange('\0', '\uffff'))
    await expect(write([['key', 'x']])).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(backing.writer.failure).toBeDefined()
    recovery.begin(backing.writer.failure!)
    await recovery.end()
    expect(backing.writer.failure).toBeUndefined()
    await write([['key', 'y']])
    expect(await database.get('key')).toBe('y')
    expect(told.map(({ state }) => state)).toEqual(['read-only'])
  }),
)

test.skipIf(!hasFullDevice)('an end where the disk takes nothing ends all the same', () =>
  withBacking(async (backed) => {
    const { recovery } = recoveryOf(backed)
    const { database, folder, write } = backed
    await fillUp(folder, () => (database as typeof database & Compactable).compactRange('\0', '\uffff'))
    await expect(write([['key', 'x']])).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await mkdir(join(folder, 'probe'))
    await recovery.end()
    expect(database.status).toBe('open')
  }),
)
