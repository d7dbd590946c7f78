import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { main } from '../../../../test/built.ts'
import { environment, runApart, runHere } from '../../../../test/commands.ts'
import type { News } from './news.ts'

const minutes = 60_000
const patient = { timeout: minutes, interval: 50 }

let folder: string
let child: ChildProcess | undefined

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-dev-test-'))
  await mkdir(path.join(folder, 'tmp'))
})

afterEach(async () => {
  child?.kill('SIGKILL')
  child = undefined
  await rm(folder, { recursive: true })
})

const environs = () => ({ TMPDIR: path.join(folder, 'tmp') })

/** The command at work in a process of its own, as programs use it. */
function develop(plugin: string) {
  const at = spawn(process.execPath, [main, 'plugin', 'dev', plugin, '--json'], {
    cwd: folder,
    env: environment(environs()),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child = at
  let [output, errors] = ['', '']
  at.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  at.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const heard = (): News[] =>
    output
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  let seen = 0
  async function from<E extends News['event']>(
    first: number,
    event: E,
  ): Promise<Extract<News, { event: E }>> {
    const isNext = ({ event: it }: News, n: number): boolean => n >= first && it === event
    await expect.poll(() => heard().some(isNext) || errors, patient).toBe(true)
    const at = heard().findIndex(isNext)
    seen = Math.max(seen, at + 1)
    return heard()[at] as Extract<News, { event: E }>
  }
  return {
    /** The next news of a kind, those of others left out. */
    next: <E extends News['event']>(event: E) => from(seen, event),
    /** The first news of a kind, also when others that go on beside it came later. */
    first: <E extends News['event']>(event: E) => from(0, event),
    type: (line: string) => at.stdin.write(`${line}\n`),
    async end(): Promise<unknown> {
      const ended = once(at, 'exit')
      at.kill('SIGINT')
      return (await ended)[0]
    },
  }
}

test('a module is shown at work again at every save, and calls that are typed are tried', {
  timeout: 3 * minutes,
}, async () => {
  const plugin = path.join(folder, 'inker')
  await cp('test/fixtures/modules/inker', plugin, { recursive: true })
  const file = path.join(plugin, 'index.ts')
  const sound = await readFile(file, 'utf8')
  const session = develop('inker')

  expect(await session.next('started')).toMatchObject({
    plugin: { id: 'inker', kind: 'module', folder: 'inker' },
  })
  await session.next('loaded')
  const first = await session.next('call')
  expect(first.title).toBe('Blacks out the word')
  for (const mode of ['plain', 'stream'] as const) {
    expect(first.modes[mode]).toMatchObject({
      request: {
        before: { messages: [{ content: 'This is classified.' }] },
        after: { messages: [{ content: 'This is [ink].' }] },
      },
      answer: {
        before: { status: 200, content: 'It is classified indeed.' },
        after: { status: 200, content: 'It is [ink] indeed.' },
      },
      findings: [{ verdict: expect.any(String) }, {}],
      cost: { calls: 15 },
    })
    expect(first.modes[mode]!.cost.us).toBeGreaterThan(0)
  }
  const checks = await session.first('checks')
  expect(checks.ok).toBe(true)
  expect(checks.changed).toHaveLength(checks.checks.length)

  session.type('Nothing of the kind')
  const typed = await session.next('call')
  expect(typed.title).toBe('Nothing of the kind')
  expect(typed.modes.plain!.request.after).toEqual(typed.modes.plain!.request.before)
  session.type('{ "messages": [')
  expect((await session.next('problem')).problem).toMatch(/could not be made.*JSON/)
  session.type('{ "messages": [{ "role": "user", "content": "So classified" }], "user": "me" }')
  const whole = await session.next('call')
  expect(whole.modes.stream!.request.after).toMatchObject({ messages: [{ content: 'So [ink]' }], user: 'me' })

  await writeFile(file, sound.replace('reach: word.length', 'reach: = word.length'))
  expect(await session.next('refused')).toMatchObject({
    problem: expect.stringMatching(/index\.ts:\d+: .*reach: = word/),
    runs_on: true,
  })
  await writeFile(
    file,
    sound.replace('const start', 'if (text) throw new Error("no ink")\n        const start'),
  )
  await session.next('loaded')
  const failing = await session.next('call')
  expect(failing.modes.plain).toMatchObject({
    answer: { after: { status: 500 } },
    failures: [expect.stringMatching(/no ink \(index\.ts:12\)$/)],
  })
  await writeFile(file, sound)
  await session.next('loaded')
  await session.next('call')
  await writeFile(file, sound.replace('[ink]', '[blot]'))
  await session.next('loaded')
  expect((await session.next('call')).modes.plain!.request.after).toMatchObject({
    messages: [{ content: 'So [blot]' }],
  })
  let later = await session.next('checks')
  // Those of the saves before come first, where they took long.
  while (!later.changed.length) later = await session.next('checks')
  expect(later.changed).toEqual([expect.stringContaining('examples')])

  expect(await session.end()).toBe(0)
  expect(await readdir(environs().TMPDIR)).toEqual([])
})

test('areas and providers are shown to people, and what is no plugin is refused', {
  timeout: 3 * minutes,
}, async () => {
  await runHere(folder, {}, 'plugin', 'new', 'tally', '--kind', 'area')
  await runHere(folder, {}, 'plugin', 'new', 'acme', '--kind', 'provider')
  const once = (plugin: string) => runApart(folder, environs(), 'plugin', 'dev', plugin, '--once')
  const [area, provider, nothing, nowhere] = await Promise.all(['tally', 'acme', 'tmp', 'nowhere'].map(once))
  expect(area!.out).toMatch(/^tally 0\.1\.0, an area, in tally, on a gateway with the mock provider\.\n/)
  expect(area!.out).toMatch(/Request +unchanged/)
  expect(area!.out).toMatch(/Answer +plain +200 {2}\S.*\n +streamed +200 {2}\S/)
  expect(area!.out).toMatch(
    /Routes +GET \/api\/tally\/calls: 200 {"models":\[{"model":"gpt-4o-mini","calls":\d+}\]}/,
  )
  expect(area!.out).toMatch(/Checks: (\d+) of \1 passed\./)
  expect(provider!.out).toMatch(/"model": "large"/)
  expect(provider!.out).toMatch(/plain +200/)
  expect(nothing!.out).toContain('Not loaded: manifest.json')
  expect(nowhere!.out).toContain(`there is no folder ${path.join(folder, 'nowhere')}`)
  const own = { TMPDIR: path.join(folder, 'tally') }
  const copied = await runApart(folder, own, 'plugin', 'dev', 'tally', '--once')
  expect(copied.out).toContain(`holds the temporary folder ${own.TMPDIR}`)
  expect([area!, provider!, nothing!, nowhere!, copied].map(({ code }) => code)).toEqual([0, 0, 1, 1, 1])
})
