import { afterEach, expect, test } from 'vitest'
import { writeDropins } from '../test/dropins.ts'
import { startGateway, type TestGateway } from '../test/harness.ts'
import { places } from '../test/isolated.ts'
import { writePlugin } from '../test/plugin-folder.ts'

let gateway: TestGateway
let remove = async (): Promise<void> => {}

afterEach(async () => {
  await gateway.close()
  await remove()
})

const code = `import { z } from 'zod'
export default {
  settings: z.strictObject({ again: z.boolean().default(false), most: z.int().default(1) }),
  setup: () => ({}),
}`

test.each(places)('settings that a module %s does not take are refused, with the field', async (place) => {
  const dropins = await writeDropins({})
  remove = dropins.remove
  await writePlugin(dropins.folder, 'far', { manifest: { isolation: place }, files: { 'index.js': code } })
  gateway = await startGateway({ config: { plugin_dirs: [dropins.folder] } })
  const set = (config: object) => gateway.api('PUT', '/api/proxy/modules/far', { config })
  const misspelled = await set({ agian: true })
  expect(misspelled).toMatchObject({ status: 400, body: { error: { param: 'config' } } })
  expect(misspelled.body.error.message).toContain('the nearest known is again')
  expect(await set({ most: 'all' })).toMatchObject({ status: 400, body: { error: { param: 'config.most' } } })
  expect(await set({ most: 2 })).toMatchObject({ status: 200 })
})
