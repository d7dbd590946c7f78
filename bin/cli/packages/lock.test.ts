import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { alone, ifAlone } from './lock.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-lock-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

/** Another process that has the turn and never gives it back. */
async function holder() {
  const code = `import { alone } from ${JSON.stringify(path.resolve('bin/cli/packages/lock.ts'))}
await alone(process.argv[1], () => { console.log('mine'); return new Promise(() => setInterval(() => {}, 1000)) })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, folder], { stdio: 'pipe' })
  await once(child.stdout, 'data')
  return child
}

test('those who want their turn at once have it one after the other', async () => {
  let inside = 0
  const seen: number[] = []
  const work = async (): Promise<void> => {
    inside += 1
    seen.push(inside)
    await new Promise((resolve) => setTimeout(resolve, 20))
    inside -= 1
  }
  await Promise.all([1, 2, 3].map(() => alone(folder, work)))
  expect(seen).toEqual([1, 1, 1])
})

test('who waits for another process says so once, and has its turn when that one was killed', async () => {
  const child = await holder()
  const told: string[] = []
  let skipped = true
  await ifAlone(folder, async () => {
    skipped = false
  })
  expect(skipped).toBe(true)
  await expect(alone(folder, async () => 'never', { waitMs: 200 })).rejects.toThrow(
    /running in .*end it first/,
  )
  const turn = alone(folder, async () => 'done', { onWait: () => told.push('waiting') })
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(told).toEqual(['waiting'])
  child.kill('SIGKILL')
  expect(await turn).toBe('done')
})

test('a turn ends when its work fails', async () => {
  await expect(alone(folder, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await alone(folder, async () => 'next')).toBe('next')
})
