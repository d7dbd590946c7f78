import assert from 'node:assert/strict'
import { z } from 'zod'
import type { Manifest } from '../../kernel/discovery/manifest.ts'
import { carriesSettingsOver } from './migrations.ts'
import { moduleChecks } from './module-checks.ts'
import { pluginChecks } from './plugin-checks.ts'
import { undescribed } from './schema.ts'
import type { Subject } from './subject.ts'

/** One thing that a plugin owes. `run` rejects when the plugin does not keep to it, with a message for its author. */
export interface Check {
  readonly name: string
  /** Whether the checks after it make no sense when it fails. */
  readonly first?: true
  run(subject: Subject): Promise<void>
}

/** What every plugin owes. */
const checks: readonly Check[] = [
  {
    name: 'has a sound manifest',
    first: true,
    async run({ plugin }) {
      if (plugin.found.problem) throw new Error(plugin.found.problem)
    },
  },
  {
    name: 'accepts no settings at all, and refuses unknown ones',
    async run({ registry, plugin }) {
      const settings = await registry.schema(plugin)
      if (!settings) return
      const none = settings.safeParse({})
      assert.ok(none.success, `{} must be valid settings: ${none.error && z.prettifyError(none.error)}`)
      const unknown = settings.safeParse({ nobody_knows_this: 1 })
      assert.ok(!unknown.success, 'unknown settings must be refused: use z.strictObject')
    },
  },
  {
    name: 'describes every setting',
    async run({ registry, plugin }) {
      const settings = await registry.schema(plugin)
      const silent = settings ? undescribed(z.toJSONSchema(settings, { io: 'input' })) : []
      assert.deepEqual(silent, [], `without a description: ${silent.join(', ')}`)
    },
  },
  { name: 'carries settings over as its migrations say', run: carriesSettingsOver },
]

/** The checks for plugins of this kind, in the order to run them; without a kind, which is in the manifest, the first. */
export function checksFor(kind: Manifest['kind'] | undefined): readonly Check[] {
  if (!kind) return checks.slice(0, 1)
  return [...checks, ...(kind === 'module' ? moduleChecks : pluginChecks)]
}
