import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bundleOf, lastChange } from './checkout.js'

let root: string
const at = (name: string) => path.join(root, name)

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'switchyard-checkout-'))
  for (const folder of ['bin', 'kernel/http', 'docs', 'node_modules'])
    mkdirSync(at(folder), { recursive: true })
  for (const file of ['kernel/boot.ts', 'kernel/http/server.ts']) writeFileSync(at(file), '1')
  writeFileSync(at('package.json'), '{}')
})

afterEach(() => rmSync(root, { recursive: true }))

/** Waits until the clock of the file system says later than the last change. */
const later = () =>
  expect
    .poll(() => {
      writeFileSync(at('docs/mark'), '')
      return statSync(at('docs/mark')).ctimeMs
    })
    .toBeGreaterThan(lastChange(root))

test.each([
  ['a file that changes', () => writeFileSync(at('kernel/http/server.ts'), '2')],
  ['one whose time is set back', () => utimesSync(at('kernel/boot.ts'), 1, 1)],
  ['a file that comes', () => writeFileSync(at('kernel/http/body.ts'), '')],
  ['a file that goes', () => rmSync(at('kernel/boot.ts'))],
  ['another name', () => renameSync(at('kernel/http'), at('kernel/web'))],
  ['other packages', () => writeFileSync(at('package-lock.json'), '{}')],
])('%s is a change of the sources', async (_, change) => {
  const before = lastChange(root)
  await later()
  change()
  expect(lastChange(root)).toBeGreaterThan(before)
})

test('what changes a test or the documentation is none', async () => {
  writeFileSync(at('kernel/boot.test.ts'), '1')
  const before = lastChange(root)
  await later()
  writeFileSync(at('kernel/boot.test.ts'), '2')
  expect(lastChange(root)).toBe(before)
})

test('there is none where nothing makes it, or where that fails', () => {
  expect(bundleOf(root)).toBeUndefined()
  symlinkSync(path.resolve('node_modules/rolldown'), at('node_modules/rolldown'))
  expect(bundleOf(root)).toBeUndefined()
})

/** Has bundles made that have a main file and nothing else. */
function bundling(): void {
  symlinkSync(path.resolve('node_modules/rolldown'), at('node_modules/rolldown'))
  writeFileSync(
    at('bin/bundle.ts'),
    `const { mkdirSync, writeFileSync } = require('node:fs')
    mkdirSync(process.argv[2] + '/bin')
    writeFileSync(process.argv[2] + '/bin/main.js', '')`,
  )
}

test('a bundle is for all who may read the sources, and one that this user may not read is none', () => {
  bundling()
  const before = process.umask(0o022)
  try {
    const made = bundleOf(root)!
    expect(statSync(made).mode & 0o777).toBe(0o755)
    rmSync(path.join(made, 'bin/main.js'))
    expect(bundleOf(root)).toBeUndefined()
  } finally {
    process.umask(before)
  }
})

test('a bundle stays the same until the sources change, and older ones go but for a few', async () => {
  bundling()
  const first = bundleOf(root)!
  const { ino } = statSync(first)
  expect([bundleOf(root), statSync(first).ino]).toEqual([first, ino])
  const bundles = [first]
  while (bundles.length < 6) {
    await later()
    writeFileSync(at('kernel/boot.ts'), String(bundles.length))
    bundles.push(bundleOf(root)!)
  }
  expect(new Set(bundles).size).toBe(6)
  expect(bundles.map((folder) => existsSync(path.join(folder, 'bin/main.js')))).toEqual([
    false,
    ...Array(5).fill(true),
  ])
})
