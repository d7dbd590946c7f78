import { mkdtemp, open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway } from './harness.ts'

let dataDir: string

beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'switchyard-damaged-'))
})

afterAll(() => rm(dataDir, { recursive: true }))

const file = async (ending: string): Promise<string> => {
  const names = (await readdir(path.join(dataDir, 'db'))).filter((name) => name.endsWith(ending))
  return path.join(dataDir, 'db', names.at(-1)!)
}

test('a gateway starts on a damaged write-ahead file, says what is lost, and on a damaged table what to do', async () => {
  const first = await startGateway({ dataDir })
  for (let n = 0; n < 20; n++) await first.signUp(`user-${n}`)
  await first.close()
  const log = await file('.log')
  const handle = await open(log, 'r+')
  await handle.write(Buffer.alloc(30, 0x5a), 0, 30, Math.floor((await stat(log)).size / 2))
  await handle.close()

  const second = await startGateway({ dataDir })
  const said = second.logged.map((line) => JSON.parse(line)).filter(({ code }) => code === 'STORE_DAMAGED')
  expect(said[0]).toMatchObject({
    level: 'error',
    part: path.basename(log),
    msg: expect.stringMatching(/cannot be read.*Lost: .*copy/),
  })
  const { total } = (await second.api('GET', '/api/auth/users')).body
  expect(total).toBeGreaterThanOrEqual(18)
  expect(await readdir(path.join(dataDir, 'db', 'lost'))).toEqual([
    expect.stringContaining(path.basename(log)),
  ])
  await second.close()

  await writeFile(await file('.ldb'), 'not a readable table')
  await expect(startGateway({ dataDir })).rejects.toMatchObject({
    code: 'STORE_DAMAGED',
    message: expect.stringContaining('`switchyard doctor --repair`'),
  })
})
