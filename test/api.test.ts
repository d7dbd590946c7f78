import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { currentReports, reportsFolder } from '../bin/api/emit.ts'
import { apiReports } from '../bin/api/report.ts'
import { samePromise, versionFor } from '../bin/api/version.ts'

test('the committed report is of the contract as it is', { timeout: 120_000 }, async () => {
  for (const [name, now] of await currentReports()) {
    const committed = await readFile(path.join(reportsFolder, name), 'utf8').catch(() => '')
    expect(
      committed === now,
      `docs/api/${name} is not what the exported types say. Run \`npm run api\`, which also raises the contract's version ` +
        '(`npm run api -- --major` when plugins must change for it), and commit what it wrote.',
    ).toBe(true)
  }
})

describe('a report', () => {
  let root: string

  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'switchyard-api-test-'))
    await declare({
      'kit/index.d.ts': 'export {};',
      'plugins/upstream/kit/index.d.ts': 'export {};',
      'test/testing.d.ts': 'export {};',
    })
  })

  afterEach(() => rm(root, { recursive: true }))

  const declare = async (files: Record<string, string>): Promise<void> => {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(root, name)), { recursive: true })
      await writeFile(path.join(root, name), `${text}\n`)
    }
  }
  const contract = (): string => apiReports(root, '1.0.0').get('switchyard')!

  test('has what is exported and what that refers to, through any number of files', async () => {
    await declare({
      'contract/index.d.ts': `export { type A, b as c } from './a.ts';\nexport type * from './d.ts';`,
      'contract/a.d.ts': `import type { X as Y } from './x.ts';
export interface A {
    y: Y;
}
export declare const b: (n: number) => Hidden;
interface Hidden {
    z: 1;
}
export interface Unused {
}`,
      'contract/d.d.ts': 'export type D = 2;',
      'contract/x.d.ts': 'export type X = 3;',
    })
    const text = contract()
    for (const part of ['interface A', 'const b', 'interface Hidden', 'type D = 2', 'type X = 3'])
      expect(text).toContain(part)
    expect(text).not.toContain('Unused')
  })

  test('stays the same when only comments and order change', async () => {
    await declare({
      'contract/index.d.ts': `export { type A, type B } from './a.ts';`,
      'contract/a.d.ts': '/** One. */\nexport type A = 1;\nexport type B = 2;',
    })
    const before = contract()
    await declare({ 'contract/a.d.ts': 'export type B = 2;\n/** Another\n * one. */\nexport type A = 1;' })
    expect(contract()).toBe(before)
    await declare({ 'contract/a.d.ts': 'export type B = 2;\nexport type A = 3;' })
    expect(contract()).not.toBe(before)
  })
})

describe('the version of the contract', () => {
  const before = new Map([['a.md', 'Contract 1.0.0. Written.\ntype A = 1']])

  test('goes up when the contract promises something else, and only then', () => {
    const same = new Map([['a.md', 'Contract 1.1.0. Written.\ntype A = 1']])
    const other = new Map([['a.md', 'Contract 1.0.0. Written.\ntype A = 2']])
    expect([samePromise(before, same), samePromise(before, other)]).toEqual([true, false])
    expect(versionFor({ last: '1.0.0', now: '1.0.0', changed: false }, 'minor')).toBe('1.0.0')
    expect(versionFor({ last: '1.0.0', now: '1.0.0', changed: true }, 'minor')).toBe('1.1.0')
    expect(versionFor({ last: '1.4.0', now: '1.4.0', changed: true }, 'major')).toBe('2.0.0')
  })

  test('goes up once for any number of changes between two commits', () => {
    expect(versionFor({ last: '1.0.0', now: '1.1.0', changed: true }, 'minor')).toBe('1.1.0')
    expect(versionFor({ last: '1.0.0', now: '1.1.0', changed: true }, 'major')).toBe('2.0.0')
  })
})
