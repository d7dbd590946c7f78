import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import semver from 'semver'
import { z } from 'zod'
import { storedSetting } from '../../config/setting.ts'
import { kernelServices } from '../../kernel/services.ts'
import type { Engine } from '../../storage/index.ts'
import type { Subject } from './subject.ts'

const settings = z.record(z.string(), z.unknown())

/** What `migrate` makes of the settings that an older version left, as data. */
const migrations = z
  .array(
    z.strictObject({
      from: z.string().refine((version) => semver.valid(version) !== null, 'must be a version'),
      settings,
      becomes: settings,
    }),
  )
  .min(1)

/** Has a gateway find each of these settings in its store, and looks at what is stored once the plugin runs. */
export async function carriesSettingsOver({ id, plugin, registry, gateway }: Subject): Promise<void> {
  const text = await readFile(`${plugin.found.folder}/migrations.json`, 'utf8').catch(() => undefined)
  if (text === undefined) {
    assert.ok(!plugin.definition?.migrate, 'migrations.json must say what migrate makes of older settings')
    return
  }
  const engine = gateway.kernel.container.resolve<Engine>(kernelServices.storage)
  const rows = engine.namespace('kernel').collection('settings', { schema: storedSetting })
  try {
    for (const { from, settings, becomes } of migrations.parse(JSON.parse(text))) {
      assert.notEqual(from, plugin.manifest?.version, `${from} is the version that the plugin has`)
      const updated_at = new Date().toISOString()
      await rows.put(id, { enabled: true, config: settings, version: from, updated_at })
      await registry.follow([id])
      assert.deepEqual((await rows.get(id))?.config, becomes, `settings of ${from}`)
    }
  } finally {
    await rows.delete(id)
    await registry.follow([id])
  }
}
