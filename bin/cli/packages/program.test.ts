import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { adminKey } from '../../../test/harness.ts'
import { freePort, runPlugin, shoutPackage } from '../../../test/shout.ts'
import { runProgram } from './program.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-program-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

/** A program that says two things, starts another which holds its output open, and waits for it for ever. */
async function endless(name: string): Promise<string> {
  const file = path.join(folder, name)
  const lines = ['#!/bin/sh', 'echo first >&2', 'echo "fetching the last thing" >&2', 'sleep 1000 &']
  await writeFile(file, [...lines, `echo $! > '${folder}/pid'`, 'wait', ''].join('\n'))
  await chmod(file, 0o755)
  return file
}

const isRunning = async (): Promise<boolean> => {
  const pid = (await readFile(path.join(folder, 'pid'), 'utf8').catch(() => '')).trim()
  const { out } = await runProgram('ps', ['-o', 'stat=', '-p', pid || '1'], {
    name: 'ps',
    cwd: folder,
    limitMs: 30_000,
  })
  return pid !== '' && /^[^Z]/.test(out.trim())
}

test('a program that ends gives its code and what it printed', async () => {
  const options = { name: 'it', cwd: folder, limitMs: 30_000 }
  const script = `console.log(process.cwd()); console.error('oh'); process.exitCode = 3`
  const ended = await runProgram(process.execPath, ['-e', script], options)
  expect(ended).toEqual({ code: 3, out: expect.stringContaining(path.basename(folder)), err: 'oh\n' })
  await expect(runProgram(path.join(folder, 'none'), [], options)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('one that does not end is killed at the limit with what it started, and what it said last is told', async () => {
  const file = await endless('it')
  const limitMs = 1_500
  const run = runProgram(file, [], { name: 'it', cwd: folder, limitMs })
  await expect(run).rejects.toThrow(
    /it took longer than 1\.5 seconds.*--timeout.*output: fetching the last thing/,
  )
  await expect.poll(isRunning).toBe(false)
})

test('one that is given up is killed with what it started', async () => {
  const file = await endless('it')
  const given = new AbortController()
  const giveUp = (): void => given.abort(new Error('enough'))
  onTestFinished(giveUp)
  const run = runProgram(file, [], { name: 'it', cwd: folder, limitMs: 60_000, signal: given.signal })
  const ended = expect(run).rejects.toThrow('enough')
  await expect.poll(isRunning).toBe(true)
  giveUp()
  await ended
  await expect.poll(isRunning).toBe(false)
})

test('an npm that hangs ends the command with its last words, and nothing is changed', async () => {
  await endless('npm')
  const env = {
    SERVICE_ADMIN_KEY: adminKey,
    SERVICE_PORT: String(await freePort()),
    PATH: `${folder}:${process.env.PATH}`,
  }
  const spec = await shoutPackage(folder, '1.0.0')
  const added = await runPlugin(folder, env, 'add', spec, '--yes', '--timeout', '1500ms')
  expect(added).toMatchObject({
    code: 1,
    result: { error: expect.stringMatching(/npm pack took longer.*fetching the last thing/) },
  })
  await expect.poll(isRunning).toBe(false)
  expect((await runPlugin(folder, env, 'list')).result).toMatchObject({ total: 0 })
})
