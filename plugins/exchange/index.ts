import { z } from 'zod'
import { Configuration, defineArea } from '#kernel'
import { ProviderDirectory } from '#provider'
import { Environments } from './environments.ts'
import { Installs } from './installs.ts'
import { Packs } from './packs.ts'
import { addEnvironmentRoutes } from './routes/environments.ts'
import { addInstalledRoutes } from './routes/installed.ts'
import { addInstallRoutes } from './routes/installing.ts'
import { addPackRoutes } from './routes/packs.ts'
import { addSyncRoutes } from './routes/sync.ts'

export default defineArea({
  settings: z.strictObject({}),
  setup(context) {
    const { use } = context
    const packs = new Packs(context)
    const installs = new Installs(context, {
      configuration: () => use(Configuration),
      // The key of such a provider would go to whatever address a pack says.
      isTaken: ({ section, key }) =>
        section === 'providers' && (use(ProviderDirectory).find(key)?.keySource ?? 'none') !== 'none',
    })
    const environments = new Environments(context)
    addPackRoutes(context, packs, installs)
    addInstallRoutes(context, packs, installs)
    addInstalledRoutes(context, packs, installs, environments)
    addEnvironmentRoutes(context, environments)
    addSyncRoutes(context, environments, packs)
  },
})
