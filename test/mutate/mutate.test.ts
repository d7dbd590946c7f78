import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { applied, mutantsOf } from './mutants.ts'
import { isMeant, reasons, reasonsTable, staleReasons } from './reasons.ts'

const code = `export function sum(to: number): number {
  let all = 0
  for (let n = 1; n <= to; n++) all += n
  if (to < 0) throw new Error('a number below zero')
  return all
}

export const unused = (n: number): number => n + 1

export const answered = (n: number): Promise<number> =>
  n > 0 ? Promise.resolve(n) : new Promise(() => {})
`

const itsTest = `import { expect, test } from 'vitest'
import { answered, sum } from './sum.ts'

test('sums', () => {
  expect(sum(4)).toBe(10)
  expect(sum(0)).toBe(0)
})

test('answers', async () => {
  expect(await answered(1)).toBe(1)
})
`

async function folderWithCode(): Promise<string> {
  const folder = await mkdtemp(path.resolve('.mutate-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFile(path.join(folder, 'sum.ts'), code)
  await writeFile(path.join(folder, 'sum.test.ts'), itsTest)
  return folder
}

test('a folder is mutated: what tests see is killed, what loops or hangs also, and the rest is listed', async () => {
  const folder = path.relative('', await folderWithCode())
  const ran = await promisify(execFile)(process.execPath, ['test/mutate/run.ts', folder, '--no-types'], {
    env: { ...process.env, NODE_OPTIONS: '' },
  }).catch((error: { stdout: string; stderr: string }) => error)
  onTestFinished(() => rm(`.mutate/${folder}.json`, { force: true }))
  const table = ran.stdout.replaceAll(/ +/g, ' ')
  // Never reached by a test, reached and not seen, and seen.
  expect(table).toContain('unreached 8 n + 1 → n - 1')
  expect(table).toContain('4 to < 0 → false')
  expect(table).not.toContain('n <= to →')
  // Without end, as a loop and as a promise.
  expect(table).not.toContain('n++ → n--')
  expect(table).not.toContain('n > 0 → false')
  expect(table).not.toContain("below zero' →")
}, 120_000)

test('a mutant is applied where it was found', async () => {
  const folder = await folderWithCode()
  const [source] = await mutantsOf([path.join(folder, 'sum.ts')])
  const mutant = source!.mutants.find(({ replacement }) => replacement === 'n < to')!
  expect(mutant.original).toBe('n <= to')
  expect(applied(source!, mutant)).toBe(code.replace('n <= to', 'n < to'))
})

test('a reason names mutations word for word, but for what it leaves open', () => {
  expect(isMeant('a + b → a - b', 'a + b → a - b')).toBe(true)
  expect(isMeant('a + bb → a - b', 'a + b → a - b')).toBe(false)
  expect(isMeant('[a.b, c] → []', '[… → []')).toBe(true)
  expect(isMeant('[a.b, c] → []', '[a.b… → […')).toBe(true)
  expect(isMeant('f([a]) → []', '[… → []')).toBe(false)
})

test('each reason for a survivor is for a mutation that there is', async () => {
  const sources = await mutantsOf([...new Set(reasons.map(({ file }) => file))])
  const mutants = sources.flatMap((source) => source.mutants)
  expect(staleReasons(mutants, mutants)).toEqual([])
})

test('the survivors that stay are listed in the documentation', async () => {
  const page = await readFile('docs/testing.md', 'utf8')
  const [before] = page.split('| file | why they stay |')
  const told = `${before}${reasonsTable()}\n`
  if (process.env.REASONS === 'write') await writeFile('docs/testing.md', told)
  else expect(page).toBe(told)
})
