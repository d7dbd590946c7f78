import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Level } from 'level'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withBacking } from './backing-parts.ts'
import { copyDatabase } from './copy.ts'

let home: string

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'copies-'))
})

afterEach(async () => {
  vi.restoreAllMocks()
  await rm(home, { recursive: true })
})

/** What lies in a database that nothing has open. */
async function contentOf(folder: string): Promise<[string, string][]> {
  const database = new Level<string, string>(folder)
  const all = await database.iterator().all()
  await database.close()
  return all
}

test('a copy has all keys but the mark of an unclean end, in batches that are on disk', () =>
  withBacking(async ({ backing, write }) => {
    const rows = Array.from({ length: 5 }, (_, n): [string, string] => [`c/a!${n}`, `${n}`.repeat(500_000)])
    await write([...rows, ['!open', ''], ['!version', '1']])
    const batches = vi.spyOn(Level.prototype, 'batch')
    const folder = path.join(home, 'some', 'where')
    expect(await copyDatabase(backing, folder)).toBe(6)
    expect(await contentOf(folder)).toEqual([['!version', '1'], ...rows])
    const calls = batches.mock.calls as unknown as [unknown[], unknown][]
    expect(calls.map(([changes]) => changes.length)).toEqual([4, 2])
    for (const [, options] of calls) expect(options).toEqual({ sync: true })
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
  }))

test('a copy has what was there when it began', () =>
  withBacking(async ({ backing, write }) => {
    await write([['c/a!1', 'before']])
    const copying = copyDatabase(backing, path.join(home, 'copy'))
    await write([
      ['c/a!1', 'after'],
      ['c/a!2', 'after'],
    ])
    expect(await copying).toBe(1)
    expect(await contentOf(path.join(home, 'copy'))).toEqual([['c/a!1', 'before']])
  }))

test('a folder with a database in it is refused and left as it is, and nothing stays open', () =>
  withBacking(async ({ backing, write }) => {
    const folder = path.join(home, 'copy')
    await write([['c/a!1', 'first']])
    await copyDatabase(backing, folder)
    await write([['c/a!1', 'second']])
    const closed = vi.fn()
    const { iterator } = Level.prototype
    vi.spyOn(Level.prototype, 'iterator').mockImplementation(function (this: Level, ...given: unknown[]) {
      const made = Reflect.apply(iterator, this, given) as { close(): Promise<void> }
      const close = made.close.bind(made)
      made.close = () => {
        closed()
        return close()
      }
      return made
    } as never)
    await expect(copyDatabase(backing, folder)).rejects.toThrow()
    expect(closed).toHaveBeenCalled()
    expect(await contentOf(folder)).toEqual([['c/a!1', 'first']])
  }))
