import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { read } from '../../../gateway/discovery/read.ts'
import { main } from '../../../test/built.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-check-'))
  await cp('test/fixtures/modules/inker', path.join(folder, 'inker'), { recursive: true })
})

afterEach(() => rm(folder, { recursive: true }))

const check = (
  plugin = path.join(folder, 'inker'),
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ code: number; ok: boolean; problems: string[] }> =>
  new Promise((resolve) => {
    const args = [main, 'plugin', 'check', plugin, '--json']
    execFile(process.execPath, args, { env }, (error, out) => {
      const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: { check: string; problem?: string }[] }
      const problems = checks.flatMap(({ check, problem }) => (problem ? [`${check}: ${problem}`] : []))
      resolve({ code: error ? Number(error.code) : 0, ok, problems })
    })
  })

const change = async (file: string, from: string, to: string): Promise<void> => {
  const at = path.join(folder, 'inker', file)
  await writeFile(at, (await readFile(at, 'utf8')).replace(from, to))
}

test('a plugin from outside that keeps to everything passes, its migrations too', async () => {
  expect(await check()).toEqual({ code: 0, ok: true, problems: [] })
  expect(await check('docs/plugins/examples/shorttalk')).toEqual({ code: 0, ok: true, problems: [] })
})

test('what a plugin does not keep to is named, and the exit code says so', async () => {
  await change(
    'index.ts',
    'setup({ settings: { word } }) {',
    '$&\n    setInterval(() => {}, 1000)\n    process.on("SIGHUP", () => {})',
  )
  await change('index.ts', 'z.strictObject', 'z.object')
  await change('examples.json', 'It is [ink] indeed.', 'It is [blot] indeed.')
  const { code, ok, problems } = await check()
  expect([code, ok]).toEqual([1, false])
  expect(problems).toEqual([
    expect.stringContaining('unknown settings must be refused'),
    expect.stringMatching(/timers keep running; listeners stay on process for SIGHUP/),
    expect.stringContaining('(plain): text: wanted "It is [blot] indeed.", saw "It is [ink] indeed."'),
  ])
})

test('a module without examples is told what to write', async () => {
  await rm(path.join(folder, 'inker', 'examples.json'))
  const { code, problems } = await check()
  expect([code, problems]).toEqual([
    1,
    [
      expect.stringMatching(
        /^has examples: examples\.json: there is no such file\. Write one with .*"expect"/,
      ),
    ],
  ])
  expect(problems[0]).not.toContain(tmpdir())
})

test('a fault of a manifest is told with the file that it is in', async () => {
  const at = (file: string) => path.join(folder, 'inker', file)
  const manifest = JSON.parse(await readFile(at('manifest.json'), 'utf8')) as object
  await rm(at('manifest.json'))
  const faults: [object | string, RegExp][] = [
    [{ name: 'inker', switchyard: { ...manifest, stage: 'nowhere' } }, /^package\.json: .*stage/],
    [{ name: 'inker', switchyard: { ...manifest, id: 'other' } }, /^package\.json: id is "other"/],
    [{ name: 'inker', switchyard: { ...manifest, api: '^99' } }, /^package\.json: written for contract \^99/],
    [{ name: 'inker' }, /^package\.json: there is no manifest\.json, and no key "switchyard"/],
    ['{', /package\.json: /],
  ]
  for (const [content, problem] of faults) {
    await writeFile(at('package.json'), typeof content === 'string' ? content : JSON.stringify(content))
    expect((await read(at(''), 'local', 'inker')).problem).toMatch(problem)
  }
  expect((await check()).problems).toEqual([expect.stringMatching(/sound manifest: .*package\.json: /)])
})

test('a folder that holds the temporary folder is told to have another', async () => {
  const inker = path.join(folder, 'inker')
  expect(await check(inker, { ...process.env, TMPDIR: inker })).toEqual({
    code: 1,
    ok: false,
    problems: [
      expect.stringContaining(`holds the temporary folder ${inker}, where it would be copied to: set TMPDIR`),
    ],
  })
})

test('a folder that is broken fails at once', async () => {
  await change('manifest.json', '"stage"', '"page"')
  expect(await check()).toMatchObject({ code: 1, problems: [expect.stringMatching(/sound manifest.*stage/)] })
})
