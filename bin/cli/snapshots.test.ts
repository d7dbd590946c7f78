import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { runHere } from '../../test/commands.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'

let gateway: TestGateway
let file: string

beforeAll(async () => {
  gateway = await startGateway()
  file = path.join(gateway.dataDir, 'snapshot.yaml')
})

afterAll(() => gateway.close())

const config = (...args: string[]) =>
  runHere(gateway.dataDir, { SERVICE_ADMIN_KEY: gateway.adminKey }, 'config', ...args, '--url', gateway.url)
const generation = async () => (await gateway.api('GET', '/api/config')).body.generation

test('a snapshot is exported, edited, compared and applied', async () => {
  const { out, code } = await config('export', '--sections', 'guardrails')
  const snapshot = JSON.parse(out)
  expect([code, snapshot.sections]).toEqual([0, { guardrails: {} }])
  const sections = { guardrails: { gr_a: { name: 'a', words: ['x'], action: 'log' } } }
  await writeFile(file, stringify({ ...snapshot, sections }))

  const differs = await config('diff', '-f', file)
  expect([differs.code, differs.out]).toEqual([2, expect.stringMatching(/^\+ guardrails\.gr_a: /)])
  const before = await generation()
  const tried = await config('apply', '-f', file, '--dry-run')
  expect([tried.code, tried.out]).toEqual([0, expect.stringContaining('1 keys would change')])
  expect(await generation()).toBe(before)
  const made = await config('apply', '-f', file, '--json', '--if-generation', String(before))
  expect([made.code, JSON.parse(made.out).applied]).toEqual([0, ['guardrails.gr_a']])

  await writeFile(file, (await config('export')).out)
  expect(await config('diff', '-f', file)).toMatchObject({ code: 0, out: 'Nothing differs.\n' })
  expect(await readFile(file, 'utf8')).toContain('"gr_a"')
  await writeFile(file, '{"version": 1, "sections": {"guardrails": {}}}')
  expect((await config('apply', '-f', file, '--replace')).out).toContain('  guardrails.gr_a\n')
})

test('a URL may end with a slash, and an export that fails prints nothing that could be taken for one', async () => {
  const at = (url: string) =>
    runHere(gateway.dataDir, { SERVICE_ADMIN_KEY: gateway.adminKey }, 'config', 'export', '--url', url)
  const { out } = await at(`${gateway.url}/`)
  expect(JSON.parse(out)).toHaveProperty('sections')
  expect(await at('http://127.0.0.1:1')).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('127.0.0.1:1'),
  })
})

test('what the gateway refuses is said in a line, and ends with 1', async () => {
  await writeFile(file, 'version: 1\nsections: { guardrails: { gr_a: { name: a } } }')
  const refused = await config('apply', '-f', file)
  expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/^guardrails\.gr_a: [^\n]+\n$/)])
  const stale = await config('apply', '-f', file, '--if-generation', '0', '--json')
  expect([stale.code, JSON.parse(stale.out).error]).toEqual([1, expect.stringContaining('generation')])
})

test.each([
  ['no file', undefined, /: the file does not exist\n$/],
  ['broken YAML', 'version: 1\nsections: {', /: Flow map .* line 2/],
  [
    'no version',
    '{"sections": {}}',
    /: expected a snapshot as config export prints it, with "version": 1\n$/,
  ],
  ['no map', 'hello', /: expected a snapshot as config export prints it/],
])('what is wrong with a file is said with its name: %s', async (name, text, said) => {
  const at = path.join(gateway.dataDir, `${name}.yaml`)
  if (text !== undefined) await writeFile(at, text)
  for (const command of ['diff', 'apply']) {
    const { code, out, err } = await config(command, '-f', at)
    expect([code, out, err.startsWith(`${at}: `), err]).toEqual([1, '', true, expect.stringMatching(said)])
  }
})

test('a gateway that is not there, or that ends before it answers, is told as such', async () => {
  const at = async (url: string) =>
    (await runHere(gateway.dataDir, { SERVICE_ADMIN_KEY: 'k' }, 'config', 'export', '--url', url)).err
  expect(await at('nonsense')).toBe('nonsense is no URL of a gateway, such as http://127.0.0.1:4200\n')
  const torn = createServer((socket) => socket.once('data', () => socket.destroy())).listen(0, '127.0.0.1')
  await once(torn, 'listening')
  const url = `http://127.0.0.1:${(torn.address() as AddressInfo).port}`
  expect(await at(url)).toMatch(`the gateway on ${url} ended or broke the connection off before it answered`)
  await new Promise((done) => torn.close(done))
  expect(await at(url)).toBe(`no gateway answers on ${url} (ECONNREFUSED)\n`)
})
