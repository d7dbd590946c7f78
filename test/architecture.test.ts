import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { discover } from '../kernel/plugin/manifest.ts'
import { uncaught } from './uncaught.ts'

interface Source {
  readonly file: string
  readonly text: string
  readonly imports: readonly string[]
}

const plugins = [
  ...(await discover(path.resolve('modules'), 'builtin')),
  ...(await discover(path.resolve('plugins'), 'builtin')),
]
const sources = (await Promise.all(['kernel', 'storage', 'modules', 'plugins'].map(read))).flat()
/** Sources without a word of it are not parsed. */
const mayLeave =
  /set(Timeout|Interval|Immediate)|queueMicrotask|nextTick|\.(on|once|addListener|addEventListener|then)\(|createServer|watch\(|void |FinalizationRegistry/
/** Kept beside what they test, for the tests of several engines and threads. */
const ofTests = /^storage\/(conformance\/|shared\/threads-)/
const own = sources.filter(({ file }) => !file.endsWith('.test.ts'))

test('modules and plugins import their own folder, the contract, the kit and packages, and nothing else', () => {
  const wrong = own
    .filter(({ file }) => /^(modules|plugins)\//.test(file))
    .flatMap((source) =>
      source.imports.filter((name) => !allowed(source, name)).map((name) => `${source.file}: ${name}`),
    )
  expect(wrong).toEqual([])
})

test('the store imports nothing of ours', () => {
  const wrong = own
    .filter(({ file }) => file.startsWith('storage/'))
    .flatMap(({ file, imports }) =>
      imports
        .filter(
          (name) =>
            name.startsWith('#') || (name.startsWith('.') && !resolved(file, name).startsWith('storage/')),
        )
        .map((name) => `${file}: ${name}`),
    )
  expect(wrong).toEqual([])
})

test('the kernel imports no plugin and names none', () => {
  const ids = plugins.filter(({ manifest }) => manifest?.kind !== 'area').map(({ id }) => id)
  const kernel = own.filter(({ file }) => file.startsWith('kernel/'))
  const named = kernel.flatMap(({ file, text }) =>
    ids.filter((id) => new RegExp(`['"\`]${id}['"\`]`).test(text)).map((id) => `${file} names ${id}`),
  )
  const imported = kernel.flatMap(({ file, imports }) =>
    imports
      .filter((name) => /^(modules|plugins)\//.test(resolved(file, name)))
      .map((name) => `${file}: ${name}`),
  )
  expect([...named, ...imported]).toEqual([])
})

test('only definitions of plugins are default exports', () => {
  const wrong = own.filter(
    ({ file, text }) => /^export default/m.test(text) && !/^(modules|plugins)\/[^/]+\/index\.ts$/.test(file),
  )
  expect(wrong.map(({ file }) => file)).toEqual([])
})

test('no module or plugin keeps mutable state outside its setup', () => {
  const wrong = own.filter(
    ({ file, text }) => /^(modules|plugins)\//.test(file) && /^(export )?let /m.test(text),
  )
  expect(wrong.map(({ file }) => file)).toEqual([])
})

test('no timer, listener, message or promise of the gateway can end the process by what it throws', async () => {
  const wrong = [...own, ...(await read('bin'))]
    .filter(({ file, text }) => !file.endsWith('.test.ts') && !ofTests.test(file) && mayLeave.test(text))
    .flatMap(({ file, text }) => uncaught(text).map((where) => `${file}:${where}`))
  expect(wrong).toEqual([])
})

test.each([
  `setTimeout(() => run(), 5)`,
  `setImmediate(async () => { await run() })`,
  `queueMicrotask(run)`,
  `process.nextTick(() => { throw new Error('x') })`,
  `worker.on('message', (message) => this.#hear(message))`,
  `signal.addEventListener('abort', stop, { once: true })`,
  `createServer(options, (req, res) => answer(req, res))`,
  `const stop = () => run(); process.once('SIGTERM', stop)`,
  `void run()`,
  `run().then(done, failed)`,
])('the rule for what may end the process finds %s', (text) => {
  expect(uncaught(text)).toHaveLength(1)
})

test.each([
  `setTimeout(contain('a timer', () => run()), 5)`,
  `const stop = contain('a signal', () => run()); process.once('SIGTERM', stop)`,
  `class A { #go = contain('a cohort', () => run()); start() { setImmediate(this.#go) } }`,
  `setTimeout(() => reject(new Error('late')), 5)`,
  `setTimeout(late.resolve, 5)`,
  `worker.on('exit', () => { if (isOver) return; problem = 'it ended'; ended.resolve(problem) })`,
  `port.on('message', (message) => { try { take(message) } catch (error) { refuse(error) } })`,
  `context.on(CallSettled, (outcome) => count(outcome))`,
  `void run().catch(tell)`,
  `run().then(done).catch(tell)`,
  `detach('a run', run())`,
])('the rule for what may end the process lets pass %s', (text) => {
  expect(uncaught(text)).toEqual([])
})

async function read(folder: string): Promise<Source[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  return Promise.all(
    files.map(async (entry) => {
      const file = path.join(entry.parentPath, entry.name)
      const text = await readFile(file, 'utf8')
      const imports = [...text.matchAll(/(?:from|import) '([^']+)'|import\('([^']+)'\)/g)].map(
        (m) => (m[1] ?? m[2])!,
      )
      return { file, text, imports }
    }),
  )
}

function allowed({ file }: Source, name: string): boolean {
  if (name.startsWith('.'))
    return resolved(file, name).startsWith(`${file.split('/').slice(0, 2).join('/')}/`)
  return ['#kernel', '#kit', '#provider'].includes(name) || !name.startsWith('#')
}

const resolved = (file: string, name: string): string =>
  name.startsWith('.') ? path.normalize(path.join(path.dirname(file), name)) : name
