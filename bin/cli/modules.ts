import { discoverPlugins } from '../../gateway/discovery/discovery.ts'
import { stages } from '../../kernel/chain/hooks.ts'
import type { Discovered, ModuleManifest } from '../../kernel/discovery/manifest.ts'
import { configuration } from './configuration.ts'

/** Prints the catalogue of modules, in the stages of the chain. */
export async function modules({ json = false }: { json?: boolean }): Promise<void> {
  const config = configuration()
  if (!config) return
  const found = await discoverPlugins(config)
  const known = found.flatMap((item) =>
    item.manifest?.kind === 'module' ? [{ ...item, manifest: item.manifest }] : [],
  )
  if (json)
    return console.log(JSON.stringify({ modules: inStages(known).map(itemOf), total: known.length }, null, 2))
  const width = Math.max(0, ...known.map(({ id }) => id.length))
  for (const stage of stages) {
    const here = known.filter(({ manifest }) => manifest.stage === stage)
    if (here.length === 0) continue
    console.log(stage)
    for (const { id, manifest } of here) {
      console.log(`  ${id.padEnd(width)}  ${manifest.enabled ? 'on ' : 'off'}  ${manifest.description}`)
    }
  }
  console.log(`${known.length} modules; on and off are the defaults.`)
}

type Module = Discovered & { readonly manifest: ModuleManifest }

const inStages = (found: readonly Module[]): Module[] =>
  stages.flatMap((stage) => found.filter(({ manifest }) => manifest.stage === stage))

const itemOf = ({ id, source, manifest }: Module) => ({
  name: id,
  title: manifest.title,
  description: manifest.description,
  category: manifest.stage,
  enabled: manifest.enabled,
  failure: manifest.failure,
  version: manifest.version,
  source,
})
