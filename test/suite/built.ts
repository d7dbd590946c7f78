import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'vitest/config'
import { bundle } from '../../bin/bundle.ts'
import { stateOf } from '../../bin/compile.ts'
import { built } from '../built.ts'

/** Everything that decides what is built. */
const inputs = [
  '{accounts,bin,config,contract,gateway,isolation,kernel,kit,network,shadow,staging,storage,workers,modules,plugins,test}/**/*.*',
  'package-lock.json',
]

/** Builds the gateway anew unless it is of the sources as they are. */
export default async function setup(): Promise<void> {
  const state = await stateOf(inputs)
  const mark = path.join(built, '.state')
  if ((await readFile(mark, 'utf8').catch(() => '')) === state) return
  const cache = path.dirname(built)
  await mkdir(cache, { recursive: true })
  const aside = await mkdtemp(path.join(cache, 'aside-'))
  const [older, newer] = [path.join(aside, 'older'), path.join(aside, 'newer')]
  await bundle(newer)
  await writeFile(path.join(newer, '.state'), state)
  // Other runs may be using what is there, or have built the same meanwhile.
  await rename(built, older).catch(() => {})
  await rename(newer, built).catch((error: unknown) => {
    if (!existsSync(built)) throw error
  })
  await rm(aside, { recursive: true })
}

/** Where sources start a worker, and the file that it runs instead. */
const workers: Readonly<Record<string, string>> = {
  'gateway/threads/thread-pool.ts': path.join(built, 'gateway/threads/thread.js'),
  'isolation/isolate.ts': path.resolve('test/suite/built-guest.ts'),
  'kit/json/schemas.ts': path.join(built, 'kit/json/schema-worker.js'),
  'network/posting-thread.ts': path.join(built, 'network/posting.js'),
  'plugins/models/tokens/thread.ts': path.join(built, 'plugins/models/tokens/worker.js'),
  'plugins/trust/ledger/linking/thread.ts': path.join(built, 'plugins/trust/ledger/linking/worker.js'),
}

/** Has workers run what is built, in half the time of the sources, also those of gateways in a test's own process. */
export const builtWorkers: Plugin = {
  name: 'built-workers',
  enforce: 'pre',
  transform(code, id) {
    const file = workers[path.relative('', id)]
    if (!file) return
    const entry = [`./${path.parse(file).name}`, pathToFileURL(file).href]
    const replaced = code.replace(/\['\.\/[\w-]+', import\.meta\.url\]/, () => JSON.stringify(entry))
    if (replaced === code) throw new Error(`${id} starts no worker`)
    return { code: replaced, map: null }
  },
}
