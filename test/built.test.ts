import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { built, main } from './built.ts'
import { adminKey, startGateway } from './harness.ts'
import { writePlugin } from './plugin-folder.ts'
import { startProcess } from './process.ts'

let folder: string

/** Says in headers which files the gateway around it runs from, and whether it shares the gateway's copies of packages. */
const teller = `
import { z } from 'zod'
import { z as same } from 'zod/v4'
import { listQuery } from 'switchyard/kit'

const places = { built: '${built}/', bundled: '${path.resolve('node_modules/.cache/bundles')}/', sources: '${path.resolve()}/' }
const from = (code) => Object.keys(places).find((name) => code.includes(places[name])) ?? 'nowhere'

export default {
  settings: z.strictObject({}),
  setup: (ctx) => {
    const { stack } = new Error()
    return {
      request(call) {
        call.trace.header('x-from-' + ctx.id, from(stack))
        call.trace.header('x-zod-' + ctx.id, String(z === same && listQuery.constructor === z.ZodObject))
      },
    }
  },
}
`
const isolations = { near: 'inproc', far: 'worker' }
const told = ['x-from-near', 'x-zod-near', 'x-from-far', 'x-zod-far']

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-built-'))
  for (const [id, isolation] of Object.entries(isolations)) {
    const code = teller.replaceAll('ctx.id', `'${id}'`)
    await writePlugin(path.join(folder, 'plugins'), id, {
      manifest: { isolation },
      files: { 'index.js': code },
    })
  }
  await writeFile(path.join(folder, 'service.yaml'), 'plugin_dirs: [plugins]\nserver: { threads: 2 }\n')
})

afterAll(() => rm(folder, { recursive: true, force: true }))

async function tell(url: string): Promise<(string | null)[]> {
  const { status, headers } = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, connection: 'close' },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }] }),
  })
  expect(status).toBe(200)
  return told.map((name) => headers.get(name))
}

test.each([
  ['sources', path.resolve('bin/main.ts')],
  ['built', main],
  ['bundled', path.resolve('bin/switchyard.js')],
])('a process of the %s runs nothing else in its threads and workers', async (from, file) => {
  const gateway = await startProcess({ SERVICE_ADMIN_KEY: adminKey }, folder, file)
  try {
    // As many connections go to both threads, but for one time in a billion.
    for (const one of await Promise.all(Array.from({ length: 30 }, () => tell(gateway.url))))
      expect(one).toEqual([from, 'true', from, 'true'])
  } finally {
    await gateway.end('SIGTERM')
  }
})

test('workers of a gateway in the process of a test run what is built', async () => {
  const gateway = await startGateway({ config: { plugin_dirs: [path.join(folder, 'plugins')] } })
  try {
    expect((await tell(gateway.url)).slice(2)).toEqual(['built', 'true'])
  } finally {
    await gateway.close()
  }
})

test.each(['kit/json/schema-worker.js', 'network/posting.js', 'plugins/trust/ledger/linking/worker.js'])(
  'the thread of %s loads a small file, and nothing of ours beside it',
  async (file) => {
    const code = await readFile(path.join(built, file), 'utf8')
    expect(code).not.toMatch(/from "(\.|#|zod)/)
    expect(code.length).toBeLessThan(28_000)
  },
)
