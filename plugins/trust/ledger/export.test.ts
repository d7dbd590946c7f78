import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../../test/harness.ts'

const run = promisify(execFile)

let gateway: TestGateway
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-export-'))
  gateway = await startGateway()
  for (let n = 0; n < 12; n++) {
    const detail = { n: n / 3, text: 'ä €\n\u2028\u2029', 10: 'ten', 9: 'nine' }
    await gateway.api('POST', '/api/trust/ledger', { event_type: 'test.done', action: 'do', detail })
    if (n === 5) await gateway.api('POST', '/api/trust/ledger/checkpoints')
  }
})

afterAll(async () => {
  await gateway.close()
  await rm(folder, { recursive: true, force: true })
})

async function exported(query = ''): Promise<string> {
  const response = await fetch(`${gateway.url}/api/trust/ledger/export${query}`, {
    headers: { authorization: `Bearer ${gateway.adminKey}` },
  })
  expect([response.status, response.headers.get('content-disposition')]).toEqual([
    200,
    expect.stringContaining('ledger.jsonl'),
  ])
  return response.text()
}

/** What the script of the documentation says of an export. */
async function verified(text: string): Promise<string> {
  const [file, keys] = [path.join(folder, 'ledger.jsonl'), path.join(folder, 'keys.json')]
  await writeFile(file, text)
  await writeFile(keys, JSON.stringify((await gateway.api('GET', '/api/signing-keys')).body))
  const { stdout } = await run(process.execPath, ['docs/verify-ledger.js', file, keys]).catch(
    (error) => error,
  )
  return stdout.trim()
}

test('the script of the documentation verifies an export, and a part of one', async () => {
  const text = await exported()
  const entries = text.split('\n').filter((line) => line.startsWith('{"entry"')).length
  expect(await verified(text)).toBe(`valid: ${entries} entries, 1 checkpoints`)
  expect(await verified(await exported('?from_seq=3&to_seq=5'))).toBe('valid: 3 entries, 0 checkpoints')
})

test.each<[string, (lines: string[]) => string[], RegExp]>([
  ['a changed entry', (lines) => lines.map((line) => line.replace('"n":1,', '"n":2,')), /was changed/],
  ['a missing entry', (lines) => lines.toSpliced(4, 1), /stands in the place/],
  ['two swapped', ([a, b, c, ...rest]) => [a!, c!, b!, ...rest], /stands in the place/],
  [
    'the end cut off',
    (lines) => lines.filter((line) => !line.includes('"seq":12') && !line.includes('"seq":13')),
    /the export ends/,
  ],
  ['all entries cut off', ([first]) => [first!], /the export ends/],
  ['an end within a line', (lines) => [...lines.slice(0, 5), lines[5]!.slice(0, 40)], /no JSON/],
  [
    'a field that is there twice, of which other readers take the first',
    (lines) => lines.map((line) => line.replace('"action":"do"', '"action":"other","action":"do"')),
    /was changed/,
  ],
  ['a missing beginning', (lines) => lines.slice(1), /does not begin/],
  ['another beginning', ([first, ...rest]) => [first!, first!, ...rest], /begins twice/],
  [
    'a checkpoint that others signed',
    (lines) => lines.map((line) => line.replace(/"signature":"..../, '"signature":"AAAA')),
    /not signed/,
  ],
])('the script names %s', async (_, change, reason) => {
  const lines = (await exported('?from_seq=1&to_seq=13')).trimEnd().split('\n')
  expect(await verified(`${change(lines).join('\n')}\n`)).toMatch(reason)
})

test('the export holds the very hashes of the chain', async () => {
  const lines = (await exported()).trimEnd().split('\n')
  const { entry } = JSON.parse(lines[1]!)
  expect((await gateway.api('GET', `/api/trust/ledger/${entry.id}`)).body).toEqual(entry)
})
