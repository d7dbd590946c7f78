import { z } from 'zod'
import { defineArea } from '#kernel'
import { watchPlugins } from './folder-watch.ts'
import { addPluginRoutes } from './routes/plugins.ts'
import { addReloadRoutes } from './routes/reload.ts'
import { addStoredRoutes } from './routes/stored.ts'

export default defineArea({
  settings: z.strictObject({}),
  setup(context) {
    addPluginRoutes(context)
    addReloadRoutes(context)
    addStoredRoutes(context)
    watchPlugins(context)
  },
})
