import assert from 'node:assert/strict'
import type { ProviderSpec } from '../../contract/provider.ts'
import type { Check } from './checks.ts'
import { leavesNothing } from './leaks/index.ts'

/** What an area or a provider owes beyond what every plugin does. */
export const pluginChecks: readonly Check[] = [
  {
    name: 'goes and comes again, gives back what it has, and leaves nothing of itself behind',
    async run(subject) {
      const { id, registry } = subject
      const dependants = registry.plugins.filter(
        (other) => other.instance && other.manifest?.requires.includes(id),
      )
      if (dependants.length > 0) {
        await assert.rejects(subject.switchOff(), new RegExp(dependants[0]!.id))
        return
      }
      const routes = (): string[] =>
        registry.generation.routes.map(({ plugin, method, path }) => `${plugin} ${method} ${path}`).sort()
      const before = { routes: routes(), running: subject.plugin.instance !== undefined }
      await leavesNothing(subject.folders, 4, async () => {
        await subject.switchOn()
        await subject.switchOff()
      })
      const left = routes().filter((route) => route.startsWith(`${id} `))
      assert.deepEqual(left, [], `routes that stayed when it was switched off: ${left.join(', ')}`)
      if (!before.running) return
      await subject.switchOn()
      assert.deepEqual(routes(), before.routes)
    },
  },
  {
    name: 'runs when it is switched on',
    async run(subject) {
      const running = subject.plugin.instance !== undefined
      await subject.switchOn()
      const { plugin, registry } = subject
      const state = registry.stateOf(plugin)
      assert.equal(state, 'active', `${state}: ${plugin.problem}`)
      if (!running) await subject.switchOff()
    },
  },
  {
    name: 'reaches its provider by TLS, unless that is at home',
    async run({ plugin: { manifest } }) {
      const spec = manifest?.kind === 'provider' ? (manifest.provider as ProviderSpec | undefined) : undefined
      if (!spec?.base_url) return
      const { protocol, hostname } = new URL(spec.base_url)
      const wanted = ['localhost', '127.0.0.1'].includes(hostname) ? 'http:' : 'https:'
      assert.equal(protocol, wanted, `base_url of ${hostname} must start with ${wanted}`)
    },
  },
]
