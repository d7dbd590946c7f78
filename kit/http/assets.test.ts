import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Served, serveRoutes } from '../../test/served.ts'
import { assets } from './assets.ts'

let folder: string
let served: Served | undefined

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-test-'))
  await mkdir(path.join(folder, 'icons'))
  await writeFile(path.join(folder, 'app.js'), "import './part one.js'")
  await writeFile(path.join(folder, 'part one.js'), '')
  await writeFile(path.join(folder, 'icons', 'plus.svg'), '<svg/>')
  await writeFile(path.join(folder, '.secret'), 'x')
})

afterEach(async () => {
  await served?.close()
  served = undefined
  await rm(folder, { recursive: true })
})

test('files are served under a hash of them all, to be kept for ever, and by their relative paths', async () => {
  const { route, url } = await assets(folder, '/app/assets')
  served = await serveRoutes({ test: [route] })
  expect(url('app.js')).toMatch(/^\/app\/assets\/[0-9a-f]{16}\/app\.js$/)
  const app = await fetch(served.url + url('app.js'))
  expect([app.status, await app.text()]).toEqual([200, "import './part one.js'"])
  expect(Object.fromEntries(app.headers)).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
  })
  expect((await fetch(new URL('./part one.js', served.url + url('app.js')))).status).toBe(200)
  const icon = await fetch(served.url + url('icons/plus.svg'))
  expect(icon.headers.get('content-type')).toBe('image/svg+xml')
  expect(url('part one.js')).toContain('part%20one.js')
})

test('nothing else of the disk is served, and nothing under another hash', async () => {
  const { route, url } = await assets(folder, '/app/assets')
  served = await serveRoutes({ test: [route] })
  const base = url('app.js').replace('app.js', '')
  for (const name of ['.secret', 'icons', 'none.js', '..%2f..%2fetc%2fpasswd', 'icons%2f..%2fapp.js'])
    expect((await fetch(served.url + base + name)).status, name).toBe(404)
  expect((await fetch(`${served.url}/app/assets/0123456789abcdef/app.js`)).status).toBe(404)
  expect(() => url('none.js')).toThrow('none.js')
})

test('a change of any file, and of a name, gives all of them another path', async () => {
  const before = (await assets(folder, '/a')).url('app.js')
  expect((await assets(folder, '/a')).url('app.js')).toBe(before)
  await writeFile(path.join(folder, 'icons', 'plus.svg'), '<svg />')
  const after = (await assets(folder, '/a')).url('app.js')
  expect(after).not.toBe(before)
})
